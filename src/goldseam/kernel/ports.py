"""What the kernel asks of the world. Each port is owned here and fitted elsewhere.

Every waiting method may be cancelled at any await and must then let go of what it holds.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from goldseam.kernel.budget import Candidate
from goldseam.kernel.conversation import ToolCall, ToolResult
from goldseam.kernel.events import Event, MustAsk, Verdict
from goldseam.kernel.outcome import Proof
from goldseam.kernel.request import ModelRequest, ModelResponse, ToolSpec


class Delta(Struct, frozen=True, kw_only=True):
    """A piece of a reply under way, for the eye alone: it may still be discarded."""

    kind: str
    text: str


Listener = Callable[[Delta], None]
Tap = Callable[[Event], None]


class Need(Struct, frozen=True, kw_only=True):
    """What the next reply is wanted for: all that a choice between models may turn on."""

    context_tokens: int
    """Estimated tokens of what will be asked."""
    useless_replies: int
    """Replies in a row, of the model asked last, that could not be used."""
    refuted: int
    """Proofs of an answer that have failed so far."""


class Choice(Struct, frozen=True, kw_only=True):
    """The model that will be asked next, and why it, where that is not plain."""

    candidate: Candidate
    why: str = ""


class ModelAdapter(Protocol):
    """A model, whatever speaks for it.

    A failure that says `retryable` is asked again after its `retry_after_s`, at once where it has
    none, as long as the run's limits let it: patience and its bounds are the adapter's.
    """

    async def complete(self, request: ModelRequest, listener: Listener) -> ModelResponse:
        """Return one whole reply; pieces go to `listener` as they come.

        Raises:
            ModelProviderError: no reply; says what it may have cost and whether to try again.
            InvalidModelOutputError: a reply came that breaks the contract; carries its usage.
        """
        ...


Choose = Callable[[Need], Choice]
"""Which model would be asked now; quick, and looked at before each call."""


class Executed(Struct, frozen=True, kw_only=True):
    """What running a tool gave: the observation, and the whole text where that is longer."""

    result: ToolResult
    full_text: str | None = None


class Toolbox(Protocol):
    """The tools of a run. Closed once the run starts."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools on offer, in an order that never changes."""
        ...

    def judge(self, call: ToolCall) -> Verdict:
        """Return whether `call` may run. Pure, quick, and never raises for what a model wrote."""
        ...

    async def execute(self, call: ToolCall) -> Executed:
        """Run a call that `judge` let pass. Never raises for what a model can mend."""
        ...


class Approver(Protocol):
    """The person, or the rule that stands in where nobody is there."""

    async def ask(self, call: ToolCall, question: MustAsk) -> tuple[bool, str]:
        """Return whether this one call is granted, and why."""
        ...


class Verifier(Protocol):
    """The proof of an answer."""

    async def verify(self, answer: str) -> tuple[Proof, bool]:
        """Return the proof, and whether the model should be shown it and go on."""
        ...


class Journal(Protocol):
    """The record."""

    async def append(self, event: Event, *, durable: bool) -> None:
        """Write `event` at the end; where `durable`, return only once it would outlive the machine.

        Raises:
            JournalError: it could not be written; the run must not act on.
        """
        ...


class Clock(Protocol):
    """The run's own clock."""

    def elapsed_s(self) -> float:
        """Return the seconds since the run's start, counting those before a resume; never falls."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait so long."""
        ...


class CutShort(Struct, frozen=True, kw_only=True):
    """An act was cancelled before its end: because of a wish to stop, or because time ran out."""

    by: Literal["stop", "time"]
    why: str


Act = Callable[[], Awaitable[None]]


class Tasks(Protocol):
    """How acts run side by side and are cut short; the only way the kernel knows of cancelling.

    An act that is cancelled has ended, and has let go of what it held, before the method returns.
    """

    @property
    def stop_reason(self) -> str | None:
        """Why the run should stop, once somebody wishes it."""
        ...

    async def guard(self, act: Act, *, limit_s: float) -> CutShort | None:
        """Run `act`, cancelled on a wish to stop or after `limit_s`; what it raises is raised.

        Does not begin it where a wish stands already, or no time is left.
        """
        ...

    async def together(self, acts: Sequence[Act]) -> None:
        """Run all `acts` side by side to their ends; then raise the first error there was."""
        ...

    async def shielded(self, act: Act) -> None:
        """Run a short `act` that no cancelling reaches."""
        ...


class Ports(Struct, frozen=True, kw_only=True):
    """All that a run meets of the world."""

    model: ModelAdapter
    choose: Choose
    toolbox: Toolbox
    approver: Approver
    verifier: Verifier
    journal: Journal
    clock: Clock
    tasks: Tasks
    listener: Listener
    taps: tuple[Tap, ...] = ()
