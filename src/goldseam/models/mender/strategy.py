"""The repair, told from start to end as one script: see, suspect, try, edit, answer. Pure.

It sees the program through tools alone, never proposes to change a test, and changes the program
last, by the one edit that the tests accepted.
"""

from collections.abc import Iterator, Sequence

from goldseam.kernel.json_text import Json, write_json
from goldseam.models.mender.program import FileSeen
from goldseam.models.mender.proposals import Proposal, exact_texts, propose
from goldseam.models.mender.reading import TestsSeen, Trial, read_frames, read_tests, read_trials
from goldseam.models.mender.script import Answer, Script, Use
from goldseam.models.mender.seeing import see_files
from goldseam.models.mender.suspects import Evidence, rank

MAX_PROPOSALS = 1_500
BATCHES = (24, 60, 120, 180)
"""Edits tried by one call; later calls take the last number."""
BATCH_CHARACTERS = 24_000
"""Characters of one call: it must fit into one reply."""
MAX_NAMES = 6
"""Failing tests that each edit is tried against first."""
MAX_SURVIVORS = 20
MAX_ANSWERS = 3
FIRST_LIMIT_S = 120.0
HANGING_LIMIT_S = 5.0
"""Seconds of one trial where the tests do not end by themselves."""


def repair(issue: str) -> Script[None]:
    """Play the whole repair; what it yields last is an answer."""
    observed = yield Use(tool="run_tests", arguments={"limit_s": FIRST_LIMIT_S})
    tests = read_tests(observed.text)
    if observed.is_error or tests is None:
        yield Answer(text=_no_patch(f"the tests could not be run ({_first_line(observed.text)})."))
    elif not tests.failing:
        yield Answer(text=_no_patch(_nothing_to_go_by(tests)))
    else:
        files = yield from see_files(tests, issue)
        yield from _Trials(files, tests).play(_proposals(files, tests, issue))


def _proposals(files: Sequence[FileSeen], tests: TestsSeen, issue: str) -> tuple[Proposal, ...]:
    frames = read_frames(tests.output)
    evidence = Evidence(issue=issue, failing=tests.failing, frames=frames)
    return propose(files, rank(files, evidence), limit=MAX_PROPOSALS)


