"""What a model is shown of a program's output, and where the whole of it is."""

from msgspec import Struct

from goldseam.tools.context import ToolContext
from goldseam.tools.folding import fold_stacks
from goldseam.tools.large import Kept, shown_with_file
from goldseam.tools.observation import LIMIT_BYTES, cut, ends_of, without_roots
from goldseam.workspace.downloads import Spool
from goldseam.workspace.media import SNIFFED_BYTES, media_type
from goldseam.workspace.process import Output, is_binary

_TO_SEE_ALL = "send the output to a file to read all"


class Ending(Struct, frozen=True, kw_only=True):
    """How a program ended, in one line: above its output, or where it printed nothing."""

    told: str
    silent: str


class Shown(Struct, frozen=True, kw_only=True):
    """An output for a model, clean and within limits; and all that is held, for the record."""

    text: str
    full_text: str


def shown_output(
    ending: Ending, output: Output, spool: Spool, *, context: ToolContext, lever: str
) -> Shown:
    """Return how the program ended and below it its output.

    `spool` has heard the same output and is closed here. It is saved where not all is shown.
    """
    try:
        if is_binary(output.head[:SNIFFED_BYTES]) or is_binary(output.tail[-SNIFFED_BYTES:]):
            return _binary(ending, output, spool)
        printed = without_roots(output.text(), context.roots).rstrip()
        whole = f"{ending.told}\n{printed}" if printed else ending.silent
        folded = fold_stacks(whole, lever=_TO_SEE_ALL)
        if (
            folded == whole
            and spool.path is None
            and ends_of(whole, limit_bytes=LIMIT_BYTES) is None
        ):
            return Shown(text=whole, full_text=whole)
        spool.save(".txt")
        kept = kept_output(spool)
        if kept is None:
            return Shown(text=cut(folded, lever=lever), full_text=whole)
        folded = fold_stacks(whole, lever=f"all are in {kept.path}")
        # Where lines were folded, or made of carriage returns, the file counts others.
        first_line = 1 if folded == whole and b"\r" not in output.head else None
        text = shown_with_file(folded, kept, lever=lever, first_line=first_line)
        return Shown(text=text, full_text=whole)
    finally:
        spool.close()


def kept_output(spool: Spool) -> Kept | None:
    """Return what the file of `spool` is; none where there is no such file."""
    if spool.path is None:
        return None
    is_whole = spool.kept == spool.size
    return Kept(path=spool.path, size=spool.size, lines=spool.lines, is_whole=is_whole)


def _binary(ending: Ending, output: Output, spool: Spool) -> Shown:
    kind, suffix = media_type(output.head)
    spool.save(suffix)
    what = "" if kind == "text/plain" else f" ({kind})"
    where = "" if spool.path is None else f", whole in {spool.path}"
    text = f"{ending.told}\n[binary output{what}, {output.total:,} bytes{where}]"
    return Shown(text=text, full_text=text)
