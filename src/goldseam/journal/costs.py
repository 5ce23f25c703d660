"""What the steps of a run cost, summed and in words. Pure. Unknown is never shown as nothing."""

from collections.abc import Sequence

from msgspec import Struct

from goldseam.journal.run_view import StepView
from goldseam.kernel.request import TokenUsage

_PICODOLLARS = 10**12


class Total(Struct, frozen=True, kw_only=True):
    """The sum of some steps: of what was reported. `unsaid` steps told nothing of their tokens."""

    steps: int
    input: int
    output: int
    cached: int
    money: int | None
    """Picodollars; `None` where no price is known."""
    unsaid: int


def total_of(steps: Sequence[StepView]) -> Total:
    """Return what `steps` cost in all."""
    usages = [step.usage for step in steps]
    moneys = [step.money for step in steps if step.money is not None]
    return Total(
        steps=len(steps),
        input=sum(fresh_tokens(usage) for usage in usages),
        output=sum(usage.output or 0 for usage in usages),
        cached=sum(usage.cache_read or 0 for usage in usages),
        money=sum(moneys) if moneys else None,
        unsaid=sum(usage.total is None for usage in usages),
    )


def fresh_tokens(usage: TokenUsage) -> int:
    """Return the input that came from no cache; what was written to one counts as fresh."""
    return (usage.input or 0) + (usage.cache_write or 0)


def tokens_in_words(total: Total) -> str:
    """Say how many tokens went in and out."""
    if total.steps and total.unsaid == total.steps:
        return "tokens unknown"
    cached = f", {total.cached:,} cached" if total.cached else ""
    unsaid = f" ({_steps(total.unsaid)} told none)" if total.unsaid else ""
    return f"{total.input:,} in, {total.output:,} out{cached}{unsaid}"


def dollars(money: int) -> str:
    """Say an amount of picodollars, in so many digits that a small one is not nothing."""
    amount = money / _PICODOLLARS
    return f"${amount:,.2f}" if amount == 0 or amount >= 1 else f"${amount:.4f}"


def cost_in_words(total: Total) -> str:
    """Say what was paid; empty where no price is known."""
    if total.money is None:
        return ""
    return f"at least {dollars(total.money)}" if total.unsaid else dollars(total.money)


def _steps(count: int) -> str:
    return f"{count:,} step{'' if count == 1 else 's'}"
