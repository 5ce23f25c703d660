"""What of a reply may enter the run. Pure: sees the reply and the call ids used so far.

A call exists only once its reply is complete and ended for a reason that permits calls; its id is
unique in the run, whatever the model wrote (M7).
"""

from itertools import chain, count
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from goldseam.kernel.conversation import Conversation, Message, ToolCall
from goldseam.kernel.request import ModelResponse, Remark, ReplyItem


class Usable(Struct, frozen=True, kw_only=True):
    """The reply as it enters the run, its call ids ours; `remarks` go on record beside it."""

    response: ModelResponse
    remarks: tuple[Remark, ...]


class Unusable(Struct, frozen=True, kw_only=True):
    """Nothing of the reply enters the run; `feedback` tells the model why."""

    why: str
    feedback: str


class Withheld(Struct, frozen=True, kw_only=True):
    """The provider withheld the reply; asking the same again will not help."""

    why: str


def admit(response: ModelResponse, history: Conversation) -> Usable | Unusable | Withheld:
    """Judge a whole reply to `history` by why it ended and what it holds."""
    match response.stop:
        case "end" | "tool_calls" | "pause":
            return _admit_items(response, history)
        case "length":
            return _cut_reply()
        case "filter":
            return Withheld(why="the provider's filter withheld the reply")
        case "malformed_call":
            return _refuse("the call in the reply could not be read by the provider")
        case "unknown":
            return _refuse("the reply ended for a reason that is not known")
        case _:
            assert_never(response.stop)


def calls_of(response: ModelResponse) -> tuple[ToolCall, ...]:
    """Return the calls of a reply, in its order."""
    return tuple(item for item in response.items if isinstance(item, ToolCall))


def answer_of(response: ModelResponse) -> str:
    """Return the words of a reply to its reader."""
    return "\n\n".join(
        item.text for item in response.items if isinstance(item, Message) and item.text.strip()
    )


def _admit_items(response: ModelResponse, history: Conversation) -> Usable | Unusable:
    calls = calls_of(response)
    if calls and response.stop == "pause":
        return _refuse("the reply paused in its middle and held a tool call")
    if not calls and response.stop == "tool_calls":
        return _refuse("the reply announced a tool call and held none")
    if not calls and response.stop == "end" and not answer_of(response):
        return _refuse("the reply was empty")
    items, remarks = _own_ids(response.items, history)
    return Usable(
        response=replace(response, items=items, remarks=()),
        remarks=(*response.remarks, *remarks),
    )


def _own_ids(
    items: tuple[ReplyItem, ...], history: Conversation
) -> tuple[tuple[ReplyItem, ...], list[Remark]]:
    """Give each call an id of the run; the same call twice in one reply is a stutter and goes."""
    kept: list[ReplyItem] = []
    remarks: list[Remark] = []
    proposed: dict[str, ToolCall] = {}
    taken: set[str] = set()
    for item in items:
        if not isinstance(item, ToolCall):
            kept.append(item)
            continue
        if item.call_id.strip() and proposed.get(item.call_id) == item:
            remarks.append(
                _remark("repeated_call_dropped", item.call_id, "stood twice in one reply")
            )
            continue
        proposed.setdefault(item.call_id, item)
        call_id = _own_id(item.call_id, taken, history)
        taken.add(call_id)
        if call_id != item.call_id:
            remarks.append(_remark("call_id_renamed", item.call_id, f"is {call_id!r} in this run"))
        kept.append(replace(item, call_id=call_id))
    return tuple(kept), remarks


def _own_id(proposed: str, taken: set[str], history: Conversation) -> str:
    """Return `proposed` where it is free, else a name with a number not seen so far."""

    def is_free(name: str) -> bool:
        return bool(name.strip()) and name not in taken and not history.has_call(name)

    # Numbers begin at the length of the history, which grows: the first is free, at any length.
    numbered = (f"{proposed.strip() or 'call'}-{number}" for number in count(len(history)))
    return next(name for name in chain([proposed], numbered) if is_free(name))


def _remark(code: str, call_id: str, what: str) -> Remark:
    return Remark(code=code, text=f"call id {call_id!r} {what}")


def _cut_reply() -> Unusable:
    return Unusable(
        why="the reply reached its output limit and was cut",
        feedback="Your reply reached the output limit and was cut off; nothing in it was run. "
        "Send a shorter one: fewer calls at once, smaller edits, less text.",
    )


def _refuse(why: str) -> Unusable:
    return Unusable(
        why=why,
        feedback=f"Your reply could not be used: {why}. Nothing in it was run. Reply again.",
    )
