"""The parts of a result, each made from what the run knows. Pure."""

from goldseam.kernel.conversation import ToolResult
from goldseam.kernel.state import RunState
from goldseam.repair.prove import Evidence
from goldseam.repair.result import (
    CandidateSection,
    FileSection,
    OutcomeCounts,
    SwitchSection,
    TestsSection,
    UsageSection,
)
from goldseam.repair.spending import Spending
from goldseam.repair.verify import Unprovable
from goldseam.workspace.patch import Patch
from goldseam.workspace.testing.detect import TestCommand
from goldseam.workspace.testing.report import TestReport

_PICODOLLARS = 10**12


def files_section(patch: Patch | None) -> tuple[FileSection, ...]:
    """Return what the patch changes, file by file."""
    if patch is None:
        return ()
    return tuple(
        FileSection(
            path=file.path,
            status=file.status,
            added=file.added,
            removed=file.removed,
            is_existing_test=file.is_existing_test,
        )
        for file in patch.files
    )


def tests_section(
    found: Evidence | Unprovable | None, *, command: TestCommand, baseline: TestReport
) -> TestsSection:
    """Return what the tests said; the baseline alone where there is no evidence."""
    if not isinstance(found, Evidence):
        return TestsSection(command=command.shown, before=_counts(baseline))
    comparison = found.comparison
    return TestsSection(
        command=command.shown,
        before=_counts(found.before),
        after=_counts(found.after),
        fixed=comparison.fixed,
        broken=comparison.broken,
        still_failing=comparison.still_failing,
        flaky=comparison.flaky,
    )


def models_section(spending: Spending) -> tuple[CandidateSection, ...]:
    """Return what each model took."""
    return tuple(
        CandidateSection(
            name=spent.name,
            calls=spent.calls,
            failures=spent.failures,
            useless=spent.useless,
            fresh_tokens=spent.fresh_tokens,
            cached_tokens=spent.cached_tokens,
            output_tokens=spent.output_tokens,
            cache_share=spent.cache_share,
            unknown_calls=spent.unknown_calls,
            dollars=None if spent.cost is None else spent.cost / _PICODOLLARS,
            waited_seconds=spent.waited_s,
        )
        for spent in spending.candidates
    )


def switches_section(spending: Spending) -> tuple[SwitchSection, ...]:
    """Return each change of the model."""
    return tuple(
        SwitchSection(
            before=switch.before,
            after=switch.after,
            why=switch.why,
            losses=tuple(f"{remark.code}: {remark.text}" for remark in switch.remarks),
        )
        for switch in spending.switches
    )


def usage_section(state: RunState) -> UsageSection:
    """Return what the run used."""
    results = [item for item in state.conversation if isinstance(item, ToolResult)]
    return UsageSection(
        model_calls=state.ledger.model_calls,
        action_steps=state.ledger.action_steps,
        tokens=state.ledger.usage,
        held_tokens=state.ledger.held_tokens,
        seconds=round(state.elapsed_s, 3),
        tool_seconds=round(state.ledger.tool_s, 3),
        failed_tool_calls=sum(result.is_error for result in results),
    )


def _counts(report: TestReport) -> OutcomeCounts:
    outcomes = list(report.outcomes.values())
    return OutcomeCounts(
        passed=outcomes.count("passed"),
        failed=outcomes.count("failed"),
        errors=outcomes.count("error"),
        skipped=outcomes.count("skipped"),
        timed_out=report.timed_out,
        seconds=round(report.seconds, 3),
    )
