"""Prove a patch: run the tests on clean checkouts without and with it, and compare.

Where the patch changes tests, they count as the patch leaves them on both sides: a test that the
patch weakens passes without the mending as well, and so proves nothing.
"""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio import to_thread
from msgspec import Struct

from goldseam.repair.compare import Comparison, compare, without_flaky
from goldseam.repair.site import Site
from goldseam.workspace.clone import checkout_clean
from goldseam.workspace.patch import Patch, apply_patch, is_test_path
from goldseam.workspace.sandbox.port import Sandbox
from goldseam.workspace.testing.report import TestReport
from goldseam.workspace.testing.run import run_tests

_MOST_NAMES_TO_ASK_AGAIN = 200


class Evidence(Struct, frozen=True, kw_only=True):
    """What running the tests showed about a patch."""

    patch: Patch
    before: TestReport
    """Without the mending, with the tests as the patch leaves them."""
    after: TestReport
    comparison: Comparison


class _Tree(Struct, frozen=True, kw_only=True):
    """A tree of files and the place where commands run on it."""

    tree: Path
    sandbox: Sandbox


async def run_baseline(site: Site) -> TestReport:
    """Run the tests on a clean checkout, as the repository stands."""
    async with _tree(site, patch=None, name="baseline") as plain:
        return await run_tests(plain.sandbox, site.tests, limit_s=site.test_limit_s)


async def prove(site: Site, patch: Patch, *, baseline: TestReport) -> Evidence:
    """Run the tests with `patch` and say what that proves; asks again where answers changed.

    Raises:
        WorkspaceError: the patch does not apply to a clean checkout.
    """
    async with (
        _tree(site, patch=patch, name="with-patch") as patched,
        _tree(site, patch=None, name="without-patch") as plain,
    ):
        carried = await to_thread.run_sync(
            lambda: _carry_tests(patch, source=patched.tree, target=plain.tree)
        )
        after = await run_tests(patched.sandbox, site.tests, limit_s=site.test_limit_s)
        before = baseline
        if carried:
            before = await run_tests(plain.sandbox, site.tests, limit_s=site.test_limit_s)
        found = compare(before, after)
        if found.finished and found.in_doubt:
            found = without_flaky(
                found,
                before=before,
                before_again=await _again(plain.sandbox, site, found.in_doubt),
                after=after,
                after_again=await _again(patched.sandbox, site, found.in_doubt),
            )
    return Evidence(patch=patch, before=before, after=after, comparison=found)


def _carry_tests(patch: Patch, *, source: Path, target: Path) -> bool:
    """Put the tests of the patched tree into the plain one; say whether there were any."""
    changed = [Path(file.path) for file in patch.files if is_test_path(file.path)]
    for path in changed:
        (target / path).unlink(missing_ok=True)
        if (source / path).is_symlink() or (source / path).exists():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / path, target / path, follow_symlinks=False)
    return bool(changed)


async def _again(sandbox: Sandbox, site: Site, names: tuple[str, ...]) -> TestReport:
    few = len(names) <= _MOST_NAMES_TO_ASK_AGAIN and site.tests.framework != "other"
    return await run_tests(
        sandbox, site.tests, names=names if few else (), limit_s=site.test_limit_s
    )


@asynccontextmanager
async def _tree(site: Site, *, patch: Patch | None, name: str) -> AsyncIterator["_Tree"]:
    """A clean checkout with `patch` applied, as long as it is needed."""
    folder = site.scratch / name

    def make() -> Path:
        tree = checkout_clean(site.workspace, folder)
        if patch is not None:
            apply_patch(tree, patch)
        return tree

    try:
        tree = await to_thread.run_sync(make)
        yield _Tree(tree=tree, sandbox=site.sandbox_for(tree))
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))
