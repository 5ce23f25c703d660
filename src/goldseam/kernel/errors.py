"""The errors of the whole project, and whose fault each is.

GoldseamError
├── UsageError             the person's: what was asked cannot be done as asked (exit 2)
├── RefusedError           the rules': policy or sandbox forbids the run (exit 8)
├── JournalError           the machine's: the record cannot be written or read (the run stops)
├── ModelProviderError     the provider's: no usable reply; says what it may have cost
└── InvalidModelOutputError  the model's: a reply came and breaks its contract; carries its usage

Everything else that is raised is a defect of ours and ends the run with exit 1.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

from goldseam.kernel.request import TokenUsage

FailureKind: TypeAlias = Literal[
    "auth",
    "quota",
    "rate_limited",
    "overloaded",
    "timeout",
    "transport",
    "server",
    "context_overflow",
    "refused",
    "structural",
    "cancelled",
]


class NoConsumption(Struct, frozen=True, kw_only=True, tag="none"):
    """The call cost nothing."""


class ActualConsumption(Struct, frozen=True, kw_only=True, tag="actual"):
    """The call cost what was reported."""

    usage: TokenUsage


class UnknownConsumption(Struct, frozen=True, kw_only=True, tag="unknown"):
    """Nobody knows what the call cost: its reservation is held for good."""


Consumption: TypeAlias = NoConsumption | ActualConsumption | UnknownConsumption


class GoldseamError(Exception):
    """The root of all errors that somebody outside this code can mend."""


class UsageError(GoldseamError):
    """What was asked cannot be done as asked; the message is one line and says what to do."""


class RefusedError(GoldseamError):
    """Policy or sandbox forbids the run; the message says which rule and how to lift it."""


class JournalError(GoldseamError):
    """The record cannot be written or read; nothing may be done that it does not know of."""


class ModelProviderError(GoldseamError):
    """The provider gave no usable reply. The text is fit for the person and holds no secret."""

    def __init__(
        self,
        text: str,
        *,
        kind: FailureKind,
        retryable: bool = False,
        consumption: Consumption | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(text)
        self.text = text
        self.kind: FailureKind = kind
        self.retryable = retryable
        self.consumption: Consumption = consumption or UnknownConsumption()
        self.retry_after_s = retry_after_s


class InvalidModelOutputError(GoldseamError):
    """A reply came and breaks its contract: what was wrong, the start of it, and what it cost."""

    def __init__(self, why: str, *, excerpt: str, usage: TokenUsage) -> None:
        super().__init__(why)
        self.why = why
        self.excerpt = excerpt
        self.usage = usage
