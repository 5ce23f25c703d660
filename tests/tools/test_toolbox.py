import errno
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from goldseam.kernel.conversation import (
    Image,
    ToolCall,
    ToolResult,
    arguments_from_text,
    arguments_of,
)
from goldseam.kernel.events import Allowed, MustAsk, Rejected
from goldseam.kernel.json_text import read_json
from goldseam.kernel.ports import Executed
from goldseam.kernel.ports import Toolbox as ToolboxPort
from goldseam.tools.builtin import builtin_tools
from goldseam.tools.context import ToolContext
from goldseam.tools.guidance import LIMIT, example_call
from goldseam.tools.observation import LIMIT_BYTES
from goldseam.tools.policy import Rule, default_rules
from goldseam.tools.problems import find_problems
from goldseam.tools.schema import part, schema_of
from goldseam.tools.tool import AnyTool, Output, Tool, ToolFailure
from goldseam.tools.toolbox import DuplicateToolError, Policy, Toolbox
from goldseam.workspace.errors import WorkspaceError

Make = Callable[..., ToolCall]
NAMES = sorted(tool.name for tool in builtin_tools())
STARTING = {"search", "glob", "repo_map", "web_fetch"}
"""They start processes, or reach out: their own tests run them."""


class Nothing(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    path: str = "."


class Even(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    number: int

    def __post_init__(self) -> None:
        if self.number % 2:
            raise ValueError("number must be even")


def tool_that(run: Callable[[Nothing, ToolContext], Awaitable[Output]]) -> AnyTool:
    return Tool(name="odd", arguments=Nothing, run=run, description=lambda: "Odd.", lever="less")


def tool_raising(error: Exception) -> AnyTool:
    async def run(_given: Nothing, _context: ToolContext) -> Output:
        raise error

    return tool_that(run)


def tool_giving(output: Output) -> AnyTool:
    async def run(_given: Nothing, _context: ToolContext) -> Output:
        return output

    return tool_that(run)


def box(
    context: ToolContext, *tools: AnyTool, rules: tuple[Rule, ...] = (), attended: bool = False
) -> Toolbox:
    policy = Policy(
        rules=rules, defaults=default_rules(walls_hold=False), somebody_is_there=attended
    )
    return Toolbox(tools or builtin_tools(), context=context, policy=policy)


def result(kind: Any, content: str) -> ToolResult:
    return ToolResult(call_id="1", content=content, kind=kind)


def test_it_fits_the_port_of_the_kernel(toolbox: Toolbox) -> None:
    port: ToolboxPort = toolbox
    assert port.specs == toolbox.specs


def test_specs_are_sorted_whole_and_the_same_each_time(
    context: ToolContext, toolbox: Toolbox
) -> None:
    again = Toolbox(
        tuple(reversed(builtin_tools())),
        context=context,
        policy=Policy(defaults=(), somebody_is_there=False),
    )
    assert again.specs == toolbox.specs
    assert [spec.name for spec in toolbox.specs] == sorted(spec.name for spec in toolbox.specs)
    assert {spec.name for spec in toolbox.specs if spec.reads_only} == {
        "glob",
        "list_dir",
        "read_file",
        "search",
    }


@pytest.mark.parametrize("tool", builtin_tools(), ids=lambda tool: tool.name)
def test_a_description_ends_in_an_example_that_fits_the_schema(tool: AnyTool) -> None:
    text, _, example = tool.description().rpartition("\n\nExample: ")
    assert text
    value = read_json(example)
    assert find_problems(schema_of(tool.arguments), value) == ()


@pytest.mark.parametrize("tool", builtin_tools(), ids=lambda tool: tool.name)
def test_the_example_that_errors_give_fits_the_schema(tool: AnyTool) -> None:
    schema = schema_of(tool.arguments)
    assert find_problems(schema, read_json(example_call(schema))) == ()


def test_two_tools_of_one_name_are_our_defect(context: ToolContext) -> None:
    # B3.1
    one = tool_giving(Output(text=""))
    with pytest.raises(DuplicateToolError):
        box(context, one, one)


# Judging


def test_an_unknown_tool_is_answered(context: ToolContext, call: Make) -> None:
    # A3.4, B3.2
    judged = box(context).judge(call("read_fil", path="x"))
    text = (
        'There is no tool named "read_fil". Did you mean read_file? Call one of: '
        f"{', '.join(NAMES)}."
    )
    assert judged == Rejected(why=text, result=result("failed", text))


def test_arguments_that_do_not_fit_never_run(toolbox: Toolbox, call: Make) -> None:
    # B3.2, A4.1
    text = (
        "read_file did not run, 1 argument is wrong:\n"
        "- `start_line` is out of range: must be an integer from 1 to 1000000000, such as 1; "
        "got 0.\n"
        'Next: send the whole call again, corrected, such as {"path":"src/app.py"}.'
    )
    assert toolbox.judge(call("read_file", path="a", start_line=0)) == Rejected(
        why="read_file did not run, 1 argument is wrong:", result=result("failed", text)
    )


def test_reading_and_editing_are_allowed_and_nothing_else_unsaid(
    context: ToolContext, call: Make
) -> None:
    assert box(context).judge(call("list_dir")) == Allowed(why="it only reads the workspace")
    odd = box(context, tool_giving(Output(text=""))).judge(call("odd"))
    assert odd == Rejected(
        why="no rule speaks of it, and what is not allowed is denied",
        result=result(
            "denied",
            "odd was denied and did not run: no rule speaks of it, and what is not allowed is "
            "denied.\nNext: do not send this call again; go on with what is known.",
        ),
    )


def test_without_walls_a_person_is_asked_about_a_command(context: ToolContext, call: Make) -> None:
    # K9
    assert box(context, attended=True).judge(call("run_command", command="ls")) == MustAsk(
        why="no sandbox holds commands on this machine",
        shown="run_command\n  command: ls",
    )


def test_where_nobody_is_there_asking_is_denial_and_says_the_way_on(
    context: ToolContext, call: Make
) -> None:
    assert box(context).judge(call("run_command", command="ls")) == Rejected(
        why="no sandbox holds commands on this machine, and nobody was there to ask; this setting "
        'allows it: rules = [{ decision = "allow", tool = "run_command" }]',
        result=result(
            "denied",
            "run_command was denied and did not run: no sandbox holds commands on this machine, "
            "and nobody is there to agree to it.\nNext: do not send this call again; go on with "
            f"{', '.join(name for name in NAMES if name != 'run_command')}.",
        ),
    )


@pytest.mark.parametrize(
    "path", ["secret.env", "./src/../secret.env", "alias", "/home/ada/app/secret.env"]
)
def test_a_denied_file_is_denied_under_every_name_that_it_has(
    context: ToolContext, tree: Path, call: Make, path: str
) -> None:
    # security 6
    (tree / "secret.env").touch()
    (tree / "alias").symlink_to("secret.env")
    rule = Rule(decision="deny", argument="path", glob="secret.env")
    toolbox = box(context, rules=(rule, Rule(decision="allow")))
    judged = toolbox.judge(call("read_file", path=path))
    assert isinstance(judged, Rejected)
    assert judged.result.kind == "denied"
    assert isinstance(toolbox.judge(call("read_file", path="src/app.py")), Allowed)


def test_a_rule_speaks_of_an_argument_that_was_left_out(context: ToolContext, call: Make) -> None:
    rule = Rule(decision="deny", tool="list_dir", argument="path", glob=".", why="not the top")
    judged = box(context, rules=(rule,)).judge(call("list_dir"))
    assert isinstance(judged, Rejected)
    assert judged.why == "not the top"


def test_an_allowance_by_path_ends_at_the_workspace(
    context: ToolContext, tree: Path, call: Make
) -> None:
    (tree / "out").symlink_to("/etc")
    rule = Rule(decision="allow", argument="path")
    toolbox = box(context, tool_giving(Output(text="")), rules=(rule,))
    for path in ("../x", "out/passwd", "a\0b"):
        assert isinstance(toolbox.judge(call("odd", path=path)), Rejected)
    assert isinstance(toolbox.judge(call("odd", path="new")), Allowed)


def test_what_the_type_alone_refuses_is_told_in_its_words(context: ToolContext, call: Make) -> None:
    async def run(_given: Even, _context: ToolContext) -> Output:
        return Output(text="")

    even = Tool(name="even", arguments=Even, run=run, description=lambda: "Even.")
    judged = box(context, even).judge(call("even", number=3))
    assert isinstance(judged, Rejected)
    assert judged.result.content == (
        "even did not run, its arguments are refused: number must be even.\n"
        'Next: send the whole call again, corrected, such as {"number":1}.'
    )


# Executing


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("error", "content"),
    [
        (ToolFailure("the well is dry. Next: dig."), "odd: the well is dry. Next: dig."),
        (ToolFailure("odd: no. Next: stop."), "odd: no. Next: stop."),
        (WorkspaceError('"x" is a folder'), 'odd: "x" is a folder'),
    ],
)
async def test_what_a_tool_says_to_the_model_is_said_as_it_is(
    context: ToolContext, call: Make, error: Exception, content: str
) -> None:
    # A3.3
    executed = await box(context, tool_raising(error)).execute(call("odd"))
    assert executed == Executed(result=result("failed", content))


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("error", "content"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/x"), "No space left on device"),
        (OSError(), "OSError"),
        (
            RecursionError("too deep"),
            "its content is beyond what can be handled here (RecursionError)",
        ),
        (ValueError("userId must be ten digits\n  at a\n  at b"), "userId must be ten digits"),
        (KeyError("userId"), "KeyError 'userId'"),
        (ExceptionGroup("2 errors", [ValueError("the first"), ValueError("x")]), "the first"),
        (MuteError(), "MuteError"),
    ],
)
async def test_whatever_a_tool_raises_is_one_line_for_the_model_and_whole_on_record(
    context: ToolContext, call: Make, error: Exception, content: str
) -> None:
    # A3.3, A4.3, M6, K6
    executed = await box(context, tool_raising(error)).execute(call("odd"))
    assert executed.result == result("failed", f"odd failed: {content}.")
    record = executed.full_text or ""
    assert record.startswith(f"odd failed: {content}.\n")
    assert "Traceback (most recent call last):" in record
    assert type(error).__name__ in record


