"""A chain of models that the kernel meets as one: who is asked, whether again, and how long after.

The one owner of retries. It never waits itself: each attempt is one call of the kernel's, and the
error that it raises says how long to wait before the next one.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, assert_never, runtime_checkable

from msgspec import Struct

from goldseam.kernel.budget import Limits
from goldseam.kernel.errors import (
    ActualConsumption,
    Consumption,
    FailureKind,
    InvalidModelOutputError,
    ModelProviderError,
    NoConsumption,
)
from goldseam.kernel.ports import Choice, Choose, Listener, ModelAdapter, Need
from goldseam.kernel.request import ModelRequest, ModelResponse
from goldseam.models.router.chain import Member, Members, not_larger
from goldseam.models.router.course import Asking, farewell, seconds, with_advice
from goldseam.models.router.health import Broken, Cooling, HealthBoard, Healthy
from goldseam.models.router.patience import Patience, named_wait_s
from goldseam.models.router.selection import ANYTHING, Selection

_MOST_DOUBLINGS = 4
"""Who waits for another run's trial looks again often enough not to miss its end."""

_Then: TypeAlias = Literal["same", "next", "end"]
"""After a failure: the same model again, whoever comes next, or nobody."""


@runtime_checkable
class Refits(Protocol):
    """An adapter that can write a request otherwise after the host found fault with its form."""

    def refit(self, error: ModelProviderError) -> bool:
        """Prepare to write the same request otherwise; return whether there is another way."""
        ...


class _Failure(Struct, frozen=True):
    text: str
    kind: FailureKind
    consumption: Consumption


