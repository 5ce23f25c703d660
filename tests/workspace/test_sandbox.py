"""What every sandbox promises, whatever its walls."""

from pathlib import Path

import anyio
import pytest
from sandbox_places import Place, make_place, sh, until, why_no_walls

from goldseam.workspace.errors import WorkspaceError
from goldseam.workspace.sandbox.bubblewrap import BubblewrapSandbox
from goldseam.workspace.sandbox.port import Command, Sandbox


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


@pytest.fixture
def walled(place: Place) -> BubblewrapSandbox:
    if why_no_walls() is not None:
        pytest.skip(f"no walls on this machine: {why_no_walls()}")
    return place.walled()


@pytest.fixture(params=["A", "D"])
def sandbox(request: pytest.FixtureRequest, place: Place) -> Sandbox:
    fitting: Sandbox = request.getfixturevalue("walled") if request.param == "A" else place.plain()
    return fitting


@pytest.mark.anyio
async def test_a_command_stands_in_the_tree_and_changes_it(sandbox: Sandbox, place: Place) -> None:
    result = await sh(sandbox, "pwd; cat real.txt; echo new > made.txt")
    assert result.output.text() == f"{sandbox.path_inside()}\nthe clone's"
    assert (place.tree / "made.txt").read_text(encoding="ascii") == "new\n"


@pytest.mark.anyio
async def test_a_command_may_stand_in_a_folder_of_the_tree(sandbox: Sandbox) -> None:
    result = await sandbox.run(Command(argv=("pwd",), cwd="sub", limit_s=20))
    assert result.output.text() == f"{sandbox.path_inside()}/sub\n"


@pytest.mark.anyio
@pytest.mark.parametrize("cwd", ["..", "/", "sub/../..", "absent", "real.txt", "out", "a\0b"])
async def test_a_command_stands_nowhere_else(  # security 11
    sandbox: Sandbox, place: Place, cwd: str
) -> None:
    (place.tree / "out").symlink_to("/")
    with pytest.raises(WorkspaceError, match=r"^cwd ") as caught:
        await sandbox.run(Command(argv=("pwd",), cwd=cwd, limit_s=20))
    assert str(place.tree) not in caught.value.message


@pytest.mark.anyio
async def test_the_environment_holds_what_is_allowed_and_no_secret(
    sandbox: Sandbox, place: Place
) -> None:
    told = (await sandbox.run(Command(argv=("env",), limit_s=20))).output.text()
    variables = dict(line.split("=", 1) for line in told.splitlines())
    assert "secret" not in told
    known = {*place.plain().environment, "PWD", "TMPDIR", "PYTHONPATH"}
    assert set(variables) <= known
    asked = {"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true", "PAGER": "cat", "TERM": "dumb"}
    assert variables.items() >= asked.items()  # agents 26


@pytest.mark.anyio
async def test_additions_win_but_the_trees_own_code_comes_first(
    sandbox: Sandbox, place: Place
) -> None:
    (place.tree / "src" / "package").mkdir(parents=True)
    (place.tree / "src" / "package" / "__init__.py").touch()
    command = Command(
        argv=("sh", "-c", "echo $TERM $PYTHONPATH"),
        env={"TERM": "ansi", "PYTHONPATH": "/more"},
        limit_s=20,
    )
    result = await sandbox.run(command)
    inside = sandbox.path_inside()
    first = "" if sandbox.level == "A" else f"{inside}:"
    assert result.output.text() == f"ansi {first}{inside}/src:/more\n"


@pytest.mark.anyio
async def test_home_and_temporary_folder_are_fresh_writable_and_gone_after(
    sandbox: Sandbox,
) -> None:
    result = await sh(sandbox, "ls -A $HOME/* $TMPDIR/x; echo 1 > $HOME/x && echo 2 > $TMPDIR/x")
    assert result.exit_code == 0
    again = await sh(sandbox, "cat $HOME/x $TMPDIR/x")
    assert again.exit_code == 1


@pytest.mark.anyio
async def test_input_is_given_and_then_closed(sandbox: Sandbox) -> None:
    result = await sandbox.run(Command(argv=("cat",), stdin=b"given\xff", limit_s=20))
    assert result.output.head == b"given\xff"
    assert (await sh(sandbox, "cat")).output.total == 0


@pytest.mark.anyio
@pytest.mark.parametrize(("script", "code"), [("exit 3", 3), ("exit 1", 1), ("kill -9 $$", -9)])
async def test_how_a_command_ended_is_told_alike(sandbox: Sandbox, script: str, code: int) -> None:
    assert (await sh(sandbox, script)).exit_code == code


@pytest.mark.anyio
async def test_a_command_that_takes_too_long_ends(sandbox: Sandbox) -> None:
    with anyio.fail_after(15):
        result = await sh(sandbox, "echo begun; sleep 60 & sleep 60", limit_s=0.5)
    assert (result.exit_code, result.timed_out, result.output.text()) == (None, True, "begun\n")


@pytest.mark.anyio
async def test_a_program_that_is_not_there_is_named(sandbox: Sandbox) -> None:
    with pytest.raises(WorkspaceError, match="no-such-program"):
        await sandbox.run(Command(argv=("no-such-program",), limit_s=20))


@pytest.mark.anyio
async def test_words_reach_the_program_as_they_are(sandbox: Sandbox) -> None:
    words = ("-n", "--", "a b", "$HOME", "`id`", "", "*", "é\n", "--args")
    result = await sandbox.run(Command(argv=("printf", "[%s]", *words), limit_s=20))
    assert result.output.text() == "".join(f"[{word}]" for word in words)


@pytest.mark.anyio
async def test_more_folders_can_be_made_writable_or_readable(
    sandbox: Sandbox, place: Place, tmp_path: Path
) -> None:
    exchange, library = tmp_path / "exchange", place.state / "library"
    exchange.mkdir()
    library.mkdir()
    (library / "text").write_text("read me", encoding="ascii")
    command = Command(
        argv=("sh", "-c", f"cp {library}/text {exchange}/copy"),
        limit_s=20,
        readable=(str(library),),
        writable=(str(exchange),),
    )
    assert (await sandbox.run(command)).exit_code == 0
    assert (exchange / "copy").read_text(encoding="ascii") == "read me"


@pytest.mark.anyio
async def test_the_same_place_for_another_tree(
    sandbox: Sandbox, place: Place, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    moved = sandbox.on(other)
    assert (await sh(moved, "pwd; echo x > here")).output.text() == f"{moved.path_inside()}\n"
    assert ((other / "here").exists(), (place.tree / "here").exists()) == (True, False)
    assert moved.level == sandbox.level


@pytest.mark.anyio
async def test_a_cancelled_command_is_gone(sandbox: Sandbox, place: Place) -> None:
    async def run() -> None:
        await sh(sandbox, "echo x > begun; sleep 0.4; echo x > not-reached")

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await until((place.tree / "begun").exists)
        group.cancel_scope.cancel()
    await anyio.sleep(0.6)
    assert not (place.tree / "not-reached").exists()
