"""A run as a reader looks at it: steps, their calls, what lay between. Values alone."""

from typing import Literal, TypeAlias

from msgspec import Struct

from goldseam.kernel.conversation import ToolCall, ToolResult
from goldseam.kernel.errors import ActualConsumption
from goldseam.kernel.events import ModelCallFailed, ModelReplied, ReplyRejected, RunStarted
from goldseam.kernel.outcome import Outcome
from goldseam.kernel.request import TokenUsage

Ending: TypeAlias = ModelReplied | ReplyRejected | ModelCallFailed

NoteKind: TypeAlias = Literal["model", "proof", "note", "gap", "end"]


class CallView(Struct, frozen=True, kw_only=True):
    """A call, what was said of it, and what came of it."""

    call: ToolCall
    policy: tuple[str, ...] = ()
    has_started: bool = False
    result: ToolResult | None = None
    """`None`: there is none on record; where it has started, nobody knows what it did."""
    seconds: float = 0.0
    full_text: str | None = None


class StepView(Struct, frozen=True, kw_only=True):
    """One call of the model, and the tool calls that its reply made."""

    number: int
    at_s: float
    time: str
    model: str
    ending: Ending | None = None
    """`None`: no end of it is on record."""
    seconds: float = 0.0
    money: int | None = None
    """Picodollars; `None` where the price or the tokens are unknown."""
    calls: tuple[CallView, ...] = ()

    @property
    def usage(self) -> TokenUsage:
        """The tokens of the model's call, as far as they were reported."""
        match self.ending:
            case ModelReplied(response=response):
                return response.usage
            case ReplyRejected(usage=usage):
                return usage
            case ModelCallFailed(consumption=ActualConsumption(usage=usage)):
                return usage
            case _:
                return TokenUsage()


class NoteView(Struct, frozen=True, kw_only=True):
    """What happened beside the steps: a headline, and words that belong to it."""

    kind: NoteKind
    at_s: float
    time: str
    title: str
    text: str = ""
    told: bool = False
    """Whether the model was told the text as the user's word."""


class RunView(Struct, frozen=True, kw_only=True):
    """A whole run, in the order in which it happened."""

    run_id: str
    opening: RunStarted | None
    started: str
    seconds: float
    items: tuple[StepView | NoteView, ...]
    outcome: Outcome | None

    @property
    def steps(self) -> tuple[StepView, ...]:
        """The steps alone."""
        return tuple(item for item in self.items if isinstance(item, StepView))

    @property
    def models(self) -> tuple[str, ...]:
        """The models that were asked, each once, the first one first."""
        return tuple(dict.fromkeys(step.model for step in self.steps))
