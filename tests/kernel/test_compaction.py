"""Old outputs leave the context; nothing else does. Invariant 11; K12; agents 30."""

from hypothesis import given
from hypothesis import strategies as st
from kernel.values import TASK, call, said

from goldseam.kernel.compaction import (
    KEEP_RECENT_RESULTS,
    MINIMUM_GAIN,
    SMALL,
    outputs_to_drop,
    without_outputs,
)
from goldseam.kernel.conversation import Conversation, HistoryItem, ToolCall, ToolResult


def history(sizes: list[int], name: str = "read") -> Conversation:
    """Return a conversation with one call for each size of output."""
    items: list[HistoryItem] = [TASK]
    for number, size in enumerate(sizes):
        items += [call(name, f"c{number}"), ToolResult(call_id=f"c{number}", content="x" * size)]
    return Conversation(items)


SIZES = st.lists(st.sampled_from((0, SMALL, SMALL + 1, 900, 20_000)), max_size=20)


@given(SIZES, st.sampled_from(("read", "n" * 6000)))
def test_it_frees_a_fifth_or_does_nothing_runs_once_and_parts_no_pair(
    sizes: list[int], name: str
) -> None:
    before = history(sizes, name)
    dropped = outputs_to_drop(before)
    after = without_outputs(before, frozenset(dropped))
    recent = {f"c{number}" for number in range(len(sizes))[-KEEP_RECENT_RESULTS:]}
    assert not recent & set(dropped)
    assert after.weight <= before.weight * (1 - MINIMUM_GAIN) + SMALL or not dropped
    assert set(outputs_to_drop(after)) & set(dropped) == set()
    assert len(after) == len(before)
    for old, new in zip(before, after, strict=True):
        if isinstance(old, ToolResult) and old.call_id in dropped:
            assert isinstance(new, ToolResult)
            assert (new.call_id, new.kind) == (old.call_id, old.kind)
            assert new.content == (
                f"[{len(old.content)} characters of this output were dropped to make room; "
                "make the call again to see them]"
            )
        else:
            assert new is old


def test_the_task_and_every_word_stay() -> None:  # K12
    before = Conversation([*history([5000] * 10), said("I found it")])
    after = without_outputs(before, frozenset(outputs_to_drop(before)))
    assert outputs_to_drop(before) == ("c0", "c1", "c2", "c3")
    assert [item for item in after if not isinstance(item, ToolCall | ToolResult)] == [
        TASK,
        said("I found it"),
    ]


def test_too_small_a_gain_is_no_reason() -> None:
    assert outputs_to_drop(history([1000, *[50_000] * KEEP_RECENT_RESULTS])) == ()
