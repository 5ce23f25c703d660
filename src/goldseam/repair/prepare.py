"""What the model is told first: how to work, the issue, and how the tests stand. Pure."""

from goldseam.kernel.conversation import Message
from goldseam.repair.prompting import fill
from goldseam.repair.task import Issue
from goldseam.workspace.testing.report import TestReport

_MOST_NAMES = 10


def opening_messages(issue: Issue, *, command: str, baseline: TestReport) -> tuple[Message, ...]:
    """Return the first messages of a repair; nothing in them changes between its turns."""
    task = fill("task", issue=issue.text, command=command, baseline=_state_of(baseline))
    return (
        Message(role="system", text=fill("system")),
        Message(role="user", text=task),
    )


def _state_of(baseline: TestReport) -> str:
    failing = baseline.failing
    passing = len(baseline.passing)
    if not failing:
        return f"all {passing} tests pass, so no test shows the issue yet"
    more = f", and {len(failing) - _MOST_NAMES} more" if len(failing) > _MOST_NAMES else ""
    names = ", ".join(failing[:_MOST_NAMES])
    hung = "; the run did not come to its end in time" if baseline.timed_out else ""
    return f"{passing} tests pass, {len(failing)} fail: {names}{more}{hung}"
