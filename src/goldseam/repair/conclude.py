"""The end of a repair: a last look at the workspace, the judgement, and the files that tell it."""

from pathlib import Path

from anyio import to_thread
from msgspec import Struct

from goldseam.kernel.conversation import ToolResult
from goldseam.kernel.outcome import (
    BudgetStopped,
    Completed,
    Outcome,
    Stopped,
)
from goldseam.kernel.state import RunState
from goldseam.repair.judgement import judgement_of
from goldseam.repair.outputs import write_outputs
from goldseam.repair.prove import Evidence
from goldseam.repair.result import Result
from goldseam.repair.sections import (
    files_section,
    models_section,
    switches_section,
    tests_section,
    usage_section,
)
from goldseam.repair.site import Site, patch_of
from goldseam.repair.spending import Spending
from goldseam.repair.verify import PatchVerifier, Unprovable
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.testing.report import TestReport


class Finished(Struct, frozen=True, kw_only=True):
    """A run that came to its end, and what is needed to tell of it."""

    state: RunState
    site: Site
    spending: Spending
    verifier: PatchVerifier
    baseline: TestReport
    issue_title: str
    model: str
    sandbox: str
    folder: Path
    out: Path | None


async def conclude(finished: Finished) -> Result:
    """Look at the workspace once more, judge, and write the patch, the result and the report."""
    outcome = finished.state.outcome
    found = await _last_look(finished, outcome)
    patch = found.patch if found is not None else None
    judged = judgement_of(outcome, found, denial=_first_denial(finished.state))
    result = Result(
        verdict=judged.code.verdict,
        exit_code=int(judged.code),
        message=judged.message,
        run_id=finished.state.opening.run_id,
        issue=finished.issue_title,
        model=finished.model,
        sandbox=finished.sandbox,
        answer=_answer_of(outcome),
        record=str(finished.folder),
        files=files_section(patch),
        tests=tests_section(found, command=finished.site.tests, baseline=finished.baseline),
        usage=usage_section(finished.state),
        models=models_section(finished.spending),
        switches=switches_section(finished.spending),
        warnings=_warnings_of(found),
    )
    diff = patch.diff if patch is not None else b""
    return await to_thread.run_sync(
        lambda: write_outputs(result, diff, folder=finished.folder, out=finished.out)
    )


async def _last_look(finished: Finished, outcome: Outcome | None) -> Evidence | Unprovable | None:
    """Prove what stands in the workspace, unless there is no time for it; then only fetch it."""
    match outcome:
        case Stopped() | BudgetStopped(limit="wall_s" | "tool_s"):
            return await to_thread.run_sync(_fetch, finished.site)
        case _:
            return await finished.verifier.examine()


def _fetch(site: Site) -> Unprovable:
    try:
        patch = patch_of(site)
    except WorkspaceError as error:
        return Unprovable(patch=None, why=str(error))
    return Unprovable(patch=patch if patch.files else None, why="there was no time for the proof")


def _answer_of(outcome: Outcome | None) -> str:
    match outcome:
        case Completed(answer=answer):
            return answer
        case BudgetStopped(summary=summary):
            return summary
        case _:
            return ""


def _first_denial(state: RunState) -> str | None:
    results = (item for item in state.conversation if isinstance(item, ToolResult))
    denied = (result.content.partition("\n")[0] for result in results if result.kind == "denied")
    return next(denied, None)


def _warnings_of(found: Evidence | Unprovable | None) -> tuple[str, ...]:
    if not isinstance(found, Evidence):
        return ()
    comparison = found.comparison
    foreign = ", ".join(sorted({*found.before.foreign, *found.after.foreign}))
    links = ", ".join(file.path for file in found.patch.files if file.leads_out)
    warnings = {
        f"the tests imported {foreign} from outside the checkout: the proof may not hold": foreign,
        "the proof rests on tests that the patch itself brings or changes: read them first": (
            comparison.proven and comparison.rests_on_new_tests
        ),
        f"{len(comparison.still_failing)} tests failed before and still fail": (
            comparison.still_failing
        ),
        f"the patch holds links that lead out of the repository: {links}": links,
    }
    return tuple(text for text, holds in warnings.items() if holds)
