"""The door of the command line. `--version` is answered before anything much is imported."""

import sys
from collections.abc import Sequence

from goldseam._version import __version__
from goldseam.cli.interrupts import Interrupted, heed_interrupts
from goldseam.cli.streams import settle_streams


def main() -> None:
    """Run the command that the process was given, and exit with its code."""
    heed_interrupts()
    out = settle_streams()
    words = sys.argv[1:]
    code = _answer(words)
    sys.stdout.flush()
    if out.loss is not None:
        sys.stderr.write(f"goldseam: standard output could not be written: {out.loss}\n")
        # A repair is in its files all the same; of the rest, what was to be shown is the whole.
        code = code if words[:1] == ["fix"] else code or 2
    sys.exit(code)


def _answer(words: Sequence[str]) -> int:
    if words == ["--version"]:
        sys.stdout.write(f"goldseam {__version__}\n")
        return 0
    try:
        from goldseam.cli.main import run_command_line  # noqa: PLC0415 - `--version` must be cheap

        return run_command_line(words)
    except Interrupted as told:
        from goldseam.cli.endings import ending_of  # noqa: PLC0415 - see above

        return ending_of(told).tell(as_json="--json" in words, out=sys.stdout, err=sys.stderr)


if __name__ == "__main__":
    main()
