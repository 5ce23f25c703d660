"""The mender mends what it can, says where it cannot, and is a function of the messages alone."""

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from models.mender.mender_world import TOOLS, World, failures, names_of_tests, played, said
from models.mender.planted import MISTAKES, PROGRAMS, with_mistake
from msgspec.structs import replace

from goldseam.kernel.compaction import without_outputs
from goldseam.kernel.conversation import (
    Arguments,
    Conversation,
    Message,
    ToolCall,
    ToolResult,
    arguments_of,
)
from goldseam.kernel.ports import Delta
from goldseam.kernel.request import TokenUsage
from goldseam.models.json_text.provider import ProviderMessage, ProviderResponse
from goldseam.models.mender.mender import Mender, next_text
from goldseam.models.mender.strategy import MAX_PROPOSALS

BEYOND = {"text.split()", '".,"', "min(low, max(value, high))"}
"""Three of forty: a call that is missing, a character that is missing, two mistakes in one line."""

SIMPLE = {
    "app.py": "def total(a, b):\n    return a - b\n",
    "test_app.py": "from app import total\n\ndef test_total():\n    assert total(2, 3) == 5\n",
}


def opening(issue: str = "It is wrong.") -> Conversation:
    return Conversation([Message(role="system", text="Mend."), Message(role="user", text=issue)])


def edits_in(history: Conversation) -> list[dict[str, Any]]:
    calls = [item for item in history if isinstance(item, ToolCall)]
    made = [call for call in calls if call.tool_name == "edit_file"]
    return [call.arguments.value() for call in made if isinstance(call.arguments, Arguments)]


@cache
def run_of(number: int) -> tuple[World, Conversation, str]:
    """Play one planted mistake; several tests look at the same run."""
    world = World(with_mistake(number))
    history, answer = played(world)
    return world, history, answer


def test_the_programs_are_sound_without_a_mistake() -> None:
    assert failures(PROGRAMS, []) == {}


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_a_planted_mistake_is_mended_by_one_edit_or_nothing_is_touched(number: int) -> None:
    world, history, answer = run_of(number)
    if MISTAKES[number][2] in BEYOND:
        assert answer.startswith(f"No patch: {MAX_PROPOSALS} small edits were tried")
        assert (world.files, edits_in(history)) == (with_mistake(number), [])
        return
    assert answer.startswith("Changed ")
    assert failures(world.files, []) == {}
    (edit,) = edits_in(history)
    assert edit["path"] in PROGRAMS
    assert edit["path"] != "test_all.py"


def test_tests_are_never_proposed_to_be_changed() -> None:
    world, _, _ = run_of(17)
    tried = [arguments for tool, arguments in world.calls if tool == "try_edits"]
    paths = {
        edit["path"] for call in tried for one in call["alternatives"] for edit in one["edits"]
    }
    assert paths == set(PROGRAMS) - {"test_all.py"}


def test_it_is_the_same_at_every_step_when_the_run_is_taken_up_again() -> None:
    _, history, answer = run_of(5)
    steps = [at for at, item in enumerate(history) if isinstance(item, ToolCall)]
    for at in steps:
        assert said(Conversation(history[:at])) == history[at]
    assert history[-1] == Message(role="assistant", text=answer)


def test_where_all_tests_pass_it_asks_for_one_that_fails() -> None:
    world = World(PROGRAMS)
    _, answer = played(world)
    assert answer == (
        "No patch: all 14 tests pass, so nothing shows what is wrong. builtin:mender needs a test "
        "that fails: add one for this issue, or use another model. The files are as they were."
    )
    assert world.files == PROGRAMS


def test_an_answer_that_is_not_believed_is_taken_back() -> None:
    world = World(SIMPLE)
    history, answer = played(world, doubt="The proof failed.")
    assert answer.startswith("No patch: ")
    assert world.files == SIMPLE
    edits = edits_in(history)
    assert [edit["new_text"] for edit in edits[1::2]] == [edit["old_text"] for edit in edits[::2]]
    assert 2 <= len(edits) <= 6


