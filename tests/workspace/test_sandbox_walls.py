"""Each forbidden thing is tried inside, and looked for outside."""

import os
import socket
import sys
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace
from sandbox_places import Place, make_place, sh, until, why_no_walls

from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.sandbox.bubblewrap import BubblewrapSandbox
from goldseam.workspace.sandbox.environment import interpreter_folders
from goldseam.workspace.sandbox.port import Command

TRIES_TO_CONNECT = """
import socket, sys
family, address = getattr(socket, sys.argv[1]), sys.argv[2]
with socket.socket(family, socket.SOCK_STREAM) as client:
    client.connect(address if family == socket.AF_UNIX else ("127.0.0.1", int(address)))
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


@pytest.fixture
def walled(place: Place) -> BubblewrapSandbox:
    if why_no_walls() is not None:
        pytest.skip(f"no walls on this machine: {why_no_walls()}")
    return place.walled()


async def python(sandbox: BubblewrapSandbox, *words: str) -> int | None:
    command = Command(
        argv=(sys.executable, "-I", "-S", "-c", *words),
        limit_s=20,
        readable=interpreter_folders(sys.executable),
    )
    return (await sandbox.run(command)).exit_code


@pytest.mark.anyio
@pytest.mark.parametrize(
    "script",
    [
        'echo x > "$ORIGIN/.venv/lib/package.py"',
        'echo x > "$ORIGIN/.venv/new"',
        'rm -rf "$ORIGIN/.venv/lib"',
        'mv "$ORIGIN/.venv" "$ORIGIN/.other"',
        "rm -rf .git/hooks",
        "echo x > .git/hooks/post-checkout",
        "mv .git .old && mkdir -p .git/hooks",  # security 33
        "chmod 777 .git/hooks",
        'chmod 777 "$ORIGIN/.venv/lib/package.py"',
        'touch -d 2001-01-01 "$ORIGIN/.venv/lib/package.py"',
        "mount -o remount,bind,rw / && echo x > /usr/.goldseam-test",
        "mount -t tmpfs none /mnt",
        "umount .git",
        "unshare -Ur true",
        "mknod device b 254 0",
        "echo x > /etc/.goldseam-test",
        "test -w /proc/sys/kernel/core_pattern",
        "test -w /proc/sys/vm/drop_caches",
        "test -w /proc/sysrq-trigger",
        "test -w /sys/kernel",
        "cat /etc/shadow",
        "cat /proc/1/root/etc/shadow",
        "cat $HOME_OUTSIDE/.ssh/id",
        "test -s $HOME_OUTSIDE/.netrc",
        "cat $STATE/journal",
        "ls $STATE/run",
        "ls -d /run/*",
        "kill -0 $AGENT",
        "ls -d /proc/$AGENT/environ",
        "grep -q net /proc/net/route",
    ],
)
async def test_what_is_forbidden_fails_and_changes_nothing(
    walled: BubblewrapSandbox, place: Place, script: str
) -> None:
    env = {
        "ORIGIN": str(place.workspace.origin),
        "HOME_OUTSIDE": str(place.home),
        "STATE": str(place.state),
        "AGENT": str(os.getpid()),
    }
    before = listing(place)
    result = await walled.run(Command(argv=("sh", "-c", script), env=env, limit_s=20))
    assert result.exit_code != 0, result.output.text()
    assert "secret" not in result.output.text()
    assert listing(place) == before
    assert [
        path.exists() for path in map(Path, ("/usr/.goldseam-test", "/etc/.goldseam-test"))
    ] == [
        False,
        False,
    ]


def listing(place: Place) -> dict[str, tuple[int, int, bytes]]:
    """Mode, size and content of all there is outside and of the clone's git; mount points apart."""
    top = place.state.parent
    return {
        str(path.relative_to(top)): (
            path.stat().st_mode,
            path.stat().st_mtime_ns if path.is_file() else 0,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in top.rglob("*")
        if path != place.tree / ".venv"
    }


@pytest.mark.anyio
async def test_the_users_files_stay_while_the_clones_in_their_place_change(
    walled: BubblewrapSandbox, place: Place
) -> None:
    origin = place.workspace.origin
    result = await sh(
        walled, f"cd {origin} && echo changed > real.txt && rm -rf sub && ls -A .venv"
    )
    assert result.output.text() == "lib\npyvenv.cfg\n"
    assert (place.tree / "real.txt").read_text(encoding="ascii") == "changed\n"
    assert (origin / "real.txt").read_text(encoding="ascii") == "the user's"


@pytest.mark.anyio
async def test_what_is_written_in_a_shared_place_is_gone_with_the_command(
    walled: BubblewrapSandbox, place: Place
) -> None:
    before = listing(place)
    beside = place.workspace.origin.parent / "beside"
    await sh(walled, f"echo x > {beside}; echo x > {place.home}/.ssh/id")
    assert listing(place) == before


@pytest.mark.anyio
async def test_no_loopback_listener_of_the_machine_can_be_reached(
    walled: BubblewrapSandbox,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0)
        port = str(listener.getsockname()[1])
        assert await python(walled, TRIES_TO_CONNECT, "AF_INET", port) == 1
        with pytest.raises(BlockingIOError):
            listener.accept()


@pytest.mark.anyio
async def test_no_unix_socket_in_a_shared_place_can_be_reached(  # lines that matter: 6
    walled: BubblewrapSandbox, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "docker.sock"))
        listener.listen()
        path = str(tmp_path / "docker.sock")
        assert await python(walled, TRIES_TO_CONNECT, "AF_UNIX", path) == 1


