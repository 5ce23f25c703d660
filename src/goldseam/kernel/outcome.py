"""How a run can end. Closed: each way out is one of these, with what a person needs to know."""

from typing import TypeAlias

from msgspec import Struct

from goldseam.kernel.budget import LimitName
from goldseam.kernel.errors import FailureKind


class Proof(Struct, frozen=True, kw_only=True):
    """What the proof of the answer said. `text` is the observation the model was shown."""

    proven: bool
    text: str


class Completed(Struct, frozen=True, kw_only=True, tag="completed"):
    """The model gave its answer; `proof` says whether it held, where there was one to make."""

    answer: str
    proof: Proof | None = None


class BudgetStopped(Struct, frozen=True, kw_only=True, tag="budget_stopped"):
    """A limit was reached; the summary was made without another model call."""

    limit: LimitName
    summary: str


class ModelFailed(Struct, frozen=True, kw_only=True, tag="model_failed"):
    """No usable reply could be had."""

    kind: FailureKind | None
    """`None`: replies came, but none that kept the contract."""
    text: str


class Stopped(Struct, frozen=True, kw_only=True, tag="stopped"):
    """Somebody stopped the run; it can be resumed."""

    why: str


class Aborted(Struct, frozen=True, kw_only=True, tag="aborted"):
    """A defect of ours ended the run; the error was raised."""

    why: str


Outcome: TypeAlias = Completed | BudgetStopped | ModelFailed | Stopped | Aborted
