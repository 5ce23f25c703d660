"""All small edits of the suspects in the order in which they should be tried. Pure."""

import ast
from collections.abc import Sequence
from functools import lru_cache
from heapq import nlargest

from msgspec import Struct

from goldseam.models.mender.edits import calls, names, numbers, operators, statements
from goldseam.models.mender.edits.change import Change, Function, Scope, Text, words_of
from goldseam.models.mender.program import MODULE_CODE, FileSeen, FunctionSeen, functions_in
from goldseam.models.mender.suspects import Suspect

FAMILIES = (operators.changes, numbers.changes, statements.changes, names.changes, calls.changes)
MAX_TEXT = 1_500
"""Characters of one replaced or replacing text: a small edit is small."""


class Proposal(Struct, frozen=True, kw_only=True):
    """Whole lines of a file in place of others. `line` is where they start."""

    path: str
    line: int
    old: str
    new: str
    what: str
    likelihood: float


def propose(
    files: Sequence[FileSeen], suspects: Sequence[Suspect], *, limit: int
) -> tuple[Proposal, ...]:
    """Return at most `limit` different edits, the likeliest first."""
    by_path = {file.path: file for file in files}
    best: dict[tuple[str, int, str], Proposal] = {}
    for suspect in suspects:
        file = by_path[suspect.function.path]
        lines = file.source.split("\n")
        for change in changes_of(file, suspect.function):
            proposal = _proposal(change, suspect, lines)
            key = (proposal.path, proposal.line, proposal.new)
            if _is_sound(proposal) and proposal.likelihood > _likelihood(best.get(key)):
                best[key] = proposal
    ranked = nlargest(limit, best.values(), key=lambda proposal: proposal.likelihood)
    return tuple(ranked)


def exact_texts(proposal: Proposal, source: str) -> tuple[str, str]:
    """Return old and new text with as many lines around that each stands once where it stands."""
    lines = source.split("\n")
    first, last = proposal.line - 1, proposal.line - 1 + proposal.old.count("\n") + 1
    new_source = "\n".join((*lines[:first], proposal.new, *lines[last:]))
    around, old, new = 0, proposal.old, proposal.new
    while source.count(old) > 1 or new_source.count(new) > 1:
        around += 1
        before, after = lines[max(0, first - around) : first], lines[last : last + around]
        old = "\n".join((*before, proposal.old, *after))
        new = "\n".join((*before, proposal.new, *after))
    return old, new


@lru_cache(maxsize=512)
def changes_of(file: FileSeen, function: FunctionSeen) -> tuple[Change, ...]:
    """Return every change that the families know for one function of `file`."""
    text, words = Text(file.source), words_of(file.tree)
    scopes = [Scope(owner, text, words=words) for owner in _owners(file.tree, function)]
    return tuple(change for scope in scopes for family in FAMILIES for change in family(scope))


def _owners(tree: ast.Module, function: FunctionSeen) -> list[Function | ast.Module]:
    if function.name == MODULE_CODE:
        return [tree]
    return [node for node, _ in functions_in(tree) if node.lineno == function.first_line]


def _proposal(change: Change, suspect: Suspect, lines: Sequence[str]) -> Proposal:
    first = change.splices[0].start[0]
    last = change.splices[-1].end[0]
    new = list(lines[first - 1 : last])
    for splice in reversed(change.splices):
        (start, start_column), (end, end_column) = splice.start, splice.end
        before = new[start - first][:start_column]
        after = new[end - first][end_column:]
        new[start - first : end - first + 1] = (before + splice.text + after).split("\n")
    heat = max((suspect.hot_lines.get(line, 1.0) for line in range(first, last + 1)), default=1.0)
    return Proposal(
        path=suspect.function.path,
        line=first,
        old="\n".join(lines[first - 1 : last]),
        new="\n".join(new),
        what=change.what,
        likelihood=suspect.blame * change.weight * heat,
    )


def _is_sound(proposal: Proposal) -> bool:
    longest = max(len(proposal.old), len(proposal.new))
    return proposal.old != proposal.new and bool(proposal.old.strip()) and longest <= MAX_TEXT


def _likelihood(proposal: Proposal | None) -> float:
    return -1.0 if proposal is None else proposal.likelihood
