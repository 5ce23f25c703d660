"""Who may be asked for the next reply of one run, and why the others may not.

Reads the health board and what the run remembers; marks nothing and asks nobody.
"""

import math
from collections.abc import Callable

from goldseam.kernel.ports import Need
from goldseam.models.router.chain import (
    Member,
    Members,
    Sieve,
    largest,
    left_after_proofs,
    too_small,
)
from goldseam.models.router.course import Asking, Course, in_words
from goldseam.models.router.health import TOLERANCE_S, HealthBoard, Healthy
from goldseam.models.router.patience import Patience

ANYTHING = Need(context_tokens=0, useless_replies=0, refuted=0)


class Selection:
    """The members of `chain` as one run sees them; it is itself the asker that the board knows."""

    def __init__(
        self,
        chain: Members,
        *,
        health: HealthBoard,
        now: Callable[[], float],
        patience: Patience,
        output_tokens: int,
    ) -> None:
        self.chain = chain
        self.health = health
        self.now = now
        self.patience = patience
        self.course = Course()
        self.asking = Asking()
        self.need = ANYTHING
        self.last: Member | None = None
        """The member that was chosen last."""
        self._output_tokens = output_tokens

    def pick(self) -> tuple[Sieve, Member | None]:
        """Return the first who can be asked now, else the one who can be asked soonest."""
        sieve = Sieve(self.chain)
        sieve.bar(self._out)
        sieve.bar_but_one(self._useless, self._last_or_final)
        sieve.bar_but_one(left_after_proofs(self.chain, self.need.refuted), _final)
        sieve.bar(self._unfit_for_reply)
        sieve.bar(self.out_of_reach)
        # Where none is large enough, the kernel makes room for the largest, or stops.
        sieve.bar_but_one(too_small(self.need, self._output_tokens), largest)
        return sieve, min(sieve.left, key=self._rank, default=None)

    def _rank(self, member: Member) -> tuple[float, bool]:
        """Put in front who can be asked soonest; of those, who has not failed this reply already.

        One failure may take longer than another one's cooling: two who keep silent would be asked
        in turn for ever, and nobody behind them.
        """
        is_spent = self.asking.tries.get(member.name, 0) > self.patience.same_again
        return self.wait_s(member), is_spent

    def _out(self, member: Member) -> str:
        return self.course.out.get(member.name, "")

    def _useless(self, member: Member) -> str:
        return "its replies could not be used" if member.name in self.course.useless else ""

    def _last_or_final(self, members: Members) -> Member:
        return next((member for member in members if member is self.last), members[-1])

    def _unfit_for_reply(self, member: Member) -> str:
        if member.name in self.asking.refused:
            return "it refused"
        limit = self.course.overflowed.get(member.name, math.inf)
        # Should old outputs leave the context, it is asked again.
        return "the conversation is too long for it" if self.need.context_tokens >= limit else ""

    def out_of_reach(self, member: Member) -> str:
        """Bar a member that cannot be asked before the bounds of waiting are met."""
        wait_s = self.wait_s(member)
        if wait_s <= self.wait_left_s():
            return ""
        return self.busy(member) + (", longer than may be waited" if math.isfinite(wait_s) else "")

    def wait_s(self, member: Member) -> float:
        """Return how long this run must wait before it asks `member`; infinity is never."""
        now = self.now()
        own = self.course.not_before.get(member.name, now) - now
        return max(self.health.wait_s(member.name, self, now), own if own > TOLERANCE_S else 0.0)

    def wait_left_s(self) -> float:
        """Return how long this run may still wait, for this reply and in all."""
        call_s = self.patience.call_wait_s - self.asking.waited_s
        return max(min(call_s, self.patience.run_wait_s - self.course.waited_s), 0.0)

    def busy(self, member: Member) -> str:
        """Return what is wrong with a member that cannot be asked now, and for how long."""
        standing = self.health.standing(member.name)
        what = "it failed" if isinstance(standing, Healthy) else standing.why
        wait_s = self.wait_s(member)
        return f"{what}, not asked {in_words(wait_s)}" if wait_s else f"{what}, others come first"

    def why(self, chosen: Member, sieve: Sieve, *, is_first: bool) -> str:
        """Return why those before `chosen` were passed over; empty for a plain beginning."""
        earlier = self.chain[: self.chain.index(chosen)]
        reasons = [f"{one.name}: {sieve.barred.get(one.name) or self.busy(one)}" for one in earlier]
        return "; ".join(reasons) or ("" if is_first else "it can be asked again")

    def escalates(self) -> bool:
        """Return whether another member goes on should the answer of the last not be proved."""
        if self.last is None or not self.last.until_unverified:
            return False
        sieve = Sieve(self.chain)
        sieve.bar(self._out)
        sieve.bar(self._useless)
        sieve.bar(left_after_proofs(self.chain, self.need.refuted + 1))
        sieve.bar(self.out_of_reach)
        return any(member is not self.last for member in sieve.left)


def _final(members: Members) -> Member:
    return members[-1]
