"""Try alternative versions of files against the tests, the workspace untouched.

Each trial runs in a copy of the tree that a sandbox shows at the tree's own place: in warm forked
processes where the test runner can be loaded into one, by a test start each where it cannot. Knows
nothing of how an alternative was written down: it is handed whole new files.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import anyio
import anyio.to_thread

from goldseam.workspace.testing.copies import copy_tree, scratch_beside
from goldseam.workspace.testing.report import TestReport
from goldseam.workspace.testing.run import run_tests
from goldseam.workspace.testing.trials import (
    NAMES_TOLD,
    TOTAL_S,
    Alternative,
    AlternativeVerdict,
    Bench,
    Question,
    Trials,
)
from goldseam.workspace.testing.warm import in_process, try_warm

PLAIN_LIMIT_S = 60.0
"""Seconds of a test start where none are asked for: nobody has timed the unchanged tree."""


async def try_alternatives(
    bench: Bench, alternatives: Sequence[Alternative], question: Question
) -> Trials:
    """Return a verdict for each alternative; the tree is never written.

    Raises:
        WorkspaceError: the tree is too large to copy, or a sandbox could not start.
    """
    found: dict[int, AlternativeVerdict] = {}
    trouble = "the test command is not plain pytest or unittest"
    run = in_process(bench.tests)
    if run is not None and alternatives:
        warm = await try_warm(bench, alternatives, question, run=run)
        found, trouble = warm.verdicts, warm.trouble
    if trouble:
        found |= await _try_plain(bench, alternatives, question, found=found)
    return Trials(
        verdicts=tuple(_verdicts(len(alternatives), question, found)),
        note=f"a test start for each alternative: {trouble}" if trouble else "",
    )


async def _try_plain(
    bench: Bench,
    alternatives: Sequence[Alternative],
    question: Question,
    *,
    found: Mapping[int, AlternativeVerdict],
) -> dict[int, AlternativeVerdict]:
    """Return verdicts for those not in `found`."""
    more: dict[int, AlternativeVerdict] = {}
    deadline = anyio.current_time() + TOTAL_S
    for index in [index for index in range(len(alternatives)) if index not in found]:
        if anyio.current_time() >= deadline or _is_enough(question, {**found, **more}):
            break
        more[index] = await _try_one(bench, alternatives[index], question)
    return more


async def _try_one(
    bench: Bench, alternative: Alternative, question: Question
) -> AlternativeVerdict:
    """Start the tests in a fresh copy: whatever an earlier trial spoilt, this one never sees."""
    with scratch_beside(bench.tree) as scratch:
        copy = scratch / "tree"
        make = partial(copy_tree, bench.tree, copy, left_out=bench.left_out)
        await anyio.to_thread.run_sync(make)
        for path, content in alternative.items():
            (copy / path).write_bytes(content)
        limit_s = question.limit_s or PLAIN_LIMIT_S
        sandbox = bench.sandbox_for(copy)
        report = await run_tests(sandbox, bench.tests, names=question.names, limit_s=limit_s)
    return _verdict(report)


def _verdict(report: TestReport) -> AlternativeVerdict:
    passed, failed = len(report.passing), report.failing
    if report.timed_out:
        return AlternativeVerdict(verdict="TIMEOUT", passed=passed)
    if report.all_passed:
        return AlternativeVerdict(verdict="PASS", passed=passed)
    if not failed:
        reason = f"the runner ended with exit code {report.exit_code}"
        return AlternativeVerdict(verdict="ERROR", reason=reason)
    return AlternativeVerdict(
        verdict="FAIL", passed=passed, failures=len(failed), failed=failed[:NAMES_TOLD]
    )


def _verdicts(
    count: int, question: Question, found: Mapping[int, AlternativeVerdict]
) -> list[AlternativeVerdict]:
    why = f"the {TOTAL_S:.0f} seconds of one call were used up; send fewer at once"
    if _is_enough(question, found):
        why = "another passed before"
    not_tried = AlternativeVerdict(verdict="NOT TRIED", reason=why)
    return [found.get(index, not_tried) for index in range(count)]


def _is_enough(question: Question, found: Mapping[int, AlternativeVerdict]) -> bool:
    return question.stop_at_first and any(it.verdict == "PASS" for it in found.values())
