"""Tool `run_tests`: the repository's tests, all or by name, with a verdict for each."""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from goldseam.tools.arguments import Seconds, TestNames
from goldseam.tools.context import ToolContext
from goldseam.tools.folding import fold_stacks
from goldseam.tools.large import Kept, keep, shown_with_file
from goldseam.tools.observation import cut, ends_of, without_roots
from goldseam.tools.tool import Output, Tool, ToolFailure, described_beside
from goldseam.workspace.testing.report import TestReport
from goldseam.workspace.testing.run import run_tests as run_repository_tests

_LEVER = "give `names` of fewer tests"
_SHOWN_NAMES = 200
_SHOWN_OUTPUT_BYTES = 20_000


class RunTests(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `run_tests`."""

    names: Annotated[
        TestNames,
        Meta(
            max_length=1_000,
            description="Tests to run, as named under FAILING; none means all.",
            examples=[["tests/test_app.py::test_total"]],
        ),
    ] = ()
    limit_s: Seconds = 300.0


async def run_tests(given: RunTests, context: ToolContext) -> Output:
    """Run the tests and return counts, the failing names and the runner's own output."""
    if context.tests is None:
        raise ToolFailure(
            "how this repository's tests are run is not known. "
            "Next: look for its instructions and run them with run_command."
        )
    report = await run_repository_tests(
        context.sandbox, context.tests, names=given.names, limit_s=given.limit_s
    )
    return told(
        report,
        limit_s=given.limit_s,
        roots=context.roots,
        keep_whole=lambda output: keep(context, "run_tests", output),
    )


def told(
    report: TestReport,
    *,
    limit_s: float,
    roots: Iterable[str],
    keep_whole: Callable[[bytes], Kept | None] = lambda _: None,
) -> Output:
    """Return what a model is told of `report`, in the form that the tool's description names.

    `keep_whole` puts the runner's output into a file, where not all of it is shown.
    """
    output = without_roots(report.output, roots).rstrip()
    head = (_first_line(report, limit_s), *_notes(report), *_failing(report))
    whole = f"OUTPUT:\n{output or '(none)'}"
    return Output(
        text="\n".join((*head, _shown(whole, report, keep_whole))),
        full_text="\n".join((*head, whole)),
    )


def _shown(whole: str, report: TestReport, keep_whole: Callable[[bytes], Kept | None]) -> str:
    """Return the output with long stacks folded and its middle cut out, if it is long."""
    folded = fold_stacks(whole, lever="give `names` of fewer tests")
    if folded == whole and ends_of(whole, limit_bytes=_SHOWN_OUTPUT_BYTES) is None:
        return whole
    kept = keep_whole(report.output.encode("utf-8", "replace"))
    if kept is None:
        return cut(folded, lever=_LEVER, limit_bytes=_SHOWN_OUTPUT_BYTES)
    first_line = 1 if folded == whole else None
    return shown_with_file(
        fold_stacks(whole, lever=f"all are in {kept.path}"),
        kept,
        lever=_LEVER,
        first_line=first_line,
        limit_bytes=_SHOWN_OUTPUT_BYTES,
    )


def _first_line(report: TestReport, limit_s: float) -> str:
    if report.timed_out:
        return f"TESTS: timed out after {limit_s:g} s"
    failed, errors = len(report.named("failed")), len(report.named("error"))
    return (
        f"TESTS: {len(report.passing)} passed, {failed} failed, {errors} errors, "
        f"{len(report.named('skipped'))} skipped (exit {report.exit_code})"
    )


def _notes(report: TestReport) -> Sequence[str]:
    notes: list[str] = []
    if report.timed_out:
        notes.append("NOTE: give fewer `names`, or a larger limit_s (600 at most)")
    elif report.trouble:
        notes.append(f"NOTE: {report.trouble}")
    if report.foreign:
        modules = ", ".join(module.partition(" ")[0] for module in report.foreign)
        notes.append(f"NOTE: tested from another place than this workspace: {modules}")
    if report.missing:
        notes.append("NOT FOUND (run without `names` to see which there are):")
        notes += _listed(report.missing)
    return notes


def _failing(report: TestReport) -> Sequence[str]:
    return ("FAILING:", *_listed(report.failing)) if report.failing else ()


def _listed(names: Sequence[str]) -> list[str]:
    more = [f"(and {len(names) - _SHOWN_NAMES} more)"] if len(names) > _SHOWN_NAMES else []
    return [*names[:_SHOWN_NAMES], *more]


RUN_TESTS = Tool(
    name="run_tests",
    arguments=RunTests,
    run=run_tests,
    description=described_beside(__name__),
    lever=_LEVER,
)
