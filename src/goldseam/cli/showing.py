"""What `goldseam show` and `goldseam export` do."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import msgspec
from msgspec import Struct

from goldseam.app.exporting import VENDOR_FORMATS, vendor_body
from goldseam.app.settings import hosts_of, read_settings
from goldseam.app.world import home_of
from goldseam.journal.asking import asked_in_step
from goldseam.journal.export_atif import atif_text
from goldseam.journal.export_markdown import markdown_of
from goldseam.journal.html import Finding, page_of
from goldseam.journal.readable import readable
from goldseam.journal.reading import ReadRecord
from goldseam.journal.runs import find_run
from goldseam.journal.store import read_run
from goldseam.journal.summaries import summary_of
from goldseam.journal.telling import step_lines, summary_lines
from goldseam.journal.viewing import view_of
from goldseam.journal.visible import visible
from goldseam.kernel.errors import JournalError, UsageError
from goldseam.kernel.request import Remark
from goldseam.repair.outputs import PATCH

_ENDINGS = {".html", ".htm"}


class ShowWords(Struct, frozen=True, kw_only=True):
    """The words of one `goldseam show`; `page` is empty where no file was named."""

    run: str
    events: bool = False
    step: int | None = None
    as_json: bool = False
    page: str | None = None


def show_run(words: ShowWords) -> None:
    """Show a run as the words say.

    Raises:
        UsageError: there is no such run or step, its record cannot be read, or a file not written.
    """
    if words.as_json and not words.events and words.step is None:
        raise UsageError("--json goes with --step N or --events; `goldseam runs --json` lists runs")
    with _mendable():
        folder = find_run(home_of(os.environ), words.run)
        record = read_run(folder)
        if words.page is not None:
            _write_page(folder, record, words.page)
        elif words.step is not None:
            _show_step(folder, record, words.step, as_json=words.as_json)
        elif words.events:
            _show_events(record, as_json=words.as_json)
        else:
            _write_lines(summary_lines(view_of(folder.name, record)))
            _show_ways_on(folder.name)


def export_run(name: str, form: str) -> None:
    """Write a run to standard output in another form; what the form cannot say is told beside it.

    Raises:
        UsageError: there is no such run, or its record cannot be read.
    """
    with _mendable():
        folder = find_run(home_of(os.environ), name)
        record = read_run(folder)
        _tell_gaps(record)
        if form in VENDOR_FORMATS:
            catalog = hosts_of(read_settings(os.environ))
            exported = vendor_body(record, form, catalog=catalog)
            sys.stdout.write(exported.text)
            _tell(f"written as {exported.model} is sent it")
            for code, losses in groupby(sorted(exported.losses, key=_code), key=_code):
                first, *more = losses
                also = f" (and {len(more):,} more)" if more else ""
                _tell(f"not said as it was, {code}: {first.text}{also}")
            return
        run = view_of(folder.name, record)
        sys.stdout.write(atif_text(run) if form == "atif" else markdown_of(run))


def _show_step(folder: Path, record: ReadRecord, number: int, *, as_json: bool) -> None:
    asked = asked_in_step(record, number)
    run = view_of(folder.name, record)
    step = next(step for step in run.steps if step.number == number)
    _tell_gaps(record)
    if not as_json:
        _write_lines(step_lines(asked, step))
        return
    request = {
        "history": [msgspec.to_builtins(item) for item in asked.request.history],
        "tools": msgspec.to_builtins(asked.request.tools),
        "max_output_tokens": asked.request.max_output_tokens,
    }
    told = {
        "type": "step",
        "step": number,
        "model": asked.model or step.model,
        "request": request,
        "ending": msgspec.to_builtins(step.ending),
        "calls": msgspec.to_builtins(step.calls),
    }
    sys.stdout.write(json.dumps(told, separators=(",", ":")) + "\n")


def _show_events(record: ReadRecord, *, as_json: bool) -> None:
    if as_json:
        _tell_gaps(record)
        events = (
            {"seq": entry.link.seq, "time": entry.time, **msgspec.to_builtins(entry.event)}
            for entry in record.entries
        )
        _write_lines(json.dumps(event, separators=(",", ":")) for event in events)
    else:
        _write_lines(readable(record))


def _show_ways_on(run_id: str) -> None:
    _write_lines((
        "",
        f"goldseam show {run_id} --step N   the exact request and reply of a step",
        f"goldseam show {run_id} --events   every event",
        f"goldseam show {run_id} --html     a page for a browser",
    ))


def _write_page(folder: Path, record: ReadRecord, name: str) -> None:
    run = view_of(folder.name, record)
    page = page_of(run, _finding(folder)).encode()
    if name == "-":
        sys.stdout.buffer.write(page)
        return
    path = Path(name or f"{folder.name}.html")
    if path.suffix.lower() not in _ENDINGS:
        raise UsageError(f"--html writes a file such as {folder.name}.html, not {name!r}")
    try:
        # The record is its owner's alone, and so is the page until the owner shares it.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(page)
    except OSError as error:
        raise UsageError(f"cannot write {str(path)!r}: {error.strerror}") from error
    sys.stdout.write(f"{visible(str(path))}\n")


def _finding(folder: Path) -> Finding:
    try:
        summary = summary_of(folder)
    except OSError as error:
        raise JournalError(f"{folder}: {error.strerror}") from error
    try:
        patch = (folder / PATCH).read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        patch = ""
    return Finding(verdict=summary.verdict or "", message=summary.message, patch=patch)


def _code(loss: Remark) -> str:
    return loss.code


def _tell_gaps(record: ReadRecord) -> None:
    for gap in record.gaps:
        _tell(f"the record is not whole: {gap.why}")


def _tell(line: str) -> None:
    sys.stderr.write(f"goldseam: {visible(line)}\n")


def _write_lines(lines: "Iterator[str] | tuple[str, ...]") -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)


@contextmanager
def _mendable() -> Iterator[None]:
    """A record that cannot be read is a thing for the person, who named it."""
    try:
        yield
    except JournalError as error:
        raise UsageError(str(error)) from error
