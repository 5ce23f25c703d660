"""The settings of one request: thinking, effort, temperature, each fitted or named as lost."""

from typing import TypeAlias

from goldseam.kernel.request import Remark
from goldseam.models.anthropic.forms import CLASSIC_VERSION, thinks
from goldseam.models.dialect import Body, Profile
from goldseam.models.fitting import loss

_Settings: TypeAlias = tuple[Body, tuple[Remark, ...]]

_LEAST_BUDGET = 1024


def thinks_by_budget(profile: Profile) -> bool:
    """Whether the model thinks by a budget, as those do that take no effort (ANT-21)."""
    return thinks(profile) and profile.effort is None


def settings_of(profile: Profile, *, max_tokens: int, may_think: bool) -> _Settings:
    """Return the fields that say how the model should work.

    `may_think` says whether the history allows thinking that is steered by a budget (ANT-23).
    """
    thinking, lost_thinking = _thinking(profile, max_tokens=max_tokens, may_think=may_think)
    is_on = thinking.get("type") in {"enabled", "adaptive"}
    effort, lost_effort = _effort(profile)
    temperature, lost_temperature = _temperature(profile, is_thinking=is_on)
    body: Body = {"thinking": thinking} if thinking else {}
    return body | effort | temperature, (*lost_thinking, *lost_effort, *lost_temperature)


def _thinking(profile: Profile, *, max_tokens: int, may_think: bool) -> _Settings:
    if not profile.thinking:
        return {}, ()
    if profile.effort == "none":
        return {"type": "disabled"}, ()
    if not thinks_by_budget(profile):
        return {"type": "adaptive"}, ()
    budget = max(_LEAST_BUDGET, max_tokens // 2)
    if not may_think:
        why = "thinking is off, since this tool loop did not begin with a thought of this model"
    elif budget >= max_tokens:
        why = f"thinking is off, since {max_tokens} tokens leave no room for it"
    else:
        return {"type": "enabled", "budget_tokens": budget}, ()
    return {"type": "disabled"}, (_dropped(why),)


def _effort(profile: Profile) -> _Settings:
    match profile.effort:
        case None | "none":
            return {}, ()
        case "minimal":
            return _effort_field("low"), (_dropped("the effort minimal is sent as low"),)
        case effort:
            return _effort_field(effort), ()


def _effort_field(effort: str) -> Body:
    config: Body = {"effort": effort}
    return {"output_config": config}


def _temperature(profile: Profile, *, is_thinking: bool) -> _Settings:
    if profile.temperature is None:
        return {}, ()
    if profile.version != CLASSIC_VERSION:
        return {}, (_dropped("the temperature is not sent: this version has none"),)
    if is_thinking:
        return {}, (_dropped("the temperature is not sent: a thinking model has its own"),)
    if profile.temperature > 1:
        return {"temperature": 1.0}, (_dropped("the temperature is sent as 1, the highest"),)
    return {"temperature": profile.temperature}, ()


def _dropped(what: str) -> Remark:
    return loss("setting_dropped", None, what)
