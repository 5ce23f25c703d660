"""A run as Markdown. Pure. All that a stranger wrote stands in fences that it cannot close."""

import re
from collections.abc import Iterator
from typing import assert_never

from goldseam.journal.costs import cost_in_words, tokens_in_words, total_of
from goldseam.journal.phrases import ended
from goldseam.journal.run_view import CallView, NoteView, RunView, StepView
from goldseam.journal.visible import visible
from goldseam.kernel.conversation import Arguments, Malformed, Message, Reasoning, ToolCall
from goldseam.kernel.events import ModelCallFailed, ModelReplied, ReplyRejected

_TICKS = re.compile(r"`+")
_MARKS = re.compile(r"([\\`*_{}\[\]<>()#|~&!])")


def markdown_of(run: RunView) -> str:
    """Return the whole run, nothing in it cut."""
    return "\n".join(_lines(run)) + "\n"


def _lines(run: RunView) -> Iterator[str]:
    yield f"# Run {run.run_id}"
    yield ""
    total = total_of(run.steps)
    settings = run.opening.settings if run.opening is not None else ()
    facts = {
        "began": run.started,
        **{setting.name: setting.value for setting in settings},
        "tokens": tokens_in_words(total),
        "cost": cost_in_words(total),
    }
    yield from (f"- {name}: {_words(value)}" for name, value in facts.items() if value)
    for message in run.opening.history if run.opening is not None else ():
        yield from _part(f"**{message.role}**", message.text)
    for item in run.items:
        match item:
            case StepView():
                yield from _step(item)
            case NoteView(title=title, text=text):
                yield from _part(_words(title), text)
            case _:
                assert_never(item)
    if run.outcome is not None:
        yield from _part("## The end", "\n".join(ended(run.outcome)))


def _step(step: StepView) -> Iterator[str]:
    total = total_of((step,))
    facts = ", ".join(filter(None, (tokens_in_words(total), cost_in_words(total))))
    yield ""
    yield f"## Step {step.number}: {_words(step.model)} ({facts})"
    match step.ending:
        case ModelReplied(response=response):
            for item in response.items:
                yield from _item(item)
        case ReplyRejected(why=why, excerpt=excerpt, feedback=feedback):
            yield from _part(f"**rejected**: {_words(why)}", excerpt)
            yield from _part("**told**", feedback)
        case ModelCallFailed(kind=kind, text=text):
            yield from _part(f"**no reply** ({kind})", text)
        case None:
            yield from _part("**no end of it is on record**", "")
        case _:
            assert_never(step.ending)
    for view in step.calls:
        yield from _call(view)


def _item(item: Message | Reasoning | ToolCall) -> Iterator[str]:
    match item:
        case Message(text=text):
            yield from _part("**says**", text)
        case Reasoning(text=text):
            yield from _part("**thinks**", text or "(sealed)")
        case ToolCall():
            pass  # told with what came of it
        case _:
            assert_never(item)


def _call(view: CallView) -> Iterator[str]:
    match view.call.arguments:
        case Arguments(text=text):
            written = text
        case Malformed(raw=raw):
            written = raw
        case _:
            assert_never(view.call.arguments)
    yield from _part(f"**calls** {_words(view.call.tool_name)}", written)
    for said in view.policy:
        headline, _, more = said.partition("\n")
        yield from _part(_words(headline), more)
    if view.result is None:
        yield from _part("**no result is on record**", "")
    else:
        yield from _part(f"**{view.result.kind}**", view.result.content)
    if view.full_text is not None:
        yield from _part("**whole output**", view.full_text)


def _part(heading: str, text: str) -> Iterator[str]:
    yield ""
    yield heading
    if text:
        longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
        fence = "`" * max(3, longest + 1)
        yield ""
        yield f"{fence}text"
        for line in text.split("\n"):
            yield "\t".join(map(visible, line.split("\t")))
        yield fence


def _words(text: str) -> str:
    """Return `text` as plain words on one line: no markup of it, and no HTML, acts."""
    return _MARKS.sub(r"\\\1", visible(text))
