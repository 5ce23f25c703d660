"""Tool `try_edits`: alternatives in, a verdict for each out, the workspace unchanged."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from goldseam.tools.arguments import LineNumber, RelativePath, TestNames
from goldseam.tools.context import ToolContext
from goldseam.tools.observation import without_roots
from goldseam.tools.tool import Output, Tool, ToolFailure, described_beside
from goldseam.workspace.edits import replace_exact
from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.files import Files
from goldseam.workspace.testing.alternatives import try_alternatives
from goldseam.workspace.testing.trials import Alternative, AlternativeVerdict, Bench, Question

MAX_BYTES = 64 << 20
"""New files of one call, all together."""
_NAMES_SHOWN = 3
_LABEL_SHOWN = 80


class Edit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One replacement, as `edit_file` makes it."""

    path: RelativePath
    old_text: Annotated[str, Meta(min_length=1, description="Exact text that is there now.")]
    new_text: Annotated[str, Meta(description="Text to stand in its place.")]
    line: Annotated[
        LineNumber | None, Meta(description="Line on which old_text starts, if not unique.")
    ] = None


class Proposal(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One alternative: its edits are made one after the other, all or none."""

    edits: Annotated[tuple[Edit, ...], Meta(min_length=1, max_length=20)]
    label: Annotated[str, Meta(max_length=200, description="A word of yours, repeated back.")] = ""


class TryEdits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `try_edits`."""

    alternatives: Annotated[tuple[Proposal, ...], Meta(min_length=1, max_length=200)]
    names: Annotated[TestNames, Meta(max_length=1_000, description="Tests to run; none: all.")] = ()
    limit_s: Annotated[
        Annotated[float, Meta(ge=0.1, le=120)] | None,
        Meta(description="Seconds for one alternative; by the tests' usual time if left out."),
    ] = None
    stop_at_first: Annotated[bool, Meta(description="Whether to stop at the first PASS.")] = False


async def try_edits(given: TryEdits, context: ToolContext) -> Output:
    """Return one line for each alternative, in their order."""
    if context.tests is None:
        raise ToolFailure(
            "try_edits: how this repository's tests are run is not known. "
            "Next: edit with edit_file and try it with run_command."
        )
    drafts = _Drafts(context.files)
    prepared = [drafts.prepare(proposal) for proposal in given.alternatives]
    bench = Bench(
        tree=context.workspace.root,
        tests=context.tests,
        sandbox_for=context.sandbox_for,
        left_out=(".git", *context.workspace.environment),
    )
    question = Question(names=given.names, limit_s=given.limit_s, stop_at_first=given.stop_at_first)
    applied = [one for one in prepared if not isinstance(one, AlternativeVerdict)]
    trials = await try_alternatives(bench, applied, question)
    found = iter(trials.verdicts)
    verdicts = [one if isinstance(one, AlternativeVerdict) else next(found) for one in prepared]
    text = told(given.alternatives, verdicts, trials.note)
    return Output(text=without_roots(text, context.roots))


class _Drafts:
    """The new files of alternatives; each file is read once, and their size is watched."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._originals: dict[str, tuple[str, bytes]] = {}
        self._bytes_left = MAX_BYTES

    def prepare(self, proposal: Proposal) -> Alternative | AlternativeVerdict:
        """Return the files as they would be, or why this proposal cannot be tried."""
        changed: dict[str, bytes] = {}
        try:
            for edit in proposal.edits:
                path, original = self._original(edit.path)
                before = changed.get(path, original)
                changed[path] = replace_exact(before, edit.old_text, edit.new_text, line=edit.line)
        except WorkspaceError as error:
            return AlternativeVerdict(verdict="ERROR", reason=error.message)
        self._bytes_left -= sum(map(len, changed.values()))
        if self._bytes_left < 0:
            raise ToolFailure(
                f"try_edits: the edited files come to more than {MAX_BYTES >> 20} MB. "
                "Next: send fewer alternatives at once."
            )
        return changed

    def _original(self, asked: str) -> tuple[str, bytes]:
        if asked not in self._originals:
            file = self._files.read_bytes(asked)
            if file.truncated:
                raise WorkspaceError(f'"{asked}" is too large to be edited here')
            self._originals[asked] = (file.path, file.content)
        return self._originals[asked]


def told(proposals: Sequence[Proposal], verdicts: Sequence[AlternativeVerdict], note: str) -> str:
    """Return what the model is told: a line for all, one for each, a note if there is one."""
    passing = sum(verdict.verdict == "PASS" for verdict in verdicts)
    lines = [f"TRIED: {len(verdicts)} alternatives, {passing} pass"]
    for number, (proposal, verdict) in enumerate(zip(proposals, verdicts, strict=True), 1):
        label = " ".join(proposal.label.split())[:_LABEL_SHOWN]
        lines.append(f"#{number} {_said(verdict)} {label}".rstrip())
    return "\n".join([*lines, *([f"NOTE: {note}"] if note else [])])


def _said(verdict: AlternativeVerdict) -> str:
    match verdict.verdict:
        case "PASS":
            return f"PASS ({verdict.passed} passed)"
        case "TIMEOUT":
            return "TIMEOUT"
        case "ERROR" | "NOT TRIED":
            return f"{verdict.verdict} {verdict.reason}"
        case "FAIL":
            more = verdict.failures - _NAMES_SHOWN
            names = ", ".join(verdict.failed[:_NAMES_SHOWN]) + (
                f" and {more} more" if more > 0 else ""
            )
            return f"FAIL ({verdict.passed} passed, {verdict.failures} failed: {names})"


TRY_EDITS = Tool(
    name="try_edits",
    arguments=TryEdits,
    run=try_edits,
    description=described_beside(__name__),
    lever="send fewer alternatives, or give `names` of fewer tests",
)
