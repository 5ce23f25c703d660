"""How a repair ended, in one exit code and one line. Pure.

A patch that is proved counts, however the run ended.
"""

from msgspec import Struct

from goldseam.kernel.budget import LimitName
from goldseam.kernel.outcome import (
    Aborted,
    BudgetStopped,
    Completed,
    ModelFailed,
    Outcome,
    Stopped,
)
from goldseam.repair.prove import Evidence
from goldseam.repair.result import ExitCode
from goldseam.repair.verify import Unprovable

OPTIONS: dict[LimitName, str] = {
    "wall_s": "--max-seconds",
    "tool_s": "--max-tool-seconds",
    "model_calls": "--max-calls",
    "action_steps": "--max-steps",
    "total_tokens": "--max-tokens",
    "money": "--max-cost",
    "context": "limits.context_tokens in the settings",
}
"""What raises each limit."""


class Judgement(Struct, frozen=True, kw_only=True):
    """The exit code, and the line that explains it."""

    code: ExitCode
    message: str


def judgement_of(
    outcome: Outcome | None, found: Evidence | Unprovable | None, *, denial: str | None
) -> Judgement:
    """Judge a run by how it ended and what was found; `denial` is what policy refused first."""
    if isinstance(found, Evidence) and found.comparison.proven:
        return Judgement(code=ExitCode.VERIFIED, message="the patch is proved by the tests")
    match outcome:
        case Completed():
            return _of_completed(found, denial)
        case BudgetStopped(limit=limit):
            message = f"stopped at the limit {limit}; raise it ({OPTIONS[limit]}) to go further"
            return Judgement(code=ExitCode.BUDGET, message=message)
        case ModelFailed(text=text):
            message = f"the model failed: {'; '.join(text.splitlines())}"
            return Judgement(code=ExitCode.MODEL_FAILED, message=message)
        case Stopped(why=why):
            return Judgement(code=ExitCode.STOPPED, message=f"by {why}; the record is whole")
        case Aborted(why=why):
            return Judgement(code=ExitCode.DEFECT, message=f"a defect ended the run: {why}")
        case None:
            raise ValueError("the run has not ended")


def _of_completed(found: Evidence | Unprovable | None, denial: str | None) -> Judgement:
    why = found.why if isinstance(found, Unprovable) else "the tests do not prove it"
    if found is not None and found.patch is not None:
        message = f"there is a patch, but {why}; read report.md before you use it"
        return Judgement(code=ExitCode.UNVERIFIED, message=message)
    if denial is not None:
        message = f"there is no patch, and policy refused a call that was made for it: {denial}"
        return Judgement(code=ExitCode.REFUSED, message=message)
    return Judgement(code=ExitCode.NO_PATCH, message=f"there is no patch: {why}")
