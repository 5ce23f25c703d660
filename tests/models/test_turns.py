"""Histories as turns: every item in its place, every call answered right after."""

import json
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from strategies import conversations, joined, turns

from goldseam.kernel.conversation import (
    Conversation,
    Feedback,
    HistoryItem,
    Image,
    Message,
    Reasoning,
    ToolCall,
    ToolResult,
    arguments_of,
)
from goldseam.kernel.request import Remark
from goldseam.models.encoding import Part
from goldseam.models.fitting import Losses
from goldseam.models.turn_cache import Transcript, TurnCache, common_length
from goldseam.models.turns import (
    INTERRUPTED,
    Answered,
    AssistantTurn,
    ResultsTurn,
    SystemTurn,
    Turn,
    UserTurn,
    turns_of,
)

SYSTEM = Message(role="system", text="Mend it.")
TASK = Message(role="user", text="It fails.")
LATER = Message(role="system", text="Be quick.")
THOUGHT = Reasoning(text="so")
WORDS = Message(role="assistant", text="I look.")
FEEDBACK = Feedback(text="Again.")


def call(call_id: str) -> ToolCall:
    return ToolCall(call_id=call_id, tool_name="read_file", arguments=arguments_of({}))


def result(call_id: str, content: str = "text") -> ToolResult:
    return ToolResult(call_id=call_id, content=content)


def closed(call_id: str) -> ToolResult:
    return ToolResult(call_id=call_id, content=INTERRUPTED, kind="interrupted")


def test_a_history_falls_into_turns_with_the_place_of_each_item() -> None:
    history: list[HistoryItem] = [
        SYSTEM,
        TASK,
        THOUGHT,
        WORDS,
        call("a"),
        call("b"),
        result("a"),
        result("b"),
        LATER,
    ]
    assert list(turns_of(history)) == [
        SystemTurn(start=0, items=((0, SYSTEM),)),
        UserTurn(start=1, items=((1, TASK),)),
        AssistantTurn(start=2, items=((2, THOUGHT), (3, WORDS), (4, call("a")), (5, call("b")))),
        ResultsTurn(
            start=6,
            pairs=(
                Answered(at=6, call=call("a"), result=result("a")),
                Answered(at=7, call=call("b"), result=result("b")),
            ),
        ),
        UserTurn(start=8, items=((8, LATER),)),
    ]


def test_a_hidden_thought_splits_no_turn_and_is_named() -> None:
    def hidden(at: int) -> Remark:
        text = f"history item {at}: a thought that has no place here"
        return Remark(code="reasoning_not_shown", text=text)

    history: list[HistoryItem] = [THOUGHT, SYSTEM, THOUGHT, SYSTEM, TASK, THOUGHT, FEEDBACK]
    assert list(turns_of(history, hides=lambda _: True)) == [
        SystemTurn(start=0, items=((1, SYSTEM), (3, SYSTEM)), losses=(hidden(1), hidden(3))),
        UserTurn(start=4, items=((4, TASK), (6, FEEDBACK)), losses=(hidden(6),)),
    ]


def test_what_is_hidden_to_the_last_item_is_still_named() -> None:
    [turn] = turns_of([THOUGHT], hides=lambda _: True)
    assert isinstance(turn, AssistantTurn)
    assert (turn.items, [remark.code for remark in turn.losses]) == ((), ["reasoning_not_shown"])


def test_an_open_call_is_closed_as_interrupted_wherever_it_stands() -> None:  # 10, 11, 13, 16
    history: list[HistoryItem] = [TASK, call("a"), call("b"), result("b"), TASK, call("c")]
    [_, _, first, _, _, last] = turns_of(history)
    assert first == ResultsTurn(
        start=3,
        pairs=(
            Answered(at=1, call=call("a"), result=closed("a")),
            Answered(at=3, call=call("b"), result=result("b")),
        ),
        losses=(
            Remark(
                code="open_call_closed",
                text="history item 2: it had no result and is told as interrupted",
            ),
        ),
    )
    assert isinstance(last, ResultsTurn)
    assert last.pairs == (Answered(at=5, call=call("c"), result=closed("c")),)


def test_a_reply_after_results_closes_what_they_left_open() -> None:  # 13
    history: list[HistoryItem] = [TASK, call("a"), call("b"), result("a"), WORDS]
    [_, said, results, more] = turns_of(history)
    assert isinstance(said, AssistantTurn)
    assert isinstance(results, ResultsTurn)
    assert [pair.result for pair in results.pairs] == [result("a"), closed("b")]
    assert more == AssistantTurn(start=4, items=((4, WORDS),))


def test_results_come_in_call_order_and_with_their_call_whatever_stands_between() -> None:  # 14, 19
    history: list[HistoryItem] = [TASK, call("a"), call("b"), result("b"), result("a")]
    [_, _, results] = turns_of(history)
    assert isinstance(results, ResultsTurn)
    assert [pair.result for pair in results.pairs] == [result("a"), result("b")]


