"""Write what a repair gives: `patch.diff`, `result.json`, `report.md`."""

from pathlib import Path

import msgspec
from msgspec.structs import replace

from goldseam.repair.report import report_of
from goldseam.repair.result import Result

PATCH, RESULT, REPORT = "patch.diff", "result.json", "report.md"


def write_outputs(result: Result, diff: bytes, *, folder: Path, out: Path | None) -> Result:
    """Write into the run's `folder` first, so that nothing can be lost, then into `out`.

    Returns the result with the paths in it; what could not be written to `out` is a warning.
    """
    written = _write_into(folder, result, diff)
    if out is None:
        return written
    try:
        out.mkdir(parents=True, exist_ok=True)
        return _write_into(out, result, diff)
    except OSError as error:
        warning = f"could not write into {out} ({error.strerror}); the files are in {folder}"
        return replace(written, warnings=(*written.warnings, warning))


def _write_into(folder: Path, result: Result, diff: bytes) -> Result:
    result = replace(
        result,
        patch=str(folder / PATCH) if diff else None,
        report=str(folder / REPORT),
    )
    (folder / PATCH).unlink(missing_ok=True)
    if diff:
        (folder / PATCH).write_bytes(diff)
    text = report_of(result, diff.decode("utf-8", "replace"))
    (folder / REPORT).write_text(text, encoding="utf-8", errors="replace")
    (folder / RESULT).write_bytes(result_json(result, indent=2) + b"\n")
    return result


def result_json(result: Result, *, indent: int = 0) -> bytes:
    """Return the result as JSON; a name that is no valid Unicode shows its replacement."""
    clean = msgspec.convert(_sendable(msgspec.to_builtins(result)), Result)
    content = msgspec.json.encode(clean)
    return msgspec.json.format(content, indent=indent) if indent else content


def _sendable(value: object) -> object:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode("utf-8")
        case dict():
            return {key: _sendable(entry) for key, entry in value.items()}
        case list() | tuple():
            return [_sendable(entry) for entry in value]
        case _:
            return value
