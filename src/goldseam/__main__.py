"""The door of the command line. `--version` is answered before anything is imported."""

import sys

from goldseam._version import __version__


def main() -> None:
    """Run the command that the process was given, and exit with its code."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"goldseam {__version__}\n")
        return
    from goldseam.cli.main import run_command_line  # noqa: PLC0415 - the line above must stay cheap

    sys.exit(run_command_line(sys.argv[1:]))


if __name__ == "__main__":
    main()
