"""The candidates in their order, and who of them may be asked for a reply. Pure.

Each question put here gives the members that are left and says aloud why the others are not.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec import Struct

from goldseam.kernel.budget import Candidate
from goldseam.kernel.ports import ModelAdapter, Need


class Member(Struct, frozen=True, kw_only=True):
    """One candidate of the chain, and what asks it."""

    candidate: Candidate
    adapter: ModelAdapter
    until_unverified: bool = False
    """Whether it is left once an answer of the run was not proved."""

    @property
    def name(self) -> str:
        """The name by which it is known on record and on the health board."""
        return self.candidate.name


Members: TypeAlias = tuple[Member, ...]
Bar: TypeAlias = Callable[[Member], str]
"""Why a member may not be asked; empty where it may."""


class Sieve:
    """Members left so far, and why each of the others is not among them."""

    def __init__(self, members: Members) -> None:
        self.left = members
        self.barred: dict[str, str] = {}

    def bar(self, why_not: Bar) -> None:
        """Take out those whom `why_not` bars."""
        self._keep([(member, why_not(member)) for member in self.left])

    def bar_but_one(self, why_not: Bar, choose_one: Callable[[Members], Member]) -> None:
        """Take out those whom `why_not` bars; where that is all of them, keep the chosen one."""
        judged = [(member, why_not(member)) for member in self.left]
        if judged and all(why for _, why in judged):
            one = choose_one(self.left)
            judged = [(member, why if member is not one else "") for member, why in judged]
        self._keep(judged)

    def _keep(self, judged: Sequence[tuple[Member, str]]) -> None:
        self.left = tuple(member for member, why in judged if not why)
        self.barred.update((member.name, why) for member, why in judged if why)


def left_after_proofs(members: Members, refuted: int) -> Bar:
    """Bar one member that is asked only `until_unverified` for each answer that was not proved."""
    trying = [member.name for member in members if member.until_unverified]
    left = frozenset(trying[:refuted])
    return lambda member: "its answer was not proved" if member.name in left else ""


def too_small(need: Need, output_tokens: int) -> Bar:
    """Bar those whose window does not hold what is asked and the longest reply."""

    def why_not(member: Member) -> str:
        window = member.candidate.context_tokens
        output = min(member.candidate.max_output_tokens or output_tokens, output_tokens)
        if window is None or need.context_tokens + output <= window:
            return ""
        return f"its window of {window:,} tokens does not hold {need.context_tokens:,} and a reply"

    return why_not


def largest(members: Members) -> Member:
    """Return the member with the largest window that is known."""
    return max(members, key=lambda member: member.candidate.context_tokens or 0)


def not_larger(members: Members, than: Member) -> frozenset[str]:
    """Return the names of `than` and of those whose window is known to be no larger."""
    most = than.candidate.context_tokens
    windows = {member.name: member.candidate.context_tokens for member in members}
    smaller = (
        name
        for name, window in windows.items()
        if most is not None and window is not None and window <= most
    )
    return frozenset({than.name, *smaller})
