"""Does each wall hold? Do the forbidden thing inside, and look from outside whether it came about.

That a mechanism was applied without an error proves nothing. It knows the port alone, so that a
place without walls can be put to the same test and must fail it.
"""

import contextlib
import os
import secrets
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import anyio
from msgspec import Struct

from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.sandbox.port import Command, Sandbox

Wall: TypeAlias = Literal["files", "network", "processes", "secrets"]

_LIMIT_S = 10.0
_DAEMON_DEATH_S = 2.0

# All but the last line fails where the walls hold. What came of it is looked for outside; "done"
# says that all was tried, and that what must work does.
_ATTEMPTS = """
mount -o remount,bind,rw / 2>/dev/null
test -w /proc/sys/kernel/core_pattern && echo writable: kernel switches
while read -r place; do ( echo x > "$place" ) 2>/dev/null; done
cat "$1/secret/file" 2>/dev/null
cat /proc/[0-9]*/environ 2>/dev/null
if command -v bash >/dev/null; then
  bash -c "exec 3<>/dev/tcp/127.0.0.1/$2" 2>/dev/null
elif command -v curl >/dev/null; then
  curl -s -m 1 "http://127.0.0.1:$2"
else
  wget -q -T 1 -O /dev/null "http://127.0.0.1:$2" 2>/dev/null
fi
readlink /proc/self/ns/net
exec 9> "$1/shared/life"
if command -v setsid >/dev/null; then
  setsid sleep 5 >/dev/null 2>&1 </dev/null &
else
  sleep 5 >/dev/null 2>&1 </dev/null &
fi
echo x > "$3" && echo x > "${TMPDIR:-/tmp}/$4" && cat "$3" >/dev/null && echo done
"""


class Attempt(Struct, frozen=True, kw_only=True):
    """What a self-test needs: a folder of its own, and what it must not be able to change."""

    folder: Path
    """Made by `prepare`; its `secret` must be among what the sandbox hides."""
    tree: Path
    origin: Path
    folders: tuple[str, ...] = ()


def prepare(folder: Path) -> None:
    """Lay out what the test looks for: a secret, and a pipe that says whether a writer is alive."""
    (folder / "secret").mkdir()
    (folder / "shared").mkdir()
    os.mkfifo(folder / "shared" / "life")


async def walls_down(sandbox: Sandbox, attempt: Attempt) -> tuple[Wall, ...]:
    """Return the walls of `sandbox` that do not hold.

    Raises:
        WorkspaceError: it cannot run commands, or not even what must work in it works.
        OSError: the test could not be laid out.
    """
    token = secrets.token_hex(8)
    (attempt.folder / "secret" / "file").write_text(token, encoding="ascii")
    outside = _forbidden_places(attempt, token)
    allowed = attempt.tree / f".goldseam-{token}"
    life = os.open(attempt.folder / "shared" / "life", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with socket.create_server(("127.0.0.1", 0)) as listener, _witness(token):
            listener.settimeout(0)
            result = await sandbox.run(_command(sandbox, attempt, (listener, token, outside)))
            output = result.output.head + result.output.tail
            if not output.endswith(b"done\n") or not allowed.exists():
                raise WorkspaceError(f"a harmless command failed in it: {_last_line(output)}")
            down: dict[Wall, bool] = {
                "files": _clear(outside) or b"writable: kernel" in output,
                "network": _was_reached(listener) or _own_network() in output,
                "processes": not await _ends(life),
                "secrets": token.encode() in output,
            }
    finally:
        os.close(life)
        _clear((*outside, allowed))
    return tuple(wall for wall, is_down in down.items() if is_down)


def _forbidden_places(attempt: Attempt, token: str) -> tuple[Path, ...]:
    """Return files that no command may make: beside the repository, in it, in what it reads."""
    origin = attempt.origin
    folders = [origin.parent, origin, *(origin / folder for folder in attempt.folders)]
    folders += [attempt.tree / ".git"]
    if (attempt.tree / ".git").is_dir():
        return tuple(folder / f".goldseam-{token}" for folder in folders)
    return tuple(folder / f".goldseam-{token}" for folder in folders[:-1])


def _command(
    sandbox: Sandbox, attempt: Attempt, marks: tuple[socket.socket, str, tuple[Path, ...]]
) -> Command:
    listener, token, outside = marks
    inside = sandbox.path_inside()
    own_git = attempt.tree / ".git"
    places = [
        f"{inside}/.git/{place.name}" if place.parent == own_git else str(place)
        for place in outside
    ]
    port = listener.getsockname()[1]
    script_arguments = (str(attempt.folder), str(port), f"{inside}/.goldseam-{token}", token)
    return Command(
        argv=("sh", "-c", _ATTEMPTS, "sh", *script_arguments),
        limit_s=_LIMIT_S,
        stdin="".join(f"{place}\n" for place in places).encode(),
        writable=(str(attempt.folder / "shared"),),
    )


@contextlib.contextmanager
def _witness(token: str) -> Iterator[None]:
    """Keep a process outside that holds `token` in its environment, as ours holds keys."""
    with subprocess.Popen(
        ["/bin/cat"], env={"GOLDSEAM_WITNESS": token}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as witness:
        try:
            yield
        finally:
            witness.kill()


def _was_reached(listener: socket.socket) -> bool:
    try:
        connection, _ = listener.accept()
    except BlockingIOError:
        return False
    connection.close()
    return True


def _clear(places: tuple[Path, ...]) -> bool:
    """Take away those of `places` that are there, and return whether any was."""
    there = [place for place in places if os.path.lexists(place)]
    for place in there:
        place.unlink()
    return bool(there)


def _own_network() -> bytes:
    return str(Path("/proc/self/ns/net").readlink()).encode()


async def _ends(life: int) -> bool:
    """Return whether all that held the other end of `life` is gone."""
    with anyio.move_on_after(_DAEMON_DEATH_S):
        await anyio.wait_readable(life)
        return os.read(life, 1) == b""
    return False


def _last_line(output: bytes) -> str:
    lines = output.decode(errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "it printed nothing")[:200]
