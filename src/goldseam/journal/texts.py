"""Long texts on a page: how much of each is shown, so that any page can be opened. Pure."""

from collections.abc import Iterable, Iterator
from typing import assert_never

from goldseam.journal.markup import Markup, tag
from goldseam.journal.run_view import NoteView, RunView, StepView
from goldseam.kernel.conversation import Arguments, Message, Reasoning, ToolCall
from goldseam.kernel.events import ModelReplied
from goldseam.kernel.request import ReplyItem

_ROOMS = (100_000, 40_000, 20_000, 10_000, 4_000, 2_000, 1_000, 500)
_MOST = 6_000_000
"""Characters of all texts on a page, escapes and marks not counted."""


def room_for(run: RunView) -> int:
    """Return how many characters of each text are shown, the same for all texts of `run`."""
    lengths = [len(text) for text in _texts(run)]
    return next(
        (room for room in _ROOMS if sum(min(length, room) for length in lengths) <= _MOST),
        _ROOMS[-1],
    )


def block(text: str, *, room: int, rest: str, class_: str = "") -> Markup:
    """Return `text` as it stands, its first `room` characters, and where the `rest` can be read."""
    return tag("pre", text[:room], cut_off(len(text) - room, rest), class_=class_)


def cut_off(missing: int, rest: str) -> Markup:
    """Say that so many characters are `missing`, where there are any."""
    if missing <= 0:
        return Markup("")
    return tag("span", f"\n… {missing:,} more characters: {rest}", class_="cut")


def _texts(run: RunView) -> Iterator[str]:
    if run.opening is not None:
        yield from (message.text for message in run.opening.history)
    for item in run.items:
        match item:
            case NoteView(text=text):
                yield text
            case StepView():
                yield from _texts_of_step(item)
            case _:
                assert_never(item)


def _texts_of_step(step: StepView) -> Iterable[str]:
    if isinstance(step.ending, ModelReplied):
        yield from map(_text_of_item, step.ending.response.items)
    for view in step.calls:
        yield _text_of_item(view.call)
        yield view.result.content if view.result is not None else ""
        yield view.full_text or ""


def _text_of_item(item: ReplyItem) -> str:
    match item:
        case Message(text=text):
            return text
        case Reasoning(text=thought):
            return thought or ""
        case ToolCall(arguments=arguments):
            # It stands on the page twice: as a change and as arguments.
            return arguments.text * 2 if isinstance(arguments, Arguments) else arguments.raw
        case _:
            assert_never(item)