@pytest.mark.anyio
async def test_a_stack_of_fifty_lines_in_a_message_becomes_its_first_line(
    context: ToolContext, call: Make
) -> None:
    # A4.3
    stack = "".join(f"\n    at handler{number} (/srv/app/x.js:{number}:7)" for number in range(50))
    error = RuntimeError(
        f"\x1b[31mprofile /srv/app/data/7.json is locked by <Lock at 0x7f3a11c2d0>\x1b[0m{stack}"
    )
    executed = await box(context, tool_raising(error)).execute(call("odd"))
    assert executed.result.content == "odd failed: profile …/7.json is locked by <Lock>."
    assert (executed.full_text or "").count("at handler") >= 50


@pytest.mark.anyio
async def test_a_failure_names_no_path_of_the_machine(
    context: ToolContext, tree: Path, call: Make
) -> None:
    # A4.3
    failure = ToolFailure(f"no {tree}/src/x.py, nor /home/ada/app/y.py")
    executed = await box(context, tool_raising(failure)).execute(call("odd"))
    assert executed.result == result("failed", "odd: no src/x.py, nor y.py")


@pytest.mark.anyio
async def test_what_is_no_error_of_a_tool_passes_through(context: ToolContext, call: Make) -> None:
    # B3.3
    async def run(_given: Nothing, _context: ToolContext) -> Output:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await box(context, tool_that(run)).execute(call("odd"))