@pytest.mark.anyio
async def test_a_daemon_does_not_outlive_its_command(  # lines that matter: 8
    walled: BubblewrapSandbox, place: Place
) -> None:
    daemon = "(setsid sh -c 'echo x > begun; sleep 0.4; echo x > survived' >/dev/null 2>&1 &) &"
    await sh(walled, f"{daemon} while ! test -e begun; do sleep 0.01; done")
    await anyio.sleep(0.6)
    assert [(place.tree / name).exists() for name in ("begun", "survived")] == [True, False]


@pytest.mark.anyio
async def test_no_process_inside_shows_the_agents_environment_or_its_options(
    walled: BubblewrapSandbox,
) -> None:
    inside = await sh(walled, "cat /proc/[0-9]*/environ | tr '\\0' '\\n' | sort -u; ls /proc")
    numbers = [int(name) for name in inside.output.text().split() if name.isdigit()]
    assert max(numbers) < 20
    names = {line.partition("=")[0] for line in inside.output.text().splitlines() if "=" in line}
    assert names <= {*walled.environment, "TMPDIR", "PWD", "OLDPWD", "_", "SHLVL"}


@pytest.mark.anyio
async def test_the_list_of_processes_shows_the_command_and_none_of_the_walls(
    walled: BubblewrapSandbox, place: Place
) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(sh, walled, "echo x > begun; : a-mark-to-find; sleep 60")
        await until((place.tree / "begun").exists)
        shown = [line for line in command_lines() if b"a-mark-to-find" in line]
        group.cancel_scope.cancel()
    assert shown
    assert not [line for line in shown if b"bind" in line or os.fsencode(place.home) in line]


def command_lines() -> list[bytes]:
    lines = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            lines.append((process / "cmdline").read_bytes())
        except OSError:  # it has ended since
            continue
    return lines


@pytest.mark.anyio
async def test_programs_in_a_shared_place_can_be_shown_without_the_rest_of_it(
    walled: BubblewrapSandbox, tmp_path: Path
) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "text").write_text("shown", encoding="ascii")
    showing = replace(walled, readable=(str(tmp_path / "tools"), "/tmp", "/", "/absent"))
    result = await sh(
        showing, f"cat {tmp_path}/tools/text; ls -A {tmp_path}; touch {tmp_path}/tools/x"
    )
    assert result.output.text().splitlines()[:1] == ["showncode"]
    assert sorted(result.output.text().split()[:2]) == ["showncode", "tools"]
    assert not (tmp_path / "tools" / "x").exists()


@pytest.mark.anyio
async def test_no_variable_of_a_command_can_slip_in_an_option(
    walled: BubblewrapSandbox, place: Place
) -> None:
    env = {"A": f"x\0--bind\0{place.home}\0{place.home}"}
    with pytest.raises(WorkspaceError, match="null byte"):
        await walled.run(Command(argv=("true",), env=env, limit_s=20))