class _Trials:
    """The trying of edits: what is known of the failure, and how often an edit was made."""

    def __init__(self, files: Sequence[FileSeen], tests: TestsSeen) -> None:
        self._sources = {file.path: file.source for file in files}
        self._tests = tests
        self._names = tests.failing[:MAX_NAMES]
        self._tried = 0
        self._answers = 0
        self._left = " The files are as they were."

    def play(self, proposals: Sequence[Proposal]) -> Script[None]:
        """Try in batches; make the first edit that all tests accept, else none."""
        helpful: list[tuple[int, Proposal]] = []
        for batch in batches(proposals):
            trials = yield from self._try(batch, self._names)
            pairs = list(zip(trials, batch, strict=False))
            self._tried += sum(trial.verdict != "NOT TRIED" for trial in trials)
            survivors = [proposal for trial, proposal in pairs if trial.verdict == "PASS"]
            helpful += [(trial.passed, it) for trial, it in pairs if trial.verdict == "FAIL"]
            sound = yield from self._sound(survivors, mended=len(self._names))
            for proposal in sound:
                if self._answers < MAX_ANSWERS:
                    said = f"Of {self._tried} small edits tried, it is the likeliest that"
                    yield from self._make(proposal, said=said)
            if not trials or self._answers >= MAX_ANSWERS:
                break
        yield from self._mend_half(helpful)
        yield Answer(text=f"No patch: {self._in_vain()}{self._left}")

    def _try(self, batch: Sequence[Proposal], names: Sequence[str]) -> Script[tuple[Trial, ...]]:
        """Return a verdict for each of `batch`, none at all where trying is not possible."""
        arguments: dict[str, Json] = {"alternatives": [_alternative(it) for it in batch]}
        if names:
            arguments["names"] = list(names)
        if self._tests.timed_out:
            arguments["limit_s"] = HANGING_LIMIT_S
        observed = yield Use(tool="try_edits", arguments=arguments)
        return () if observed.is_error else read_trials(observed.text, len(batch))

    def _sound(self, survivors: Sequence[Proposal], *, mended: int) -> Script[list[Proposal]]:
        """Return those of `survivors` after which no more tests fail than are left to mend."""
        chosen = survivors[:MAX_SURVIVORS]
        if not chosen:
            return []
        trials = yield from self._try(chosen, ())
        left = self._tests.bad - mended
        good = [
            (trial.failed, rank)
            for rank, trial in enumerate(trials)
            if trial.verdict == "PASS" or (trial.verdict == "FAIL" and 0 < trial.failed <= left)
        ]
        return [chosen[rank] for _, rank in sorted(good)]

    def _mend_half(self, helpful: Sequence[tuple[int, Proposal]]) -> Script[None]:
        """Make the edit that mends at least half of the failing tests and breaks none."""
        most = max((passed for passed, _ in helpful), default=0)
        if self._answers or most == 0 or most * 2 < len(self._names):
            return
        best = [proposal for passed, proposal in helpful if passed == most]
        for proposal in (yield from self._sound(best, mended=most))[:1]:
            said = f"It mends {most} of the {len(self._names)} failing tests looked at, not all; it"
            yield from self._make(proposal, said=said)

    def _make(self, proposal: Proposal, *, said: str) -> Script[None]:
        """Make the edit and answer; where the answer is not believed, take the edit back."""
        old, new = exact_texts(proposal, self._sources[proposal.path])
        there: dict[str, Json] = {"path": proposal.path, "old_text": old, "new_text": new}
        observed = yield Use(tool="edit_file", arguments=there)
        if observed.is_error:
            return
        self._answers += 1
        yield Answer(
            text=f"Changed {proposal.path}, line {proposal.line}: {proposal.what}. {said} makes "
            "failing tests pass and breaks none; whether it is what was meant, a reader must say."
        )
        back: dict[str, Json] = {"path": proposal.path, "old_text": new, "new_text": old}
        observed = yield Use(tool="edit_file", arguments=back)
        if observed.is_error:
            self._answers = MAX_ANSWERS
            self._left = f" The edit of {proposal.path} could not be taken back."

    def _in_vain(self) -> str:
        if not self._tried:
            return "no source file that the failing tests use could be found and tried."
        return (
            f"{self._tried} small edits were tried against {self._tests.bad} failing tests, and "
            "none was accepted by all tests. builtin:mender knows mistakes of one place alone."
        )


def _alternative(proposal: Proposal) -> Json:
    edit: dict[str, Json] = {
        "path": proposal.path,
        "old_text": proposal.old,
        "new_text": proposal.new,
        "line": proposal.line,
    }
    return {"edits": [edit]}


def batches(proposals: Sequence[Proposal]) -> Iterator[list[Proposal]]:
    """Yield `proposals` in pieces, each small enough for one reply."""
    sizes = iter(BATCHES)
    size, room, batch = next(sizes), BATCH_CHARACTERS, list[Proposal]()
    for proposal in proposals:
        cost = len(write_json(_alternative(proposal)))
        if batch and (len(batch) == size or cost > room):
            yield batch
            size, room, batch = next(sizes, BATCHES[-1]), BATCH_CHARACTERS, []
        batch.append(proposal)
        room -= cost
    if batch:
        yield batch


def _no_patch(why: str) -> str:
    return f"No patch: {why} The files are as they were."


def _nothing_to_go_by(tests: TestsSeen) -> str:
    if tests.timed_out:
        return "the tests did not end in time, and none of them is known to fail."
    return (
        f"all {tests.passed} tests pass, so nothing shows what is wrong. builtin:mender needs a "
        "test that fails: add one for this issue, or use another model."
    )


def _first_line(text: str) -> str:
    return (text.strip().splitlines() or ["no answer"])[0][:200]