@pytest.mark.anyio
async def test_a_large_result_is_cut_with_a_lever_and_kept_whole(
    context: ToolContext, tree: Path, call: Make
) -> None:
    # A4.4, A4.6, K7
    text = "".join(f"{number}\n" for number in range(20_000))
    executed = await box(context, tool_giving(Output(text=text))).execute(call("odd"))
    shown = executed.result.content
    assert len(shown.encode()) <= LIMIT_BYTES
    assert shown.startswith(
        "0\n[text/plain, 108,890 bytes, 20,000 lines: whole in download/odd-1.txt]\n1\n2\n"
    )
    assert shown.endswith("\n19998\n19999\n")
    lines = shown.split("\n")
    (at,) = [index for index, line in enumerate(lines) if line.startswith("[… ")]
    first_left_out = int(lines[at - 1]) + 1
    assert lines[at].endswith(
        f"To see more: read_file download/odd-1.txt with start_line {first_left_out + 1}, "
        "or search in it; or less. …]"
    )
    assert executed.full_text == text
    assert (tree / "download/odd-1.txt").read_text() == text


@pytest.mark.anyio
async def test_the_threshold_is_the_tool_s_own(context: ToolContext, call: Make) -> None:
    tool = replace(tool_giving(Output(text="a\n" * 2_000)), limit_bytes=1_500)
    executed = await box(context, tool).execute(call("odd"))
    assert len(executed.result.content.encode()) <= 1_500
    assert "download/odd-1.txt" in executed.result.content


@pytest.mark.anyio
async def test_where_the_whole_cannot_be_kept_the_cut_says_what_it_can(
    context: ToolContext, tree: Path, call: Make
) -> None:
    (tree / "download").write_text("mine")
    (tree / ".goldseam-download").write_text("mine too")
    executed = await box(context, tool_giving(Output(text="a\n" * 50_000))).execute(call("odd"))
    assert "To see more: less. …]" in executed.result.content
    assert (tree / "download").read_text() == "mine"