def test_outputs_that_were_dropped_are_asked_for_again() -> None:
    _, history, _ = run_of(12)
    calls = [item.call_id for item in history if isinstance(item, ToolCall)]
    world = World(with_mistake(12))
    lost = without_outputs(Conversation(history[:-1]), frozenset(calls[:-3]))
    for _ in range(40):
        item = said(lost)
        if isinstance(item, Message):
            break
        assert not lost.has_call(item.call_id)
        assert isinstance(item.arguments, Arguments)
        text, _ = world.answer(item.tool_name, item.arguments.value())
        lost = lost.extend([item, ToolResult(call_id=item.call_id, content=text)])
    assert isinstance(item, Message)
    assert item.text.startswith("Changed words.py, line 17")


def test_after_another_model_it_looks_for_itself() -> None:
    foreign = ToolCall(call_id="c1", tool_name="run_tests", arguments=Arguments(text="{}"))
    before = opening().extend([
        said(opening()),
        ToolResult(call_id="mender-1", content="TESTS: 1 passed"),
        foreign,
        ToolResult(call_id="c1", content="TESTS: 1 passed, 0 failed, 0 errors, 0 skipped (exit 0)"),
        Message(role="assistant", text="All is well."),
        Message(role="user", text="It is not."),
    ])
    again = said(before)
    assert again == replace(said(opening()), call_id="mender-2")


def test_without_its_tools_it_says_so() -> None:
    item = said(opening(), TOOLS[:3])
    missing = "No patch: builtin:mender cannot work without the tool try_edits."
    assert item == Message(role="assistant", text=missing)


@pytest.mark.parametrize("text", ["", "run_tests: how they are run is not known.\nNext: …", "\x00"])
def test_where_tests_cannot_be_run_it_says_so(text: str) -> None:
    call = said(opening())
    assert isinstance(call, ToolCall)
    failed = ToolResult(call_id=call.call_id, content=text, kind="failed")
    answer = said(opening().extend([call, failed]))
    assert isinstance(answer, Message)
    assert answer.text.startswith("No patch: the tests could not be run (")


