"""The proof as the kernel meets it: make the patch, prove it, and tell the model what came of it.

A model that says it is done while the proof fails is shown the failing output and goes on.
"""

from collections.abc import Callable, Iterable

from anyio import to_thread
from msgspec import Struct

from goldseam.kernel.events import VerificationFinished
from goldseam.kernel.outcome import Proof
from goldseam.repair.prompting import fill
from goldseam.repair.prove import Evidence, prove
from goldseam.repair.site import Site, patch_of
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.patch import Patch
from goldseam.workspace.testing.report import TestReport

_MOST_NAMES = 20
_MOST_OUTPUT = 6_000


class Unprovable(Struct, frozen=True, kw_only=True):
    """Why no evidence could be had for a patch."""

    patch: Patch | None
    why: str


class PatchVerifier:
    """Implements `kernel.ports.Verifier`; remembers what the last proof showed."""

    def __init__(
        self,
        site: Site,
        baseline: TestReport,
        *,
        somebody_follows: Callable[[], bool] = lambda: False,
        earlier: Iterable[VerificationFinished] = (),
    ) -> None:
        """`somebody_follows` says whether another model would go on from an answer not proved.

        `earlier` are the proofs of sittings before this one.
        """
        self._site = site
        self._somebody_follows = somebody_follows
        self._baseline = baseline
        proofs = [finished.proof for finished in earlier]
        self._said_no_changes = any(proof.text == fill("no_changes") for proof in proofs)
        # A proof that holds is only followed by another where this was asked.
        self._asked_about_failing = any(proof.proven for proof in proofs)
        self.latest: Evidence | Unprovable | None = None

    async def verify(self, answer: str) -> tuple[Proof, bool]:
        """Return the proof of the workspace as it is now; the answer's words prove nothing."""
        del answer
        found = await self.examine()
        if isinstance(found, Evidence):
            return self._judged(found)
        if found.patch is None:
            return self._without_changes()
        return Proof(proven=False, text=fill("unprovable", why=found.why)), True

    async def examine(self) -> Evidence | Unprovable:
        """Make the patch and prove it, once for each state of the workspace."""
        try:
            patch = await to_thread.run_sync(patch_of, self._site)
        except WorkspaceError as error:
            self.latest = Unprovable(patch=None, why=str(error))
            return self.latest
        if not patch.files:
            self.latest = Unprovable(patch=None, why="the workspace holds no changes")
        elif self.latest is None or self.latest.patch != patch:
            self.latest = await self._prove(patch)
        return self.latest

    async def _prove(self, patch: Patch) -> Evidence | Unprovable:
        try:
            return await prove(self._site, patch, baseline=self._baseline)
        except WorkspaceError as error:
            return Unprovable(patch=patch, why=str(error))

    def _without_changes(self) -> tuple[Proof, bool]:
        """Asked once: a model may have forgotten to edit; saying it twice is an honest end."""
        go_on = not self._said_no_changes or self._somebody_follows()
        self._said_no_changes = True
        return Proof(proven=False, text=fill("no_changes")), go_on

    def _judged(self, found: Evidence) -> tuple[Proof, bool]:
        comparison = found.comparison
        if not comparison.proven:
            return Proof(proven=False, text=_unproved(found)), True
        if comparison.still_failing and not self._asked_about_failing:
            self._asked_about_failing = True
            names = _names(comparison.still_failing)
            return Proof(proven=True, text=fill("still_failing", names=names)), True
        return Proof(proven=True, text=f"Proved: {len(comparison.fixed)} tests mended."), False


def _unproved(found: Evidence) -> str:
    comparison = found.comparison
    return fill(
        "unproved",
        reason=_reason(found),
        broken=_names(comparison.broken),
        still_failing=_names(comparison.still_failing),
        flaky=_names(comparison.flaky),
        output=_cut(found.after.output),
    )


def _reason(found: Evidence) -> str:
    if not found.comparison.finished:
        return found.after.trouble or "no test was run"
    if found.comparison.broken:
        return "tests that passed before fail now, or are gone"
    return "no test that failed without the patch passes with it"


def _names(names: tuple[str, ...]) -> str:
    if not names:
        return "none"
    more = f", and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _cut(output: str) -> str:
    """The end of a test run says most; a cut says so."""
    if len(output) <= _MOST_OUTPUT:
        return output
    return f"[the last {_MOST_OUTPUT} of {len(output)} characters]\n{output[-_MOST_OUTPUT:]}"