class Router:
    """Asks the members of `chain` in their order, for one run. Fits `ModelAdapter`.

    `choose` fits the kernel's `Choose`. `health` is shared by all runs of the process; `now` is a
    monotonic clock in seconds, `dice` gives numbers from 0 to 1, and `limits` are those of the run.
    """

    def __init__(
        self,
        chain: Members,
        *,
        health: HealthBoard,
        now: Callable[[], float],
        dice: Callable[[], float],
        patience: Patience | None = None,
        limits: Limits | None = None,
    ) -> None:
        names = {member.name for member in chain}
        if not chain or len(names) < len(chain):
            raise ValueError("a chain has members, and no two of the same name")
        self._patience = patience or Patience()
        self._dice = dice
        self._run = Selection(
            chain,
            health=health,
            now=now,
            patience=self._patience,
            output_tokens=(limits or Limits()).max_output_tokens,
        )
        self._health = health
        self._now = now
        self._most_attempts = self._patience.attempts * len(chain)
        self._is_led = False
        self._is_usable = True
        self._asked_at = 0.0
        self._kind: FailureKind = "server"

    @property
    def escalates(self) -> bool:
        """Whether another member goes on should the answer of the last one not be proved."""
        return self._run.escalates()

    def choose(self, need: Need) -> Choice:
        """Return whom `complete` will ask, and why it where another one was asked before."""
        self._is_led = True
        return self._choose(need)

    def _choose(self, need: Need) -> Choice:
        self._run.need = need
        before = self._run.last
        if before is not None and need.useless_replies >= self._patience.useless_per_candidate:
            self._run.course.useless.add(before.name)
        sieve, member = self._run.pick()
        self._is_usable = member is not None
        self._run.last = chosen = member or before or self._run.chain[0]
        self._health.let_go(self._run)
        if self._run.wait_s(chosen) == 0:
            self._health.announce(chosen.name, self._run, self._now())
        why = "" if chosen is before else self._run.why(chosen, sieve, is_first=before is None)
        return Choice(candidate=chosen.candidate, why=why)

    async def complete(self, request: ModelRequest, listener: Listener) -> ModelResponse:
        """Ask the member that `choose` named last, once; without any `choose`, the one it would.

        Raises:
            ModelProviderError: no reply; says what happens next, whether to ask again, and when.
            InvalidModelOutputError: a reply came that breaks the contract.
        """
        if not self._is_led:
            self._choose(ANYTHING)
        member = self._run.last or self._run.chain[0]
        if not self._is_usable or self._run.wait_s(member) > 0:
            raise self._unasked(member)
        self._run.asking.attempts += 1
        self._asked_at = self._now()
        self._health.begin(member.name, self._run)
        try:
            reply = await member.adapter.complete(request, listener)
            if reply.stop == "filter":
                raise _withheld(reply)
        except ModelProviderError as error:
            raise self._failed(member, error) from error
        except InvalidModelOutputError:
            self._answered(member)
            raise
        else:
            self._answered(member)
            return reply
        finally:
            # Last: an answer is the trial's own only while the trial is kept.
            self._health.let_go(self._run)

    # What a failure means -------------------------------------------------------------------------

    def _answered(self, member: Member) -> None:
        self._health.answered(member.name, self._run, self._now())
        self._run.course.words.pop(member.name, None)
        self._run.asking = Asking()

    def _failed(self, member: Member, error: ModelProviderError) -> ModelProviderError:
        text = with_advice(error.text, error.kind)
        self._kind = error.kind
        self._run.course.words[member.name] = text
        failure = _Failure(text, error.kind, error.consumption)
        match self._mark(member, error):
            case "same":
                return self._onward(member, failure, stays=True)
            case "next":
                return self._onward(member, failure)
            case "end":
                return self._end(failure, "the request is at fault, so no other model is asked")
            case then:
                assert_never(then)

    def _unasked(self, member: Member) -> ModelProviderError:
        """Say why a call of the kernel's reached nobody: it was announced, and then fell ill."""
        self._run.asking.unasked += 1
        standing = self._health.standing(member.name)
        kind = self._kind if isinstance(standing, Healthy) else standing.kind
        return self._onward(member, _Failure(self._run.busy(member), kind, NoConsumption()))

    def _onward(
        self, member: Member, failure: _Failure, *, stays: bool = False
    ) -> ModelProviderError:
        if self._run.asking.attempts >= self._most_attempts:
            return self._end(failure, f"gave up after {self._run.asking.attempts} attempts")
        following: Member | None = member
        if not stays or self._run.out_of_reach(member):
            _, following = self._run.pick()
        if following is None:
            return self._end(failure, "no model is left that can be asked")
        wait_s = self._spend_wait_s(self._run.wait_s(following))
        asked = "asking again" if following is member else f"asking {following.name}"
        goes_on = f"{asked} in {seconds(wait_s)}"
        if wait_s == 0:
            goes_on = asked if following is member else f"going on with {following.name}"
        return ModelProviderError(
            f"{member.name}: {failure.text}; {goes_on}",
            kind=failure.kind,
            retryable=True,
            consumption=failure.consumption,
            retry_after_s=wait_s,
        )

    def _spend_wait_s(self, wait_s: float) -> float:
        """Return the wait, longer where nobody was asked time and again, and count it."""
        if self._run.asking.unasked and wait_s > 0:
            longer_s = self._backoff_s(min(self._run.asking.unasked, _MOST_DOUBLINGS))
            wait_s = min(max(wait_s, longer_s), self._run.wait_left_s())
        elif self._run.asking.unasked:
            self._run.asking.attempts += 1
        self._run.asking.waited_s += wait_s
        self._run.course.waited_s += wait_s
        return wait_s

    def _end(self, failure: _Failure, why: str) -> ModelProviderError:
        sieve, _ = self._run.pick()
        self._run.asking = Asking()
        return ModelProviderError(
            farewell(self._run.chain, self._run.course.words, sieve.barred, why=why),
            kind=failure.kind,
            consumption=failure.consumption,
            retryable=False,
        )

    def _mark(self, member: Member, error: ModelProviderError) -> _Then:
        """Note what the failure says of the member, and return who is to be asked after it."""
        match error.kind:
            case "auth" | "quota":
                self._break_off(member, error)
            case "refused":
                self._run.asking.refused.add(member.name)
            case "context_overflow":
                smaller = not_larger(self._run.chain, member)
                self._run.course.overflowed.update(
                    dict.fromkeys(smaller, self._run.need.context_tokens)
                )
            case "structural":
                return "same" if self._refits(member, error) else "end"
            case "cancelled":
                return "same"
            case "rate_limited" | "overloaded" | "timeout" | "transport" | "server":
                return self._mark_passing(member, error)
            case _:
                assert_never(error.kind)
        return "next"

    def _break_off(self, member: Member, error: ModelProviderError) -> None:
        until = None
        if error.kind == "quota":
            named_s = named_wait_s(error.retry_after_s)
            until = self._now() + (named_s or self._patience.probe_after_s)
        why = "its key was refused" if error.kind == "auth" else "its quota is used up"
        self._health.break_off(member.name, Broken(kind=error.kind, why=why, until=until))

    def _refits(self, member: Member, error: ModelProviderError) -> bool:
        is_first = member.name not in self._run.asking.refitted
        self._run.asking.refitted.add(member.name)
        return is_first and isinstance(member.adapter, Refits) and member.adapter.refit(error)

    def _mark_passing(self, member: Member, error: ModelProviderError) -> _Then:
        name, asking, course = member.name, self._run.asking, self._run.course
        if not error.retryable:
            course.out[name] = "asking again is no use"
            return "next"
        named_s = named_wait_s(error.retry_after_s)
        is_busy = error.kind in {"rate_limited", "overloaded"}
        tries = asking.tries[name] = asking.tries.get(name, 0) + (not is_busy)
        is_known = not isinstance(self._health.standing(name), Healthy)
        if is_busy or is_known or tries > self._patience.same_again:
            self._cool(name, error.kind, named_s)
            if not is_busy:
                return "next"
        else:
            course.not_before[name] = self._now() + max(named_s, self._backoff_s(tries))
        waits_s = asking.waited_s + self._run.wait_s(member)
        return "same" if waits_s <= self._patience.switch_after_s else "next"

    def _cool(self, name: str, kind: FailureKind, named_s: float) -> None:
        strikes = self._health.strikes(name, self._run, self._asked_at)
        now = self._now()
        until = now + max(named_s, self._backoff_s(strikes))
        cooling = Cooling(kind=kind, since=now, until=until, strikes=strikes, is_named=named_s > 0)
        self._health.cool(name, cooling)
        self._run.course.not_before[name] = until

    def _backoff_s(self, number: int) -> float:
        return self._patience.backoff_s(number, self._dice())


def _withheld(reply: ModelResponse) -> ModelProviderError:
    return ModelProviderError(
        "its filter withheld the reply",
        kind="refused",
        consumption=ActualConsumption(usage=reply.usage),
    )


if TYPE_CHECKING:

    def _fits(router: Router) -> tuple[ModelAdapter, Choose]:
        return router, router.choose