def test_a_result_whose_call_is_gone_is_told_as_user_text() -> None:  # 1, 2, 5, 7, 20, 62
    image = Image(media_type="image/png", data="aGVsbG8=")
    orphan = ToolResult(call_id="gone", content="late", images=(image,))
    assert list(turns_of([TASK, orphan])) == [
        UserTurn(
            start=0,
            items=(
                (0, TASK),
                (
                    1,
                    Message(
                        role="user",
                        text="[result of a call that is not shown]\nlate",
                        images=(image,),
                    ),
                ),
            ),
            losses=(
                Remark(
                    code="orphan_result_told",
                    text="history item 2: its call is not shown; it is told as user text",
                ),
            ),
        )
    ]


@given(conversations())
def test_no_item_is_lost_doubled_or_out_of_order(history: Conversation) -> None:
    found = [item for turn in turns_of(history) for item in items_of(turn)]
    assert found == list(history)
    assert not any(turn.losses for turn in turns_of(history))


def items_of(turn: Turn) -> list[HistoryItem]:
    if isinstance(turn, ResultsTurn):
        return [pair.result for pair in turn.pairs]
    return [item for _, item in turn.items]


@given(st.lists(st.sampled_from([SYSTEM, TASK, WORDS, THOUGHT, FEEDBACK]), max_size=8), st.data())
def test_any_sequence_at_all_answers_each_call_right_after_its_turn(
    items: list[HistoryItem], data: st.DataObject
) -> None:
    loose = st.sampled_from(["a", "b", "c"])
    calls = [call(call_id) for call_id in data.draw(st.lists(loose, unique=True))]
    results = [result(call_id) for call_id in data.draw(st.lists(loose, unique=True))]
    history: list[HistoryItem] = data.draw(st.permutations([*items, *calls, *results]))
    waiting = list[str]()
    for turn in turns_of(history):
        if isinstance(turn, ResultsTurn):
            assert [pair.call.call_id for pair in turn.pairs] == waiting
            assert [pair.result.call_id for pair in turn.pairs] == waiting
            waiting = []
        assert waiting == []
        waiting = [i.call_id for i in items_of(turn) if isinstance(i, ToolCall)]
    assert waiting == []


# The cache ----------------------------------------------------------------------------------------


class Counting:
    """Renders a turn to what it holds and to how many turns stood before it; counts its work."""

    def __init__(self) -> None:
        self.rendered = 0

    def step(self, before: int, turn: Turn, losses: Losses) -> tuple[int, list[Part]]:
        self.rendered += 1
        losses.note("rendered", turn.start, f"turn {before}")
        return before + 1, [{"turn": before, "item": ascii(item)} for item in items_of(turn)]

    def cache(self) -> TurnCache[int]:
        return TurnCache(0, self.step, hides=lambda thought: thought.text is None)


def afresh(history: Sequence[HistoryItem]) -> Transcript[int]:
    return Counting().cache().write(history)


@given(turns(), turns(), st.data())
def test_what_is_remembered_never_shows_in_what_is_written(
    first: list[list[HistoryItem]], second: list[list[HistoryItem]], data: st.DataObject
) -> None:
    cache = Counting().cache()
    for parts in (first, second):
        history = joined(parts[: data.draw(st.integers(0, len(parts)))])
        assert cache.write(history) == afresh(history)
        for part in parts[len(parts) // 2 :]:
            if not any(isinstance(item, ToolCall | ToolResult) for item in part):
                history = history.extend(part)
                assert cache.write(history) == afresh(history)


def test_the_next_turn_costs_what_is_new() -> None:
    counting = Counting()
    cache = counting.cache()
    history = Conversation([SYSTEM, TASK])
    for n in range(200):
        history = history.extend([call(f"{n}"), result(f"{n}")])
    cache.write(history)
    counting.rendered = 0
    cache.write(history.extend([call("x"), result("x")]))
    assert counting.rendered == 4


def test_the_parts_of_all_turns_are_one_text_with_commas_between_and_their_losses_in_order() -> (
    None
):
    written = afresh([SYSTEM, FEEDBACK])
    assert json.loads(b"[%b]" % bytes(written.text)) == [
        {"turn": 0, "item": ascii(SYSTEM)},
        {"turn": 1, "item": ascii(FEEDBACK)},
    ]
    assert [loss.text for loss in written.losses] == [
        "history item 1: turn 0",
        "history item 2: turn 1",
    ]
    assert written.state == 2


def test_a_list_that_its_owner_changes_is_seen_as_it_was() -> None:
    cache = Counting().cache()
    history: list[HistoryItem] = [TASK]
    cache.write(history)
    history[0] = FEEDBACK
    assert cache.write(history) == afresh([FEEDBACK])


def test_histories_are_common_as_far_as_their_items_are_the_very_same() -> None:
    grown = Conversation([SYSTEM, TASK])
    assert common_length(grown, grown.append(WORDS)) == 2
    assert common_length(grown, Conversation([SYSTEM, FEEDBACK])) == 1
    assert common_length([SYSTEM, TASK], [SYSTEM, TASK, WORDS]) == 2
