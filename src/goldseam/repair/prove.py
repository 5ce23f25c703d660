"""Prove a patch: run the tests on clean checkouts without and with it, and compare.

Where the patch changes tests, or what tests are run by, two questions are asked. What do the tests
as they were say of the patched source? And do the tests as the patch leaves them fail without the
mending? So a test that is weakened or deleted, or a runner that is bent, proves nothing. Tests run
in one process with the code they test: a patch written to deceive them can, and a person must read
what a patch does.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
from anyio import to_thread
from msgspec import Struct

from goldseam.repair.compare import Answers, Comparison, compare, joined, without_flaky
from goldseam.repair.site import Site
from goldseam.workspace.clone import checkout_clean
from goldseam.workspace.patch import Patch, apply_patch
from goldseam.workspace.removal import remove_tree
from goldseam.workspace.sandbox.port import Sandbox
from goldseam.workspace.testing.report import TestReport
from goldseam.workspace.testing.run import run_tests

_MOST_NAMES_TO_ASK_AGAIN = 200


class Evidence(Struct, frozen=True, kw_only=True):
    """What running the tests showed about a patch."""

    patch: Patch
    before: TestReport
    """The repository as it stands."""
    after: TestReport
    """With the whole patch."""
    comparison: Comparison


async def run_baseline(site: Site) -> TestReport:
    """Run the tests on a clean checkout, as the repository stands."""
    return await _run(site, b"")


async def prove(site: Site, patch: Patch, *, baseline: TestReport) -> Evidence:
    """Run the tests with `patch` and say what that proves; asks again where answers changed.

    Raises:
        WorkspaceError: the patch does not apply to a clean checkout.
    """
    after = await _run(site, patch.diff)
    if not patch.tests:
        found = await _compared(site, (b"", baseline), (patch.diff, after))
        return Evidence(patch=patch, before=baseline, after=after, comparison=found)
    source, tests = patch.source, patch.tests
    as_they_were = await _compared(site, (b"", baseline), (source, await _run(site, source)))
    as_patched = await _compared(site, (tests, await _run(site, tests)), (patch.diff, after))
    found = joined(baseline, as_they_were=as_they_were, as_patched=as_patched, after=after)
    return Evidence(patch=patch, before=baseline, after=after, comparison=found)


async def _compared(
    site: Site, before: tuple[bytes, TestReport], after: tuple[bytes, TestReport]
) -> Comparison:
    """Compare the runs of two trees; the tests in doubt are run again, on fresh ones."""
    found = compare(before[1], after[1])
    if not found.finished or not found.in_doubt:
        return found
    names = found.in_doubt
    return without_flaky(
        found,
        before=Answers(once=before[1], again=await _run(site, before[0], names)),
        after=Answers(once=after[1], again=await _run(site, after[0], names)),
    )


async def _run(site: Site, diff: bytes, names: tuple[str, ...] = ()) -> TestReport:
    few = len(names) <= _MOST_NAMES_TO_ASK_AGAIN and site.tests.framework != "other"
    async with _tree(site, diff) as sandbox:
        return await run_tests(
            sandbox, site.tests, names=names if few else (), limit_s=site.test_limit_s
        )


@asynccontextmanager
async def _tree(site: Site, diff: bytes) -> AsyncIterator[Sandbox]:
    """A clean checkout with `diff` applied, as long as it is needed."""
    folder = site.scratch / f"tree-{len(list(site.scratch.glob('tree-*')))}"

    def make() -> Path:
        tree = checkout_clean(site.workspace, folder)
        apply_patch(tree, Patch(diff=diff))
        return tree

    try:
        yield site.sandbox_for(await to_thread.run_sync(make))
    finally:
        # What cannot be removed now stays in the run's own folder, and goes or is told of with it.
        with anyio.CancelScope(shield=True), suppress(OSError):
            await to_thread.run_sync(remove_tree, folder)
