"""A run that began and broke off, by a defect of ours or a lost record: what is left of it."""

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from goldseam.kernel.errors import JournalError
from goldseam.repair.outputs import write_outputs
from goldseam.repair.result import ExitCode, Result
from goldseam.repair.site import Site, patch_of


class RunBrokenError(Exception):
    """Raised from what broke the run; carries its result, whose files are written."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.message)
        self.result = result


class BrokenRun(Struct, frozen=True, kw_only=True):
    """What is known of a run without its state."""

    site: Site
    issue_title: str
    model: str
    sandbox: str
    folder: Path
    out: Path | None


def what_is_left(run: BrokenRun, error: Exception) -> Result:
    """Return the result of a run that `error` broke, its files written as far as they can be."""
    code = ExitCode.STOPPED if isinstance(error, JournalError) else ExitCode.DEFECT
    diff, warnings = _patch_left(run.site)
    result = Result(
        verdict=code.verdict,
        exit_code=int(code),
        message=_message(error),
        run_id=run.folder.name,
        issue=run.issue_title,
        model=run.model,
        sandbox=run.sandbox,
        record=str(run.folder),
        warnings=warnings,
    )
    try:
        return write_outputs(result, diff, folder=run.folder, out=run.out)
    except OSError as failure:
        warning = f"could not write into {run.folder}: {failure.strerror}"
        return replace(result, warnings=(*warnings, warning))


def _patch_left(site: Site) -> tuple[bytes, tuple[str, ...]]:
    try:
        diff = patch_of(site).diff
    except Exception as error:  # noqa: BLE001 - what broke the run may break this; that is told
        return b"", (f"no patch could be made of the workspace: {error}",)
    return diff, ("the patch is what the workspace held; nothing proves it",) if diff else ()


def _message(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, JournalError):
        return f"the record cannot be kept: {text}"
    return f"a defect of Goldseam, please report it: {type(error).__name__}: {text}"
