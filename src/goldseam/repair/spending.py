"""What each model of a run took, and each change from one to another: a fold over the record.

Pure. The same whether heard event by event or read from a record afterwards.
"""

from collections.abc import Iterable
from typing import TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from goldseam.kernel.budget import Candidate, Price
from goldseam.kernel.errors import (
    ActualConsumption,
    Consumption,
    NoConsumption,
    UnknownConsumption,
)
from goldseam.kernel.events import (
    Event,
    ModelCallFailed,
    ModelCallPrepared,
    ModelChosen,
    ModelReplied,
    Noted,
    ReplyRejected,
    Resumed,
    RunFinished,
    Waited,
)
from goldseam.kernel.request import Remark, TokenUsage

_CallEvent: TypeAlias = ModelCallPrepared | ModelReplied | ReplyRejected | ModelCallFailed


class Spent(Struct, frozen=True, kw_only=True):
    """What one candidate took. Tokens are those reported; `unknown_calls` told nothing."""

    name: str
    calls: int = 0
    failures: int = 0
    useless: int = 0
    fresh_tokens: int = 0
    cached_tokens: int = 0
    """Read from the cache; tokens written to it count as fresh."""
    output_tokens: int = 0
    unknown_calls: int = 0
    """Calls of which nobody knows what they took; the run's budget holds their reservations."""
    cost: int | None = 0
    """Picodollars of what was reported; `None` where no price is known."""
    waited_s: float = 0.0

    @property
    def cache_share(self) -> float | None:
        """The share of all input that came from the cache; `None` where there was no input."""
        total = self.fresh_tokens + self.cached_tokens
        return self.cached_tokens / total if total else None


class Switch(Struct, frozen=True, kw_only=True):
    """A change of the model; `remarks` are those noted up to the first reply after it."""

    at_s: float
    before: str
    after: str
    why: str
    remarks: tuple[Remark, ...] = ()


class Spending(Struct, frozen=True, kw_only=True):
    """What a run took so far, the candidates in the order in which they were first asked."""

    candidates: tuple[Spent, ...] = ()
    switches: tuple[Switch, ...] = ()
    current: Candidate | None = None
    is_asked: bool = False
    """Whether a call is under way."""
    awaits_reply: bool = False
    """Whether the last switch still awaits its first reply."""

    def after(self, event: Event) -> "Spending":
        """Return what was spent once `event` has happened."""
        match event:
            case ModelChosen():
                return self._chosen(event)
            case ModelCallPrepared() | ModelReplied() | ReplyRejected() | ModelCallFailed():
                return self._after_call(event)
            case Waited(seconds=seconds):
                spent = self._spent
                return self._with(replace(spent, waited_s=spent.waited_s + seconds))
            case Noted(remark=remark) if self.awaits_reply:
                return self._noted(remark)
            case Resumed() | RunFinished() if self.is_asked:
                return self._told(self._spent, None)
            case _:
                return self

    def _after_call(self, event: _CallEvent) -> "Spending":
        spent = self._spent
        match event:
            case ModelCallPrepared():
                return replace(self._with(replace(spent, calls=spent.calls + 1)), is_asked=True)
            case ModelReplied(response=response):
                return replace(self._told(spent, response.usage), awaits_reply=False)
            case ReplyRejected(usage=usage):
                return self._told(replace(spent, useless=spent.useless + 1), usage)
            case ModelCallFailed(consumption=consumption):
                failed = replace(spent, failures=spent.failures + 1)
                return self._told(failed, _usage_of(consumption))
            case _:
                assert_never(event)

    @property
    def _spent(self) -> Spent:
        name = self.current.name if self.current else ""
        return next((one for one in self.candidates if one.name == name), Spent(name=name))

    @property
    def _price(self) -> Price | None:
        return self.current.price if self.current else None

    def _with(self, spent: Spent) -> "Spending":
        names = [one.name for one in self.candidates]
        if spent.name not in names:
            return replace(self, candidates=(*self.candidates, spent))
        place = names.index(spent.name)
        changed = (*self.candidates[:place], spent, *self.candidates[place + 1 :])
        return replace(self, candidates=changed)

    def _chosen(self, event: ModelChosen) -> "Spending":
        before, after = self.current, event.candidate
        chosen = replace(self, current=after)
        if before is None or before.name == after.name:
            return chosen
        switch = Switch(at_s=event.at_s, before=before.name, after=after.name, why=event.why)
        return replace(chosen, switches=(*self.switches, switch), awaits_reply=True)

    def _noted(self, remark: Remark) -> "Spending":
        last = self.switches[-1]
        noted = replace(last, remarks=(*last.remarks, remark))
        return replace(self, switches=(*self.switches[:-1], noted))

    def _told(self, spent: Spent, usage: TokenUsage | None) -> "Spending":
        """Close the call under way with what was reported of it; `None` and holes are unknown."""
        if usage is None or usage.input is None or usage.output is None:
            spent = replace(spent, unknown_calls=spent.unknown_calls + 1)
        else:
            spent = replace(
                spent,
                fresh_tokens=spent.fresh_tokens + usage.input + (usage.cache_write or 0),
                cached_tokens=spent.cached_tokens + (usage.cache_read or 0),
                output_tokens=spent.output_tokens + usage.output,
                cost=self._cost(spent, usage),
            )
        return replace(self._with(spent), is_asked=False)

    def _cost(self, spent: Spent, usage: TokenUsage) -> int | None:
        if not usage.total:
            return spent.cost
        if spent.cost is None or self._price is None:
            return None
        return spent.cost + self._price.of(usage)


def spending_of(events: Iterable[Event]) -> Spending:
    """Return what the run of this record spent."""
    spending = Spending()
    for event in events:
        spending = spending.after(event)
    return spending


class SpendingTap:
    """Hears a run and knows at any moment what it has spent. Fits the kernel's `Tap`."""

    def __init__(self, spending: Spending | None = None) -> None:
        self.spending = spending or Spending()

    def __call__(self, event: Event) -> None:
        """Hear one event."""
        self.spending = self.spending.after(event)


_NOTHING = TokenUsage(input=0, output=0)


def _usage_of(consumption: Consumption) -> TokenUsage | None:
    match consumption:
        case NoConsumption():
            return _NOTHING
        case ActualConsumption(usage=usage):
            return usage
        case UnknownConsumption():
            return None
        case _:
            assert_never(consumption)