@pytest.mark.anyio
async def test_pictures_reach_the_model(context: ToolContext, call: Make) -> None:
    image = Image(media_type="image/png", data="iVBO")
    executed = await box(context, tool_giving(Output(text="see", images=(image,)))).execute(
        call("odd")
    )
    assert executed.result == ToolResult(call_id="1", content="see", images=(image,))


@pytest.mark.parametrize(
    "patch",
    [
        "--- a/secret.env\n+++ b/secret.env\n@@ -1 +1 @@\n-a\n+b\n",
        "*** Begin Patch\n*** Delete File: ./secret.env\n*** End Patch\n",
        "*** Begin Patch\n*** Update File: x\n*** Move to: secret.env\n*** End Patch\n",
    ],
)
def test_a_rule_on_paths_sees_into_a_patch(context: ToolContext, call: Make, patch: str) -> None:
    # security 6
    rule = Rule(decision="deny", argument="path", glob="secret.env")
    toolbox = box(context, rules=(rule, Rule(decision="allow")))
    assert isinstance(toolbox.judge(call("apply_patch", patch=patch)), Rejected)
    other = patch.replace("secret.env", "open.env")
    assert isinstance(toolbox.judge(call("apply_patch", patch=other)), Allowed)
    assert isinstance(toolbox.judge(call("apply_patch", patch="no patch")), Allowed)


@pytest.mark.anyio
async def test_half_characters_never_leave_the_toolbox(context: ToolContext, call: Make) -> None:
    # M4
    output = Output(text="a\udc80", full_text="b\udc80")
    executed = await box(context, tool_giving(output)).execute(call("odd"))
    assert executed == Executed(result=result("done", "a\ufffd"), full_text="b\ufffd")


@pytest.mark.anyio
async def test_a_call_that_was_never_judged_is_checked_all_the_same(
    toolbox: Toolbox, call: Make
) -> None:
    executed = await toolbox.execute(call("read_file"))
    assert executed.result.kind == "failed"


# Whatever comes


def schema_names(tool: AnyTool) -> list[str]:
    return list(part(schema_of(tool.arguments), "properties"))


any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
near_arguments = st.dictionaries(
    st.sampled_from(sorted({name for tool in builtin_tools() for name in schema_names(tool)})),
    any_json
    | st.sampled_from(["src/app.py", ".", 1, 3, "..", "a\0", "src", ".git/x", [], 10**399]),
    max_size=4,
)
raw_texts = (
    st.one_of(any_json, near_arguments).map(json.dumps)
    | st.text(max_size=30)
    | st.just("[" * 100_000)
    | st.just('{"path": ' + "9" * 5_000 + "}")
)


@given(
    st.sampled_from(NAMES) | st.sampled_from(["nothing", "\ud800", "x" * 9_999]),
    raw_texts,
)
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_arguments_to_any_tool_give_an_observation(
    toolbox: Toolbox, name: str, raw: str
) -> None:
    # F7, F8, M3-M6, K1
    call = ToolCall(call_id="1", tool_name=name, arguments=arguments_from_text(raw))
    judged = toolbox.judge(call)
    if isinstance(judged, Rejected):
        assert len(judged.result.content) <= LIMIT
        content = judged.result.content
    elif name in STARTING:
        return
    else:
        content = anyio.run(toolbox.execute, call).result.content
    assert content
    assert len(content.encode()) <= LIMIT_BYTES


# Two edits of one file


def edit(call_id: str, old: str, new: str) -> ToolCall:
    arguments = arguments_of({"path": "src/app.py", "old_text": old, "new_text": new})
    return ToolCall(call_id=call_id, tool_name="edit_file", arguments=arguments)


@pytest.mark.anyio
async def test_two_edits_of_one_file_both_land(toolbox: Toolbox, tree: Path) -> None:
    # K3
    first = await toolbox.execute(edit("1", "total", "difference"))
    second = await toolbox.execute(edit("2", "a - b", "a + b"))
    assert (first.result.kind, second.result.kind) == ("done", "done")
    assert (tree / "src/app.py").read_text() == "def difference(a, b):\n    return a + b\n"


@pytest.mark.anyio
async def test_of_two_edits_of_one_text_the_second_says_why_not(
    toolbox: Toolbox, tree: Path
) -> None:
    # K3
    first = await toolbox.execute(edit("1", "a - b", "a + b"))
    second = await toolbox.execute(edit("2", "a - b", "a * b"))
    assert (first.result.kind, second.result.kind) == ("done", "failed")
    assert second.result.content.startswith("edit_file: src/app.py is unchanged: old_text was not")
    assert "     2|     return a + b" in second.result.content
    assert (tree / "src/app.py").read_text() == "def total(a, b):\n    return a + b\n"
