"""Limits and the ledger: reserve before a call, settle after it, hold for good what is unknown.

Rows B2.* of the origin. Pure; money is whole picodollars, so that no sum is ever rounded.
"""

from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from goldseam.kernel.request import TokenUsage

_LARGEST = 1e18
"""Limits end here: far above any use, and shares of them are never beyond a double."""

LimitName: TypeAlias = Literal[
    "wall_s", "tool_s", "model_calls", "action_steps", "total_tokens", "money", "context"
]


class Price(Struct, frozen=True, kw_only=True):
    """Picodollars a token; one dollar a million tokens is 1,000,000 of them."""

    input: int
    output: int
    cache_read: int
    cache_write: int

    def of(self, usage: TokenUsage) -> int:
        """Return what `usage` costs; unknown classes count as nothing."""
        return (
            (usage.input or 0) * self.input
            + (usage.output or 0) * self.output
            + (usage.cache_read or 0) * self.cache_read
            + (usage.cache_write or 0) * self.cache_write
        )


class Candidate(Struct, frozen=True, kw_only=True):
    """A model that can be asked: its name, what it holds and gives at the most, what it costs.

    `None` is unknown: the limits of the run stand in, and nothing is known of money.
    """

    name: str
    context_tokens: int | None = None
    max_output_tokens: int | None = None
    price: Price | None = None


class Limits(Struct, frozen=True, kw_only=True):
    """What a run may use. All above zero; `None` for money means that no price is known."""

    model_calls: int = 100
    action_steps: int = 300
    total_tokens: int = 2_000_000
    wall_s: float = 3600.0
    tool_s: float = 2400.0
    money: int | None = None
    max_output_tokens: int = 8_192
    context_tokens: int = 200_000
    """Holds where the model's own window is unknown."""
    invalid_retries: int = 3
    verifications: int = 5

    def __post_init__(self) -> None:
        """Refuse what is not a finite number above zero; retries may be zero (B2.1)."""
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is None:
                continue
            kinds = int | float if name.endswith("_s") else int
            is_number = isinstance(value, kinds) and not isinstance(value, bool)
            least = 0 if name.endswith("_retries") else 1e-9
            if not is_number or not least <= value <= _LARGEST:
                raise ValueError(f"the limit {name} must be a number above zero, not {value!r}")


class Reservation(Struct, frozen=True, kw_only=True):
    """What one call may cost at the most."""

    tokens: int
    money: int = 0


class Ledger(Struct, frozen=True, kw_only=True):
    """What has been used, what is reserved by the call under way, what is held as unknown."""

    model_calls: int = 0
    action_steps: int = 0
    usage: TokenUsage = TokenUsage(input=0, output=0, cache_read=0, cache_write=0, reasoning=0)
    spent_tokens: int = 0
    spent_money: int = 0
    held_tokens: int = 0
    held_money: int = 0
    tool_s: float = 0.0
    reservation: Reservation | None = None

    @property
    def tokens(self) -> int:
        """Tokens that count against the limit: spent, held and reserved."""
        return self.spent_tokens + self.held_tokens + self.reserved.tokens

    @property
    def money(self) -> int:
        """Picodollars that count against the limit: spent, held and reserved."""
        return self.spent_money + self.held_money + self.reserved.money

    @property
    def reserved(self) -> Reservation:
        """The open reservation, or an empty one."""
        return self.reservation or Reservation(tokens=0)

    def reserve(self, reservation: Reservation) -> "Ledger":
        """Open the one reservation and count the call (B2.3)."""
        if self.reservation is not None:
            raise ValueError("a reservation is open already")
        return replace(self, model_calls=self.model_calls + 1, reservation=reservation)

    def settle(self, usage: TokenUsage, price: Price | None) -> "Ledger":
        """Close the reservation with what was reported; what was not reported stays held (B2.4)."""
        total = usage.total
        if total is None:
            return self.hold()
        return replace(
            self,
            reservation=None,
            usage=_add(self.usage, usage),
            spent_tokens=self.spent_tokens + total,
            spent_money=self.spent_money + (price.of(usage) if price else 0),
        )

    def release(self) -> "Ledger":
        """Close the reservation of a call that cost nothing."""
        return replace(self, reservation=None)

    def hold(self) -> "Ledger":
        """Close the reservation and keep it counted for good: nobody knows what the call cost."""
        return replace(
            self,
            reservation=None,
            held_tokens=self.held_tokens + self.reserved.tokens,
            held_money=self.held_money + self.reserved.money,
        )


def reservation_for(
    input_tokens: int, *, max_output_tokens: int, price: Price | None
) -> Reservation:
    """Return the worst case of a call: estimated input and the whole output allowed."""
    money = 0
    if price is not None:
        dearest_input = max(price.input, price.cache_write)
        money = input_tokens * dearest_input + max_output_tokens * price.output
    return Reservation(tokens=input_tokens + max_output_tokens, money=money)


def estimate_tokens(utf8_bytes: int) -> int:
    """Estimate tokens from bytes of text: a third; high for English, near for code and Chinese."""
    return utf8_bytes // 3 + 64


def reached(ledger: Ledger, limits: Limits, *, elapsed_s: float) -> LimitName | None:
    """Return the first limit that is used up, in the stop order of B2.5."""
    uses = used_shares(ledger, limits, elapsed_s=elapsed_s)
    return next((name for name, share in uses.items() if share >= 1), None)


def overshot(ledger: Ledger, limits: Limits, *, elapsed_s: float) -> LimitName | None:
    """Return the first limit that is passed, not just met: nothing more may be started."""
    uses = used_shares(ledger, limits, elapsed_s=elapsed_s)
    return next((name for name, share in uses.items() if share > 1), None)


def does_not_fit(ledger: Ledger, limits: Limits, *, reservation: Reservation) -> LimitName | None:
    """Return the limit that `reservation` would pass."""
    if ledger.tokens + reservation.tokens > limits.total_tokens:
        return "total_tokens"
    if limits.money is not None and ledger.money + reservation.money > limits.money:
        return "money"
    return None


def used_shares(ledger: Ledger, limits: Limits, *, elapsed_s: float) -> dict[LimitName, float]:
    """Return how much of each limit is used, 1.0 being all of it, in stop order."""
    shares: dict[LimitName, float] = {
        "wall_s": elapsed_s / limits.wall_s,
        "tool_s": ledger.tool_s / limits.tool_s,
        "model_calls": ledger.model_calls / limits.model_calls,
        "action_steps": ledger.action_steps / limits.action_steps,
        "total_tokens": ledger.tokens / limits.total_tokens,
    }
    if limits.money is not None:
        shares["money"] = ledger.money / limits.money
    return shares


def _add(one: TokenUsage, other: TokenUsage) -> TokenUsage:
    return TokenUsage(
        input=_plus(one.input, other.input),
        output=_plus(one.output, other.output),
        cache_read=_plus(one.cache_read, other.cache_read),
        cache_write=_plus(one.cache_write, other.cache_write),
        reasoning=_plus(one.reasoning, other.reasoning),
    )


def _plus(one: int | None, other: int | None) -> int | None:
    """Unknown and something is unknown: a sum must not look surer than its parts."""
    return None if one is None or other is None else one + other
