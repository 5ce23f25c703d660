"""The steps of a run as HTML: what the model thought, said and called, and its ends. Pure."""

import json
from collections.abc import Iterator
from typing import assert_never

from msgspec import Struct

from goldseam.journal.changes import Change, changes_of, values_of
from goldseam.journal.costs import cost_in_words, tokens_in_words, total_of
from goldseam.journal.markup import Markup, shown, tag
from goldseam.journal.run_view import CallView, NoteView, StepView
from goldseam.journal.texts import block, cut_off
from goldseam.kernel.conversation import (
    Arguments,
    Malformed,
    Message,
    Reasoning,
    ToolCall,
    ToolResult,
)
from goldseam.kernel.events import ModelCallFailed, ModelReplied, ReplyRejected
from goldseam.kernel.json_text import Json
from goldseam.kernel.request import ModelResponse

_BRIEF = 90
_SHORT = 240
_SIGNS = {"+": "add", "-": "del", "@": "at", " ": "same"}


class Style(Struct, frozen=True, kw_only=True):
    """What holds for all of a page: the run's name, the room for a text, colours of models."""

    run_id: str
    room: int
    colours: dict[str, str]

    def rest_of(self, step: StepView) -> str:
        """Return where all of a step can be read."""
        return f"goldseam show {self.run_id} --step {step.number}"


def step_article(step: StepView, style: Style) -> Markup:
    """Return one step."""
    anchor = f"s{step.number}"
    heading = tag("h2", tag("a", f"Step {step.number}", href=f"#{anchor}"))
    return tag(
        "article",
        tag("header", heading, *_step_facts(step, style)),
        *_ending(step, style),
        *(call_section(view, step, style) for view in step.calls),
        class_="step",
        id=anchor,
        tabindex="-1",
    )


def note_aside(note: NoteView, style: Style) -> Markup:
    """Return what lay between two steps."""
    time = tag("span", clock(note.at_s), class_="when")
    title = tag("span", note.title, class_="title")
    if not note.text:
        return tag("div", time, title, class_=f"note {note.kind}")
    told = "; the model was told so" if note.told else ""
    words = block(note.text, room=style.room, rest=f"goldseam show {style.run_id} --events")
    inside = folded(f"{size(note.text)}{told}", words, opened=note.kind in {"proof", "end"})
    return tag("div", time, title, inside, class_=f"note {note.kind}")


def call_section(view: CallView, step: StepView, style: Style) -> Markup:
    """Return a call: what it is to do, what policy said, what it changes and what it gave."""
    call = view.call
    kind = view.result.kind if view.result is not None else "open"
    brief = _brief(call)
    return tag(
        "section",
        tag(
            "h3",
            tag("span", call.tool_name, class_="tool"),
            tag("code", brief) if brief else "",
            tag("span", _state(view), class_=f"badge {kind}"),
        ),
        *(_policy(said, style, rest=style.rest_of(step)) for said in view.policy),
        *(change_block(change, room=style.room) for change in changes_of(call)),
        _arguments(call, style, rest=style.rest_of(step)),
        _observation(view.result, style, rest=style.rest_of(step)),
        _whole_output(view.full_text, style, rest=style.rest_of(step)),
        class_=f"call {kind}",
    )


def change_block(change: Change, *, room: int, rest: str = "the arguments below") -> Markup:
    """Return a diff, each line marked by a sign and not by colour alone."""
    lines: list[Markup] = []
    left = room
    for line in change:
        if left <= 0:
            break
        sign = "" if line.sign == "@" else line.sign
        lines.append(tag("span", f"{sign}{line.text[:left]}\n", class_=_SIGNS[line.sign]))
        left -= len(line.text) + 1
    missing = sum(len(line.text) + 1 for line in change) - room
    return tag("pre", *lines, cut_off(missing, rest), class_="diff")


def folded(summary: str, inside: Markup, *, opened: bool = False) -> Markup:
    """Return what is shown once it is asked for."""
    return tag("details", tag("summary", summary), inside, open="open" if opened else "")


def clock(at_s: float) -> str:
    """Say when, by the run's own clock."""
    minutes, seconds = divmod(max(at_s, 0.0), 60)
    return f"+{minutes:.0f}:{seconds:04.1f}" if minutes else f"+{seconds:.1f} s"


def size(text: str) -> str:
    """Say how long a text is."""
    return f"{len(text):,} character{'' if len(text) == 1 else 's'}"


