"""A history as the `messages` of a request: one step per turn, from which only more grows.

Pure: sees one turn, what the messages before it end in, and the profile.
"""

from typing import Literal, TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from goldseam.kernel.conversation import Feedback, Image, Message
from goldseam.models.dialect import Profile
from goldseam.models.encoding import Part
from goldseam.models.fitting import Losses, WireIds, fit_name, result_text, told_text
from goldseam.models.openai_chat import forms
from goldseam.models.openai_chat.said import SaidWriter
from goldseam.models.turns import Answered, AssistantTurn, ResultsTurn, SystemTurn, Turn, UserTurn

Ending: TypeAlias = Literal["assistant", "results", "pictures", "told"]
"""Whose words messages end in, or ended were there any: the pictures are those of results, as a
user message; `told` is all else that the system or the user say."""


class _Told(Struct, frozen=True, kw_only=True):
    """What one message will tell: whose words, and the pictures that go with them."""

    at: int
    role: str
    text: str
    images: tuple[Image, ...] = ()


class MessageWriter:
    """Renders the turns of one conversation; keeps the wire ids it gave out."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._ids = WireIds(profile.ids)
        self._said = SaidWriter(profile, self._ids)
        self.hides = self._said.hides
        # Hosts that are strict about roles take the system's words at the beginning alone.
        self._is_strict = profile.merges_same_role or profile.bridges_user_after_tool

    def step(self, ending: Ending, turn: Turn, losses: Losses) -> tuple[Ending, list[Part]]:
        """Return what the messages end in with `turn`, and the messages that `turn` adds."""
        now: Ending = "told"
        match turn:
            case AssistantTurn():
                messages, now = self._said.write(turn, losses), "assistant"
            case ResultsTurn():
                messages = self._results(turn, losses)
                now = "results" if messages[-1]["role"] == "tool" else "pictures"
            case UserTurn():
                messages = self._bridge(turn.start, ending, losses)
                messages += self._merged([self._user(*item, losses) for item in turn.items], losses)
            case SystemTurn():
                messages = self._merged(
                    [self._system(*item, losses) for item in turn.items], losses
                )
            case _:
                assert_never(turn)
        return now, messages

    def _bridge(self, at: int, ending: Ending, losses: Losses) -> list[Part]:
        """Return what must stand between results and a user message (MIS-2, cases 80, 82)."""
        profile = self._profile
        needed = (ending == "results" and profile.bridges_user_after_tool) or (
            ending == "pictures" and profile.merges_same_role
        )
        if not needed:
            return []
        losses.note("bridged_turn", at, f"the assistant says {forms.NOTED} before it")
        return [{"role": "assistant", "content": forms.NOTED}]

    def _system(self, at: int, message: Message, losses: Losses) -> _Told:
        text = losses.text(at, message.text)
        noted = losses.images(at, text, message.images)
        losses.seals(at, message.seals)
        return _Told(at=at, role=self._profile.system_role, text=noted)

    def _user(self, at: int, item: Message | Feedback, losses: Losses) -> _Told:
        match item:
            case Message(role="system") if not self._is_strict:
                return self._system(at, item, losses)
            case Message(role=role, images=images, seals=seals):
                if role == "system":
                    losses.note("system_hoisted", at, "a later system message is told as user text")
                losses.seals(at, seals)
            case Feedback():
                images = ()
            case _:
                assert_never(item)
        text = losses.text(at, told_text(item))
        if self._profile.takes_images:
            return _Told(at=at, role="user", text=text, images=images)
        return _Told(at=at, role="user", text=losses.images(at, text, images))

    def _merged(self, told: list[_Told], losses: Losses) -> list[Part]:
        """Return what one turn tells as messages: one, where the host takes no two of one role."""
        if not self._profile.merges_same_role:
            return [_message([item]) for item in told]
        for item in told[1:]:
            losses.note("texts_joined", item.at, "it shares one message with what is before it")
        return [_message(told)]

    def _results(self, turn: ResultsTurn, losses: Losses) -> list[Part]:
        messages = [self._result(pair, losses) for pair in turn.pairs]
        if not self._profile.takes_images:
            return messages
        pictured = [pair for pair in turn.pairs if pair.result.images]
        if pictured:
            messages += self._bridge(turn.pairs[0].at, "results", losses)
            messages.append({"role": "user", "content": self._pictures(pictured)})
        return messages

    def _pictures(self, pairs: list[Answered]) -> list[Part]:
        parts: list[Part] = []
        for pair in pairs:
            parts.append(forms.pictures_part(self._ids.of(pair.call.call_id)))
            parts += map(forms.image_part, pair.result.images)
        return parts

    def _result(self, pair: Answered, losses: Losses) -> Part:
        result, at = pair.result, pair.at
        if result.kind not in {"done", "failed"}:
            losses.note("result_kind_not_shown", at, f"{result.kind} is told as an error")
        content = losses.text(at, result.content)
        if result.images and not self._profile.takes_images:
            content = losses.images(at, content, result.images)
        if content is not result.content:
            result = replace(result, content=content)
        message: Part = {
            "role": "tool",
            "tool_call_id": self._ids.of(pair.call.call_id),
            "content": result_text(result),
        }
        if self._profile.names_tool_in_result:
            message["name"] = fit_name(pair.call.tool_name)
        return message


def _message(told: list[_Told]) -> Part:
    """Return one message that tells it all: plain text, or parts where there are pictures."""
    text = ""
    parts: list[Part] = []
    for number, item in enumerate(told):
        text += forms.JOINT + item.text if number else item.text
        if item.images:
            parts += [forms.text_part(text)] if text else []
            parts += map(forms.image_part, item.images)
            text = ""
    parts += [forms.text_part(text)] if parts and text else []
    return {"role": told[0].role, "content": parts or text}
