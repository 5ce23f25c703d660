"""Level A: commands run behind bubblewrap, in name spaces of their own.

Inside, the machine is read-only and without its secrets, there is no network, no other process, and
the tree stands at the repository's own path, with the user's environment folders read-only in their
places. All of the tree's `.git` is read-only, since hooks and settings in it would run with whoever
uses git there, outside: a commit inside says "Read-only file system".
Walls are claimed only once `self_test` has proved them; see `open`.
"""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.process import ProcessResult, Program, run_program
from goldseam.workspace.sandbox.environment import with_additions
from goldseam.workspace.sandbox.masks import lies_beneath, masked_places, scratch_places
from goldseam.workspace.sandbox.port import Command, Level
from goldseam.workspace.sandbox.tree import folder_in, import_paths

HOME_INSIDE = "/tmp/home"  # noqa: S108 - a place in the sandbox's own empty /tmp

_SHELL_SIGNAL_BASE = 128
_LAST_SIGNAL = 64
_COMPLAINT = re.compile(rb"bwrap: [^\n]*\n?\Z")
"""All that a start which failed says."""


class BubblewrapSandbox(Struct, frozen=True, kw_only=True):
    """Runs each command in a sandbox of its own; nothing but the tree outlives the command."""

    executable: str
    tree: Path
    origin: Path
    """The repository's own path: where the tree stands inside."""
    folders: tuple[str, ...] = ()
    """Environment folders of the repository at `origin`, relative to it."""
    environment: dict[str, str]
    """As of `command_environment`."""
    home: Path
    """The user's real home, whose secrets are masked."""
    hidden: tuple[Path, ...] = ()
    readable: tuple[str, ...] = ()
    """As `Command.readable`, for each command."""
    nested: bool = False
    """Whether more user name spaces may be made inside: only where bubblewrap cannot forbid it."""

    @property
    def level(self) -> Level:
        """A: walls."""
        return "A"

    @property
    def banner(self) -> str:
        """One line; what no wall is there for is said too."""
        return (
            "sandbox: A bubblewrap (files ✓ network ✓ processes ✓ secrets ✓ memory ✗: no limit set)"
        )

    def path_inside(self) -> str:
        """Return the repository's own path."""
        return os.path.realpath(self.origin)

    def on(self, tree: Path) -> Self:
        """Return the same for another tree; see `Sandbox.on`."""
        return replace(self, tree=tree)

    async def run(self, command: Command) -> ProcessResult:
        """Run `command`; see `Sandbox.run`.

        The sandbox dies with the *thread* that started it, which is the event loop's.
        """
        with _as_descriptor(self.options(command)) as fd:
            program = Program(
                # Only the command itself can be seen from outside (`ps`); and bubblewrap's own
                # environment is empty, for the sandbox's first process shows it to all others.
                argv=(self.executable, "--args", str(fd), "--", *command.argv),
                cwd=Path("/"),
                stdin=command.stdin,
                fds=(fd,),
                listener=command.listener,
            )
            return _as_if_direct(await run_program(program, limit_s=command.limit_s))

    def options(self, command: Command) -> list[str]:
        """Return bubblewrap's options for `command`. Order matters: a later mount covers earlier.

        Raises:
            WorkspaceError: the folder to run in is not one of the tree.
        """
        inside = self.path_inside()
        cwd = folder_in(self.tree, command.cwd).relative_to(self.tree.resolve())
        masks = masked_places(self.home, self.hidden)
        return [
            *_walls(nested=self.nested),
            *_hide(masks),
            *_readable((*self.readable, *command.readable), masked=(*masks, *scratch_places())),
            *_tree(str(self.tree), inside),
            *_environment_folders(inside, self.folders),
            *(option for place in command.writable for option in ("--bind", place, place)),
            *self._variables(command, inside),
            *("--chdir", str(Path(inside) / cwd)),
        ]

    def _variables(self, command: Command, inside: str) -> list[str]:
        own = {**self.environment, "HOME": HOME_INSIDE, "TMPDIR": "/tmp"}  # noqa: S108 - as above
        paths = import_paths(self.tree, inside=Path(inside))
        if paths:
            own["PYTHONPATH"] = os.pathsep.join(paths)
        variables = with_additions(own, command.env)
        pairs = (("--setenv", name, value) for name, value in variables.items())
        return ["--clearenv", *(word for pair in pairs for word in pair)]


def _walls(*, nested: bool) -> list[str]:
    """Return what holds whatever the command: name spaces, no powers, all of the machine read-only.

    As root the powers must be dropped by name: with them all of it could be mounted writable again.
    And root, even without powers, owns the switches of the kernel in /proc/sys: one of them names a
    program that the kernel runs outside, so that all of /proc is read-only too.
    """
    options = ["--unshare-user", "--unshare-all", "--die-with-parent", "--new-session"]
    options += [] if nested else ["--disable-userns"]
    options += ["--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev"]
    options += ["--proc", "/proc", "--remount-ro", "/proc"]
    for place in scratch_places():
        options += ["--tmpfs", place]
    return [*options, "--dir", HOME_INSIDE]


def _hide(places: tuple[str, ...]) -> Iterator[str]:
    """Cover folders with empty ones, all else with nothing at all."""
    for place in places:
        if Path(place).is_dir():
            yield from ("--tmpfs", place)
        else:
            yield from ("--ro-bind", "/dev/null", place)


def _readable(places: tuple[str, ...], *, masked: tuple[str, ...]) -> Iterator[str]:
    """Show `places` again where a mask covers them; never a masked folder as a whole."""
    for place in places:
        if lies_beneath(place, masked) and Path(place).exists():
            yield from ("--ro-bind", place, place)


def _tree(tree: str, inside: str) -> Iterator[str]:
    """Put the tree in its place. A mount point cannot be renamed, so `.git` stays what it is."""
    yield from ("--bind", tree, inside)
    git = Path(tree) / ".git"
    if git.exists() and not git.is_symlink():
        yield from ("--ro-bind", str(git), f"{inside}/.git")


def _environment_folders(origin: str, folders: tuple[str, ...]) -> Iterator[str]:
    for folder in folders:
        place = f"{origin}/{folder}"
        if Path(place).is_dir():
            yield from ("--ro-bind", place, place)


@contextlib.contextmanager
def _as_descriptor(options: list[str]) -> Iterator[int]:
    """Give the options in a file in memory, a zero byte behind each: so that none may hold one."""
    if any("\0" in option for option in options):
        raise WorkspaceError("the command could not be started: embedded null byte")
    fd = os.memfd_create("options")
    try:
        with open(fd, "wb", closefd=False) as file:
            file.write(b"".join(os.fsencode(option) + b"\0" for option in options))
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)


def _as_if_direct(result: ProcessResult) -> ProcessResult:
    """Turn bubblewrap's way of telling how the command ended into that of a direct start."""
    code = result.exit_code
    if code == 1 and _COMPLAINT.match(result.output.head):
        complaint = result.output.text().removeprefix("bwrap: ").strip()
        raise WorkspaceError(f"the command could not be started: {complaint}")
    if code is not None and _SHELL_SIGNAL_BASE < code <= _SHELL_SIGNAL_BASE + _LAST_SIGNAL:
        return replace(result, exit_code=_SHELL_SIGNAL_BASE - code)
    return result
