"""Whatever bytes come from any tool, and whatever is edited: an observation, within limits."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from goldseam.kernel.conversation import ToolCall, arguments_of
from goldseam.tools.context import ToolContext
from goldseam.tools.observation import LIMIT_BYTES, failure_text
from goldseam.tools.policy import default_rules
from goldseam.tools.tool import Output, Tool
from goldseam.tools.toolbox import Policy, Toolbox
from goldseam.workspace.edit_series import Replacement, edit_in_turn
from goldseam.workspace.process import Output as ProgramOutput
from goldseam.workspace.process import ProcessResult

SHARED = [HealthCheck.function_scoped_fixture]


class Nothing(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


raw = st.one_of(
    st.binary(max_size=300),
    st.binary(min_size=1, max_size=30).map(lambda piece: piece * 5_000),
    st.lists(
        st.sampled_from([
            b"\xff",
            b"\0",
            b"\x1b[31m",
            b"\x1b]0;title\x07",
            b"\r",
            b"\r\n",
            b'  File "/x/y.py", line 3, in f\n    g()\n',
            b"Traceback (most recent call last):\n",
            "\u202e".encode(),
            b"/home/ada/app/x ",
        ]),
        max_size=60,
    ).map(b"".join),
)


def observe(toolbox: Toolbox, tool: str, **arguments: Any) -> tuple[str, str]:
    call = ToolCall(call_id="1", tool_name=tool, arguments=arguments_of(arguments))
    result = anyio.run(toolbox.execute, call).result
    assert result.content
    assert len(result.content.encode()) <= LIMIT_BYTES
    # Encoding is the proof that no half character is left.
    assert result.content.encode().decode() == result.content
    return result.kind, result.content


@given(raw, st.sampled_from([0, 1, -9, None]))
@settings(max_examples=80, suppress_health_check=SHARED, deadline=None)
def test_any_bytes_of_a_program_are_observed(
    toolbox: Toolbox, sandbox: Any, content: bytes, code: int | None
) -> None:
    # agents 27, security part 6
    output = ProgramOutput.of(content)
    sandbox.results.append(
        ProcessResult(exit_code=code, timed_out=code is None, output=output, seconds=0.1)
    )
    kind, text = observe(toolbox, "run_command", command="x")
    assert kind == ("failed" if code is None else "done")
    assert "\x1b" not in text
    assert "\0" not in text


@given(raw, st.integers(1, 50), st.integers(1, 50))
@settings(max_examples=80, suppress_health_check=SHARED, deadline=None)
def test_any_bytes_of_a_file_are_read_and_edited_or_refused(
    toolbox: Toolbox, tree: Path, content: bytes, start: int, column: int
) -> None:
    # F7, agents 27
    for name in ("f", "f.ipynb"):
        (tree / name).write_bytes(content)
        observe(toolbox, "read_file", path=name, start_line=start, start_column=column)
        observe(toolbox, "read_file", path=name, start_line=1, end_line=1, start_column=column)
    kind, _ = observe(toolbox, "edit_file", path="f", old_text="x", new_text="y")
    hunk = "*** Begin Patch\n*** Update File: f\n-x\n+y\n*** End Patch"
    patched, _ = observe(toolbox, "apply_patch", patch=hunk)
    if kind == patched == "failed":
        assert (tree / "f").read_bytes() == content


@given(
    st.text(max_size=200)
    | st.text(min_size=1, max_size=20).map(lambda text: text * 9_000)
    | st.just("\ud800" * 90_000)
    | st.just("x\n" * 90_000)
)
@settings(max_examples=60, suppress_health_check=SHARED, deadline=None)
def test_any_text_of_a_foreign_tool_is_observed(context: ToolContext, text: str) -> None:
    async def run(_given: Any, _context: ToolContext) -> Output:
        return Output(text=text or "-", full_text=text)

    async def fail(_given: Any, _context: ToolContext) -> Output:
        raise RuntimeError(text)

    policy = Policy(defaults=default_rules(walls_hold=True), somebody_is_there=False)
    for deed in (run, fail):
        tool = Tool(name="odd", arguments=Nothing, run=deed, description=lambda: "Odd.")
        observe(Toolbox((tool,), context=context, policy=policy), "odd")


@given(st.text(max_size=500) | st.text("/ab.\\:0x \n", max_size=80))
def test_any_error_is_told_in_one_line_that_names_no_place_of_the_host(message: str) -> None:
    # A4.3
    told = failure_text(f"{message} /srv/secret/app.py at 0x7f00aa11", ("/home/ada/app",))
    assert told
    assert "\n" not in told
    assert "/srv/secret" not in told
    assert "0x7f00aa11" not in told
    assert len(told) <= 400


# Edits --------------------------------------------------------------------------------------------

ends = st.sampled_from([b"\n", b"\r\n", b"\r", b""])
odd = st.sampled_from([
    b"\xff",
    b"\xc3",
    b"\t",
    "\u00a0".encode(),
    b"  ",
    b"caf\xe9",
    b"x = 1",
    b"\0",
])
lines = st.tuples(st.lists(odd, max_size=4).map(b"".join), ends).map(b"".join)


class Placed(Struct, frozen=True, kw_only=True):
    """A file with one place to edit, all that is around it, and what the edit is asked for as."""

    before: bytes
    place: bytes
    after: bytes
    old: str
    new: str

    def check(self, edited: bytes) -> None:
        assert edited.startswith(self.before)
        # Where the line end itself was to go, what stands behind it is left.
        after = self.after.removeprefix(b"\n") if self.old.endswith("\n") else self.after
        assert edited.endswith(after)
        assert b"<OLD>" not in edited


placed = st.builds(
    lambda mark, head, tail, change, indent: Placed(
        before=b"\xef\xbb\xbf" * mark + head + b"\n",
        place=indent + b"<OLD>",
        after=b"\n" + tail,
        old=change[0],
        new=change[1],
    ),
    st.booleans(),
    st.lists(lines, max_size=12).map(b"".join),
    st.lists(lines, max_size=12).map(b"".join),
    st.sampled_from([("    <OLD>", "    <NEW>\n    <MORE>"), ("<OLD>\n", ""), ("<OLD>", "")]),
    st.sampled_from([b"    ", b"\t", "\u00a0\u00a0".encode()]),
)


@given(placed)
@settings(max_examples=500)
def test_500_edits_leave_every_other_byte_as_it_was(file: Placed) -> None:
    # agents 18, 19, 27
    whole = file.before + file.place + file.after
    series = edit_in_turn(whole, (Replacement(old=file.old, new=file.new),))
    file.check(series.content)


@given(placed)
@settings(max_examples=40, suppress_health_check=SHARED, deadline=None)
def test_so_do_edits_through_the_tools(toolbox: Toolbox, tree: Path, file: Placed) -> None:
    (tree / "f").write_bytes(file.before + file.place + file.after)
    (tree / "f").chmod(0o750)
    toolbox._context.seen.forget("f")
    kind, _ = observe(toolbox, "edit_file", path="f", old_text=file.old, new_text=file.new)
    assert kind == "done"
    file.check((tree / "f").read_bytes())
    assert (tree / "f").stat().st_mode & 0o777 == 0o750


@pytest.mark.anyio
async def test_a_call_of_every_tool_with_odd_but_fitting_arguments_is_observed(
    toolbox: Toolbox,
) -> None:
    odd_calls: list[tuple[str, dict[str, Any]]] = [
        ("apply_patch", {"patch": "\0\ud800"}),
        ("edit_file", {"path": "src", "old_text": "\ud800", "new_text": ""}),
        ("edit_file", {"path": "src/app.py", "edits": [{"old_text": "\r\n", "new_text": "\n"}]}),
        ("glob", {"pattern": "{", "path": "src"}),
        ("glob", {"pattern": "*" + "a*" * 20}),
        ("jobs", {"action": "read", "job": "\n" * 9_999}),
        ("list_dir", {"path": "src/app.py"}),
        ("read_file", {"path": "src/app.py", "start_column": 10**9}),
        ("run_command", {"command": "\0", "cwd": "\0"}),
        ("write_file", {"path": "src/app.py/x", "content": "\0"}),
    ]
    for tool, arguments in odd_calls:
        made = ToolCall(
            call_id="1", tool_name=tool, arguments=arguments_of(json.loads(json.dumps(arguments)))
        )
        executed = await toolbox.execute(made)
        assert executed.result.content
        assert len(executed.result.content) <= 4_000
