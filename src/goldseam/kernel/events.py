"""Everything that can happen in a run: a closed, versioned union; the record is a list of it.

An intent (`…Prepared`, `…Started`, `…Requested`) is recorded before its act, and durably; the
outcome after it. An intent without an outcome means that nobody knows (B4.7). `at_s` counts the
seconds of the run's own clock since its start, and is all that the fold knows of time.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

from goldseam.kernel.budget import Candidate, LimitName, Limits, Reservation
from goldseam.kernel.conversation import Message, ToolResult
from goldseam.kernel.errors import Consumption, FailureKind
from goldseam.kernel.outcome import Outcome, Proof
from goldseam.kernel.request import ModelResponse, Remark, TokenUsage, ToolSpec

SCHEMA_VERSION = 1


class Setting(Struct, frozen=True, kw_only=True):
    """One fact about where a run takes place (sandbox level, repository, model), for the reader."""

    name: str
    value: str


class RunStarted(Struct, frozen=True, kw_only=True, tag="run_started"):
    """All that a run begins from: enough to rebuild each request byte for byte."""

    at_s: float
    run_id: str
    history: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    limits: Limits
    verifies: bool = False
    settings: tuple[Setting, ...] = ()

    def __post_init__(self) -> None:
        """Refuse an opening no run can go on from (B4.1, B4.2)."""
        roles = [message.role for message in self.history]
        if "assistant" in roles or "user" not in roles:
            raise ValueError("a run opens with system and user messages, at least one of a user")
        names = [spec.name for spec in self.tools]
        if len(set(names)) < len(names):
            raise ValueError(f"two tools share a name: {sorted(names)}")


class ModelChosen(Struct, frozen=True, kw_only=True, tag="model_chosen"):
    """From here on another model is asked, with all that was said so far; `why` is for people."""

    at_s: float
    candidate: Candidate
    why: str = ""


class ModelCallPrepared(Struct, frozen=True, kw_only=True, tag="model_call_prepared"):
    """Intent: the model is about to be asked, at the most for `reservation`."""

    at_s: float
    call: int
    reservation: Reservation
    max_output_tokens: int


class ModelReplied(Struct, frozen=True, kw_only=True, tag="model_replied"):
    """A usable reply came; its call ids are ours from here on."""

    at_s: float
    call: int
    response: ModelResponse


class ReplyRejected(Struct, frozen=True, kw_only=True, tag="reply_rejected"):
    """A reply came that breaks its contract; `feedback` is what the model is told."""

    at_s: float
    call: int
    why: str
    excerpt: str
    feedback: str
    usage: TokenUsage


class ModelCallFailed(Struct, frozen=True, kw_only=True, tag="model_call_failed"):
    """No reply came."""

    at_s: float
    call: int
    kind: FailureKind
    text: str
    retryable: bool
    consumption: Consumption
    wait_s: float = 0.0
    """How long to wait before the next try, where there is one."""


class Waited(Struct, frozen=True, kw_only=True, tag="waited"):
    """The wait before another try is over."""

    at_s: float
    seconds: float


class Allowed(Struct, frozen=True, kw_only=True, tag="allow"):
    """The call may run."""

    why: str


class MustAsk(Struct, frozen=True, kw_only=True, tag="ask"):
    """A person must agree first. `shown` is exactly what the person is asked about."""

    why: str
    shown: str


class Rejected(Struct, frozen=True, kw_only=True, tag="reject"):
    """The call never runs: denied by policy, or not one that can run; `result` tells the model."""

    why: str
    result: ToolResult


Verdict: TypeAlias = Allowed | MustAsk | Rejected


class CallJudged(Struct, frozen=True, kw_only=True, tag="call_judged"):
    """Policy spoke, at first or again after an approval."""

    at_s: float
    call_id: str
    phase: Literal["initial", "approval"]
    verdict: Verdict


class ApprovalRequested(Struct, frozen=True, kw_only=True, tag="approval_requested"):
    """Intent: a person is about to be asked."""

    at_s: float
    call_id: str
    why: str
    shown: str


class ApprovalResolved(Struct, frozen=True, kw_only=True, tag="approval_resolved"):
    """The person answered, for this one call."""

    at_s: float
    call_id: str
    granted: bool
    why: str


class ToolStarted(Struct, frozen=True, kw_only=True, tag="tool_started"):
    """Intent: the tool is about to run."""

    at_s: float
    call_id: str


class ToolFinished(Struct, frozen=True, kw_only=True, tag="tool_finished"):
    """The tool's observation; `full_text` keeps what the observation leaves out."""

    at_s: float
    result: ToolResult
    seconds: float
    full_text: str | None = None


class ContextCompacted(Struct, frozen=True, kw_only=True, tag="context_compacted"):
    """Old tool outputs left the model's context; the record keeps them."""

    at_s: float
    call_ids: tuple[str, ...]
    weight_before: int
    weight_after: int


class VerificationStarted(Struct, frozen=True, kw_only=True, tag="verification_started"):
    """Intent: the answer is about to be proved."""

    at_s: float
    answer: str


class VerificationFinished(Struct, frozen=True, kw_only=True, tag="verification_finished"):
    """The proof's word; where `go_on`, its text goes to the model and the run goes on."""

    at_s: float
    proof: Proof
    go_on: bool
    seconds: float


class BudgetWarning(Struct, frozen=True, kw_only=True, tag="budget_warning"):
    """Four fifths of a limit are used."""

    at_s: float
    limit: LimitName
    share: float


class Noted(Struct, frozen=True, kw_only=True, tag="noted"):
    """Something the record must show and the run does not turn on."""

    at_s: float
    remark: Remark


class StopRequested(Struct, frozen=True, kw_only=True, tag="stop_requested"):
    """Somebody wants the run to stop."""

    at_s: float
    why: str


class Resumed(Struct, frozen=True, kw_only=True, tag="resumed"):
    """The run goes on, within `limits`; what a crash or a stop left open is settled after it.

    Where there is something that the model must be `told`, an answer it gave before is void.
    """

    at_s: float
    limits: Limits
    why: str
    told: str = ""


class RunFinished(Struct, frozen=True, kw_only=True, tag="run_finished"):
    """The run is over; calls still open are closed by it."""

    at_s: float
    outcome: Outcome


Event: TypeAlias = (
    RunStarted
    | Resumed
    | ModelChosen
    | ModelCallPrepared
    | ModelReplied
    | ReplyRejected
    | ModelCallFailed
    | Waited
    | CallJudged
    | ApprovalRequested
    | ApprovalResolved
    | ToolStarted
    | ToolFinished
    | ContextCompacted
    | VerificationStarted
    | VerificationFinished
    | BudgetWarning
    | Noted
    | StopRequested
    | RunFinished
)
