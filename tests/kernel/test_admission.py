"""What of a reply enters the run."""

from itertools import chain

import pytest
from hypothesis import given
from kernel.scripts import RESPONSES
from kernel.values import TASK, call, reply, said

from goldseam.kernel.admission import Unusable, Usable, Withheld, admit, answer_of, calls_of
from goldseam.kernel.conversation import (
    Conversation,
    Reasoning,
    Seal,
    ToolCall,
    ToolResult,
)
from goldseam.kernel.request import ModelResponse, Remark, ReplyItem, StopReason


def used(*names: str) -> Conversation:
    """Return a history in which calls have these ids."""
    pairs = [(call("read", name), ToolResult(call_id=name, content="")) for name in names]
    return Conversation(chain([TASK], *pairs))


@given(RESPONSES)
def test_only_whole_replies_enter_and_each_call_has_an_id_of_its_own(
    response: ModelResponse,
) -> None:
    # Invariant 3; a call exists only once its reply is complete with a reason that permits calls.
    match admit(response, used("a", "b-2")):
        case Usable(response=usable):
            ids = [item.call_id for item in calls_of(usable)]
            assert len(set(ids)) == len(ids)
            assert not {"a", "b-2", ""} & set(ids)
            assert all(call_id.strip() for call_id in ids)
            assert usable.stop in {"end", "tool_calls", "pause"}
            assert not (ids and usable.stop == "pause")
            assert bool(ids or answer_of(usable)) or usable.stop == "pause"
        case Unusable(why=why, feedback=feedback):
            assert why
            assert feedback
        case Withheld():
            assert response.stop == "filter"


@pytest.mark.parametrize(
    ("stop", "items", "why"),
    [
        ("length", (call("read"),), "the reply reached its output limit and was cut"),
        ("malformed_call", (), "the call in the reply could not be read by the provider"),
        ("unknown", (said("x"),), "the reply ended for a reason that is not known"),
        ("tool_calls", (said("x"),), "the reply announced a tool call and held none"),
        ("end", (), "the reply was empty"),
        ("end", (said(" \n"), Reasoning(text="hm")), "the reply was empty"),
        ("pause", (call("read"),), "the reply paused in its middle and held a tool call"),
    ],
)
def test_a_reply_that_cannot_be_used_is_answered_with_why(
    stop: StopReason, items: tuple[ReplyItem, ...], why: str
) -> None:
    verdict = admit(reply(*items, stop=stop), used())
    assert isinstance(verdict, Unusable)
    assert verdict.why == why
    assert (
        "Nothing in it was run" in verdict.feedback or "nothing in it was run" in verdict.feedback
    )


def test_what_a_filter_withheld_is_not_asked_for_again() -> None:
    verdict = admit(reply(said("x"), stop="filter"), used())
    assert verdict == Withheld(why="the provider's filter withheld the reply")


def test_calls_that_are_present_run_whether_the_reason_is_end_or_tool_calls() -> None:
    for stop in ("end", "tool_calls"):
        response = reply(said("I look"), call("read"), stop=stop)
        assert admit(response, used()) == Usable(response=response, remarks=())


def test_a_pause_without_calls_is_usable_even_if_empty() -> None:
    response = reply(stop="pause")
    assert admit(response, used()) == Usable(response=response, remarks=())


@pytest.mark.parametrize(
    ("proposed", "taken", "ours"),
    [
        (("a", "b"), (), ("a", "b")),
        (("a",), ("a",), ("a-3",)),
        (("a",), ("a", "a-5"), ("a-6",)),
        (("",), (), ("call-1",)),
        ((" ",), (), ("call-1",)),
        (("a-3", "a"), ("a",), ("a-3", "a-4")),
        (("a", "a-3"), ("a",), ("a-3", "a-3-3")),
    ],
)
def test_a_used_or_blank_id_is_replaced_and_said(  # M7
    proposed: tuple[str, ...], taken: tuple[str, ...], ours: tuple[str, ...]
) -> None:
    calls = [call("read", call_id, f'{{"n":{n}}}') for n, call_id in enumerate(proposed)]
    verdict = admit(reply(*calls), used(*taken))
    assert isinstance(verdict, Usable)
    assert tuple(c.call_id for c in calls_of(verdict.response)) == ours
    renamed = [(a, b) for a, b in zip(proposed, ours, strict=True) if a != b]
    assert verdict.remarks == tuple(
        Remark(code="call_id_renamed", text=f"call id {a!r} is {b!r} in this run")
        for a, b in renamed
    )


def test_the_same_call_twice_in_one_reply_runs_once_and_that_is_said() -> None:
    verdict = admit(reply(call("read"), call("read")), used())
    repeated = Remark(code="repeated_call_dropped", text="call id 'a' stood twice in one reply")
    assert verdict == Usable(response=reply(call("read")), remarks=(repeated,))


def test_two_equal_calls_without_ids_are_two_calls() -> None:
    verdict = admit(reply(call("read", ""), call("read", "")), used())
    assert isinstance(verdict, Usable)
    assert len(calls_of(verdict.response)) == 2


def test_a_stutter_is_noticed_though_another_call_of_its_id_stands_between() -> None:
    verdict = admit(reply(call("read"), call("write"), call("read")), used())
    assert isinstance(verdict, Usable)
    assert calls_of(verdict.response) == (call("read", "a"), call("write", "a-1"))


def test_two_calls_that_share_an_id_and_differ_both_run() -> None:
    verdict = admit(reply(call("read"), call("write")), used())
    assert isinstance(verdict, Usable)
    assert calls_of(verdict.response) == (call("read", "a"), call("write", "a-1"))


def test_remarks_of_the_adapter_go_on_record_before_ours() -> None:
    repair = Remark(code="fence", text="found in a fence")
    response = ModelResponse(
        items=(call("read", ""),), stop="end", usage=reply().usage, model="m", remarks=(repair,)
    )
    verdict = admit(response, used())
    assert isinstance(verdict, Usable)
    assert [remark.code for remark in verdict.remarks] == ["fence", "call_id_renamed"]
    assert verdict.response.remarks == ()


def test_seals_and_thoughts_pass_as_received() -> None:  # Invariant 12: opaque state is untouched
    seal = Seal(origin="one", name="signature", value="\x00 é =")
    thought = Reasoning(seals=(seal,))
    sealed = ToolCall(
        call_id="used", tool_name="read", arguments=call("read").arguments, seals=(seal,)
    )
    verdict = admit(reply(thought, sealed), used("used"))
    assert isinstance(verdict, Usable)
    assert [item.seals for item in verdict.response.items] == [(seal,), (seal,)]


def test_the_answer_is_every_word_to_the_reader() -> None:
    response = reply(Reasoning(text="hm"), said("One."), said(" "), said("Two."))
    assert answer_of(response) == "One.\n\nTwo."