def test_where_edits_cannot_be_tried_it_stops_at_once() -> None:
    class Refusing(World):
        def answer(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
            told = super().answer(tool, arguments)
            return ("denied by policy", True) if tool == "try_edits" else told

    world = Refusing(SIMPLE)
    _, answer = played(world)
    assert answer.startswith("No patch: no source file")
    assert [tool for tool, _ in world.calls].count("try_edits") == 1


def test_an_edit_that_is_refused_is_not_claimed() -> None:
    class Refusing(World):
        def _edit_file(self, _edit: dict[str, Any]) -> tuple[str, bool]:
            return "denied by policy", True

    _, answer = played(Refusing(SIMPLE))
    assert answer.startswith("No patch: ")


def test_tests_that_never_end_are_tried_for_a_short_time() -> None:
    class Hanging(World):
        def _run_tests(self, names: Any) -> tuple[str, bool]:
            text, bad = super()._run_tests(names)
            return text.replace(text.partition("\n")[0], "TESTS: timed out after 120 s"), bad

    world = Hanging(SIMPLE)
    _, answer = played(world)
    assert answer.startswith("Changed app.py")
    assert next(given["limit_s"] for tool, given in world.calls if tool == "try_edits") == 5


def test_a_test_that_fails_for_another_reason_does_not_stop_it() -> None:
    other = "\n\ndef test_network():\n    raise OSError\n"
    world = World(SIMPLE | {"test_app.py": SIMPLE["test_app.py"] + other})
    _, answer = played(world)
    assert list(failures(world.files, [])) == ["test_app.py::test_network"]
    assert "mends 1 of the 2 failing tests" in answer


def test_many_tests_of_one_mistake_are_mended_together() -> None:
    many = "".join(f"\n\ndef test_{n}():\n    assert total({n}, 1) == {n + 1}\n" for n in range(9))
    world = World(SIMPLE | {"test_app.py": SIMPLE["test_app.py"] + many})
    played(world)
    assert failures(world.files, []) == {}


def test_an_edit_that_cannot_be_taken_back_is_said() -> None:
    class Stubborn(World):
        def _edit_file(self, edit: dict[str, Any]) -> tuple[str, bool]:
            return ("denied", True) if self.files != SIMPLE else super()._edit_file(edit)

    world = Stubborn(SIMPLE)
    _, answer = played(world, doubt="The proof failed.")
    assert answer.endswith(" The edit of app.py could not be taken back.")
    assert world.files != SIMPLE


def test_no_more_than_three_answers_are_offered() -> None:
    many = "def total(a, b):\n    return 0\n"
    tests = "from app import total\n\ndef test_total():\n    assert total(1, 1) == 1\n"
    world = World({"app.py": many, "test_app.py": tests})
    history, answer = played(world, doubt="The proof failed.")
    assert answer.startswith("No patch: ")
    assert len(edits_in(history)) == 6


def test_a_half_repair_that_breaks_others_is_not_made() -> None:
    tests = (
        "from app import total\n\ndef test_total():\n    assert total(2, 3) == 5\n\n"
        "def test_less():\n    assert total(3, 3) == 0\n\ndef test_never():\n    assert False\n"
    )
    world = World(SIMPLE | {"test_app.py": tests})
    history, answer = played(world)
    assert answer.startswith("No patch: ")
    assert edits_in(history) == []


def test_where_nothing_can_be_read_it_says_so() -> None:
    world = World(SIMPLE)
    world.files = {"test_app.py": "def test_total():\n    assert False\n"}
    _, answer = played(world)
    assert answer.startswith("No patch: no source file that the failing tests use could be found")


def test_a_run_that_hung_without_a_name_is_nothing_to_go_by() -> None:
    call = said(opening())
    assert isinstance(call, ToolCall)
    hung = ToolResult(call_id=call.call_id, content="TESTS: timed out after 9 s\nOUTPUT:\n(none)")
    answer = said(opening().extend([call, hung]))
    assert isinstance(answer, Message)
    assert answer.text.startswith("No patch: the tests did not end in time")


def test_conversations_of_another_form_are_answered_too() -> None:
    system = ProviderMessage(
        role="system", content="run_tests read_file search try_edits edit_file"
    )
    for said_before in ("not JSON", "[1]", '{"type":"tool_call"}'):
        strange = ProviderMessage(role="assistant", content=said_before)
        text = next_text((system, ProviderMessage(role="user", content="Mend."), strange))
        assert '"type":"final_answer"' in text


PIECES = st.sampled_from([
    "TESTS: 1 passed, 2 failed, 0 errors, 0 skipped (exit 1)",
    "TESTS: timed out after 5 s",
    "FAILING:",
    "test_app.py::test_total",
    "a.b.Case.test_c",
    "(and 7 more)",
    "OUTPUT:",
    'File "app.py", line 99999999999999999999, in x',
    "app.py:2: AssertionError",
    "test_app.py: lines 1-3 of 3",
    "app.py: lines 1-1 of 900000",
    "     1| def total(a, b):",
    "     2|     return a - b",
    "     1| from app import total",
    "     2| def test_total():",
    "     3|     assert total(1, 1)",
    "app.py",
    "     1: def total(a, b):",
    "TRIED: 3 alternatives, 1 pass",
    "#1 PASS (1 passed)",
    "#2 FAIL (9999999999999999 passed, 1 failed: x)",
    "#99 PASS",
    "\ud800\x00",
    "(" * 300,
])
TEXTS = st.lists(PIECES | st.text(max_size=40), max_size=9).map("\n".join)


@given(st.data())
def test_whatever_tools_answer_it_says_something_valid_and_ends(data: st.DataObject) -> None:
    history = opening(data.draw(TEXTS) or "x")
    for _ in range(120):
        item = said(history)
        if isinstance(item, Message):
            break
        text, bad = data.draw(TEXTS), data.draw(st.booleans())
        result = ToolResult(call_id=item.call_id, content=text, kind="failed" if bad else "done")
        history = history.extend([item, result])
    assert isinstance(item, Message)


@pytest.mark.anyio
async def test_a_reply_costs_nothing_and_bears_its_name() -> None:
    heard: list[Delta] = []
    messages = (ProviderMessage(role="user", content="Mend."),)
    response = await Mender().complete(messages, max_output_tokens=9, listener=heard.append)
    assert response == ProviderResponse(
        text=next_text(messages),
        usage=TokenUsage(input=0, output=0),
        stop="end",
        model="builtin:mender",
    )
    assert heard == [Delta(kind="text", text=response.text)]


def test_replies_stay_short_enough_for_any_limit() -> None:
    _, history, _ = run_of(17)
    calls = [item.arguments for item in history if isinstance(item, ToolCall)]
    assert max(len(given.text) for given in calls if isinstance(given, Arguments)) < 30_000
    assert history.weight < 600_000


def test_the_world_knows_its_tests() -> None:
    assert len(names_of_tests(PROGRAMS)) == 14
    assert arguments_of({}) == Arguments(text="{}")
