"""The one law of the conversation, whatever is put into it and in whatever order."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel.scripts import HOSTILE_ARGUMENTS
from kernel.values import TASK, call, said

from goldseam.kernel.conversation import (
    Arguments,
    Conversation,
    Feedback,
    HistoryItem,
    Image,
    Malformed,
    Message,
    PairingError,
    Reasoning,
    ToolCall,
    ToolResult,
    arguments_from_text,
    arguments_of,
    json_kind,
)
from goldseam.kernel.json_text import BadJsonError

ITEMS: st.SearchStrategy[HistoryItem] = st.one_of(
    st.sampled_from(("a", "b", "c")).map(lambda call_id: call("read", call_id)),
    st.sampled_from(("a", "b", "c")).map(lambda call_id: ToolResult(call_id=call_id, content="é")),
    st.sampled_from((TASK, said("words"), Reasoning(), Reasoning(text="…"), Feedback(text="no"))),
)


def accepted(items: list[HistoryItem]) -> list[HistoryItem]:
    """Return those of `items` that a plain reading of the law lets in."""
    kept: list[HistoryItem] = []
    open_calls: list[str] = []
    for item in items:
        answered = bool(open_calls) and isinstance(kept[-1], ToolResult)
        match item:
            case ToolCall(call_id=call_id):
                used = any(isinstance(i, ToolCall) and i.call_id == call_id for i in kept)
                fits = not used and not answered
                open_calls += [call_id] if fits else []
            case ToolResult(call_id=call_id):
                fits = open_calls[:1] == [call_id]
                open_calls = open_calls[1:] if fits else open_calls
            case Message(role="assistant") | Reasoning():
                fits = not answered
            case _:
                fits = not open_calls
        kept += [item] if fits else []
    return kept


@given(st.lists(ITEMS, max_size=12))
def test_it_takes_what_keeps_the_pairs_and_refuses_the_rest(items: list[HistoryItem]) -> None:
    conversation = Conversation()
    for item in items:
        try:
            conversation = conversation.append(item)
        except PairingError:
            continue
    assert list(conversation) == accepted(items)
    assert conversation == Conversation(accepted(items))


@given(st.lists(ITEMS, max_size=10), st.lists(ITEMS, max_size=5), st.lists(ITEMS, max_size=5))
def test_two_that_grew_from_one_never_see_each_other(
    common: list[HistoryItem], left: list[HistoryItem], right: list[HistoryItem]
) -> None:
    def grown(start: Conversation, items: list[HistoryItem]) -> Conversation:
        for item in items:
            try:
                start = start.append(item)
            except PairingError:
                continue
        return start

    stem = grown(Conversation(), common)
    before = list(stem)
    one, other = grown(stem, left), grown(stem, right)
    assert list(stem) == before
    assert list(one) == accepted([*before, *left])
    assert list(other) == accepted([*before, *right])
    for found in (stem, one, other):
        ids = {item.call_id for item in found if isinstance(item, ToolCall)}
        assert {call_id for call_id in "abc" if found.has_call(call_id)} == ids
        assert found.weight == Conversation(found).weight
        assert found.open_calls == Conversation(found).open_calls


def test_it_reads_like_a_sequence() -> None:
    items = (TASK, said("one"), said("two"))
    conversation = Conversation(items)
    assert (len(conversation), conversation[0], conversation[-1]) == (3, TASK, items[2])
    assert conversation[1:] == items[1:]
    assert list(reversed(conversation)) == list(reversed(items))
    assert (conversation == items, hash(conversation)) == (False, hash(items))
    assert repr(conversation) == f"Conversation({list(items)!r})"
    for index in (3, -4):
        with pytest.raises(IndexError):
            conversation[index]


def test_a_slice_does_not_see_what_a_twin_added() -> None:
    stem = Conversation([TASK])
    twin = stem.append(said("later"))
    assert (stem[:], twin[:]) == ((TASK,), (TASK, said("later")))


@pytest.mark.parametrize(
    ("items", "why"),
    [
        ([call("read", "")], "call id '' is empty or used before"),
        (
            [call("read"), ToolResult(call_id="a", content=""), call("read")],
            "call id 'a' is empty or used before",
        ),
        ([ToolResult(call_id="a", content="")], "result for 'a', but open in call order: ()"),
        (
            [call("read", "a"), call("read", "b"), ToolResult(call_id="b", content="")],
            "result for 'b', but open in call order: ('a', 'b')",
        ),
        ([call("read"), TASK], "calls without a result: ('a',)"),
        ([call("read"), Feedback(text="no")], "calls without a result: ('a',)"),
        (
            [call("read", "a"), call("read", "b"), ToolResult(call_id="a", content=""), said("x")],
            "calls without a result: ('b',)",
        ),
    ],
)
def test_what_breaks_a_pair_is_refused_and_said(items: list[HistoryItem], why: str) -> None:
    with pytest.raises(PairingError) as refused:
        Conversation(items)
    assert str(refused.value) == why


def test_its_weight_is_the_bytes_of_its_words() -> None:
    malformed = ToolCall(call_id="b", tool_name="t", arguments=Malformed(raw="\ud800", why="no"))
    conversation = Conversation([
        Message(role="user", text="é"),
        Reasoning(text="ab"),
        Reasoning(),
        call("read", "a", '{"n":1}'),
        malformed,
        ToolResult(call_id="a", content="完"),
        ToolResult(call_id="b", content=""),
        Feedback(text="no"),
    ])
    assert conversation.weight == 2 + 2 + 0 + (4 + 7) + (1 + 3) + 3 + 0 + 2


def test_a_picture_weighs_the_same_whatever_its_bytes() -> None:
    small, large = (Image(media_type="image/png", data=data) for data in ("QQ==", "QUFB" * 999))
    once = Conversation([Message(role="user", text="x", images=(small,))])
    assert once.weight == Conversation([Message(role="user", text="x", images=(large,))]).weight
    assert once.weight > 1


@given(st.one_of(st.sampled_from(HOSTILE_ARGUMENTS), st.text(max_size=30)))
def test_any_text_for_arguments_is_an_object_or_malformed_with_its_reason(raw: str) -> None:
    # F7, F8, M3, M4, M5, K1
    match arguments_from_text(raw):
        case Arguments(text=text) as arguments:
            assert text.isascii()
            assert arguments_of(arguments.value()) == arguments
        case Malformed(raw=kept, why=why):
            assert (kept, bool(why)) == (raw, True)


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ("", Arguments(text="{}")),
        (" \n", Arguments(text="{}")),
        ('{"b": 1, "a": "é"}', Arguments(text='{"a":"\\u00e9","b":1}')),
        ("null", Malformed(raw="null", why="expected a JSON object, got null")),  # K1, F8
        ("[1]", Malformed(raw="[1]", why="expected a JSON object, got an array")),
        ('{"n": NaN}', Malformed(raw='{"n": NaN}', why="NaN is not a JSON number")),  # M3
    ],
)
def test_what_a_model_writes_as_arguments(raw: str, arguments: Arguments | Malformed) -> None:
    assert arguments_from_text(raw) == arguments


def test_the_mapping_of_arguments_is_the_callers_own() -> None:
    arguments = arguments_of({"a": [1]})
    arguments.value()["a"] = None
    assert arguments.value() == {"a": [1]}


def test_arguments_that_hold_no_object_are_our_defect() -> None:
    with pytest.raises(BadJsonError, match="arguments hold no object"):
        Arguments(text="[]").value()


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (True, "a boolean"),
        (1, "a number"),
        (1.5, "a number"),
        ("", "a string"),
        ([], "an array"),
        ({}, "an object"),
    ],
)
def test_each_kind_of_json_has_its_name(value: Any, kind: str) -> None:
    assert json_kind(value) == kind


def test_only_a_result_that_is_done_is_no_error() -> None:
    assert not ToolResult(call_id="a", content="").is_error
    assert ToolResult(call_id="a", content="", kind="cut_off").is_error