def _step_facts(step: StepView, style: Style) -> Iterator[Markup]:
    total = total_of((step,))
    yield tag("span", clock(step.at_s), class_="when")
    yield tag("span", step.model, class_=f"model {style.colours.get(step.model, '')}")
    yield tag("span", f"{step.seconds:.1f} s", class_="fact")
    yield tag("span", tokens_in_words(total), class_="fact tokens")
    if cost := cost_in_words(total):
        yield tag("span", cost, class_="fact cost")


def _ending(step: StepView, style: Style) -> Iterator[Markup]:
    rest = style.rest_of(step)
    match step.ending:
        case ModelReplied(response=response):
            yield from _reply(response, style, rest=rest)
        case ReplyRejected(why=why, excerpt=excerpt, feedback=feedback):
            yield tag("p", f"The reply could not be used: {why}", class_="bad")
            yield folded("How it began", block(excerpt, room=style.room, rest=rest))
            yield folded("What the model was told", block(feedback, room=style.room, rest=rest))
        case ModelCallFailed(kind=kind, text=text):
            yield tag("p", f"No reply came ({kind}).", class_="bad")
            yield block(text, room=style.room, rest=rest)
        case None:
            yield tag("p", "No end of this call is on record.", class_="bad")
        case _:
            assert_never(step.ending)


def _reply(response: ModelResponse, style: Style, *, rest: str) -> Iterator[Markup]:
    for item in response.items:
        match item:
            case Message(text=text):
                yield block(text, room=style.room, rest=rest, class_="says") if text else Markup("")
            case Reasoning(text=thought):
                yield _thought(thought or "", style, rest=rest)
            case ToolCall():
                pass  # each has a section of its own, with what came of it
            case _:
                assert_never(item)
    for remark in response.remarks:
        yield tag("p", f"{remark.code}: {_short(remark.text)}", class_="policy")
    if response.stop not in {"end", "tool_calls"}:
        yield tag("p", f"The reply stopped early: {response.stop}", class_="bad")


def _thought(text: str, style: Style, *, rest: str) -> Markup:
    if not text:
        return tag("p", "A sealed thought.", class_="policy")
    return folded(f"Thought, {size(text)}", block(text, room=style.room, rest=rest))


def _policy(said: str, style: Style, *, rest: str) -> Markup:
    headline, end, shown_to_person = said.partition("\n")
    if not end:
        return tag("p", _short(said), class_="policy")
    return folded(headline, block(shown_to_person, room=style.room, rest=rest))


def _state(view: CallView) -> str:
    if view.result is None:
        return "started, and nobody knows what it did" if view.has_started else "never started"
    if view.has_started:
        return f"{view.result.kind} in {view.seconds:.2f} s"
    return view.result.kind


def _brief(call: ToolCall) -> str:
    """Say what the call is about: its short arguments, in one line."""
    words = map(_as_text, values_of(call).values())
    return " · ".join(word for word in words if _is_brief(word))


def _is_brief(word: str) -> bool:
    return "\n" not in word and len(word) <= _BRIEF


def _arguments(call: ToolCall, style: Style, *, rest: str) -> Markup:
    match call.arguments:
        case Malformed(raw=raw, why=why):
            why_not = tag("p", f"The arguments cannot be used: {why}", class_="bad")
            return Markup(why_not + block(raw, room=style.room, rest=rest))
        case Arguments():
            values = values_of(call)
        case _:
            assert_never(call.arguments)
    if all(_is_brief(_as_text(value)) for value in values.values()):
        return Markup("")  # the headline says them all
    rows = [
        tag("dt", name) + tag("dd", block(_as_text(value), room=style.room, rest=rest))
        for name, value in values.items()
    ]
    return folded("Arguments", tag("dl", *map(Markup, rows)))


def _observation(result: ToolResult | None, style: Style, *, rest: str) -> Markup:
    if result is None:
        return Markup("")
    first = next((line.strip() for line in result.content.split("\n") if line.strip()), "")
    summary = Markup(
        shown(f"Observation, {size(result.content)}") + tag("span", first[:_BRIEF], class_="first")
    )
    words = block(result.content, room=style.room, rest=rest)
    return folded(summary, words, opened=result.is_error)


def _whole_output(full_text: str | None, style: Style, *, rest: str) -> Markup:
    if full_text is None:
        return Markup("")
    words = block(full_text, room=style.room, rest=rest)
    return folded(f"Whole output, {size(full_text)}", words)


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _short(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}… ({len(text):,} characters)"
