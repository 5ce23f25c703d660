"""A run, or one step of it, as lines for a person: short first, exact where asked. Pure."""

from collections.abc import Iterator
from typing import assert_never

from goldseam.journal.asking import Asked
from goldseam.journal.costs import cost_in_words, tokens_in_words, total_of
from goldseam.journal.phrases import block, ended, short
from goldseam.journal.run_view import CallView, NoteView, RunView, StepView
from goldseam.journal.visible import visible
from goldseam.kernel.conversation import (
    Arguments,
    Feedback,
    HistoryItem,
    Malformed,
    Message,
    Reasoning,
    ToolCall,
    ToolResult,
)
from goldseam.kernel.events import ModelCallFailed, ModelReplied, ReplyRejected


def summary_lines(run: RunView) -> Iterator[str]:
    """Yield what a run was, step by step, and how it ended; each line fit for a terminal."""
    total = total_of(run.steps)
    settings = run.opening.settings if run.opening is not None else ()
    facts = {
        "run": run.run_id,
        "began": f"{run.started[:19].replace('T', ' ')}, took {run.seconds:,.1f} s",
        **{setting.name: setting.value for setting in settings},
        "tokens": tokens_in_words(total),
        "cost": cost_in_words(total),
    }
    for name, value in facts.items():
        if value:
            yield visible(f"{name + ':':12}{short(value)}")
    yield ""
    for item in run.items:
        lines = _step(item) if isinstance(item, StepView) else _note(item)
        yield from map(visible, lines)
    if run.outcome is None:
        yield "the record has no end: the run goes on just now, or it was cut off"
    else:
        yield ""
        yield from map(visible, ended(run.outcome))


def step_lines(asked: Asked, step: StepView) -> Iterator[str]:
    """Yield the whole of one step: the request, the reply, the results; nothing is cut."""
    request = asked.request
    yield visible(f"step {asked.number} asks {asked.model or step.model or 'the model'}")
    yield f"at most {request.max_output_tokens:,} tokens; {len(request.history):,} items of history"
    for spec in request.tools:
        yield from _part(f"tool {spec.name}", f"{spec.description}\n{spec.parameters}")
    for item in request.history:
        yield from _part(*_labelled(item))
    yield ""
    yield "─── what came of it"
    yield from _reply(step)
    for view in step.calls:
        yield from _call_in_full(view)


def _step(step: StepView) -> Iterator[str]:
    total = total_of((step,))
    cost = cost_in_words(total)
    end = "" if isinstance(step.ending, ModelReplied) else f": {_how_it_failed(step)}"
    yield short(
        f"step {step.number}  {step.model}  {tokens_in_words(total)}{cost and f'  {cost}'}{end}"
    )
    for view in step.calls:
        yield from (f"    {line}" for line in _call(view))


def _how_it_failed(step: StepView) -> str:
    match step.ending:
        case ReplyRejected(why=why):
            return f"reply rejected: {why}"
        case ModelCallFailed(kind=kind, text=text):
            return f"no reply ({kind}): {text}"
        case _:
            return "no end of it is on record"


def _call(view: CallView) -> Iterator[str]:
    kind = view.result.kind if view.result is not None else "no result"
    yield short(f"{view.call.tool_name} {_written(view.call.arguments)}: {kind}")
    for said in view.policy:
        if not said.startswith("allowed"):
            yield f"  {short(said.split(chr(10))[0])}"
    if view.result is not None and view.result.is_error:
        yield from (f"  {line}" for line in block("result", view.result.content))


def _note(note: NoteView) -> Iterator[str]:
    if note.kind == "end":
        return
    yield short(note.title)
    if note.text and note.kind in {"proof", "gap"}:
        yield from (f"    {line}" for line in block("proof", note.text))


def _reply(step: StepView) -> Iterator[str]:
    match step.ending:
        case ModelReplied(response=response):
            yield f"stop: {response.stop}; {tokens_in_words(total_of((step,)))}"
            for item in response.items:
                yield from _part(*_labelled(item))
        case ReplyRejected(why=why, excerpt=excerpt, feedback=feedback):
            yield from _part("rejected", why)
            yield from _part("it began", excerpt)
            yield from _part("told", feedback)
        case ModelCallFailed(kind=kind, text=text):
            yield from _part(f"failed: {kind}", text)
        case None:
            yield "no end of it is on record"
        case _:
            assert_never(step.ending)


def _call_in_full(view: CallView) -> Iterator[str]:
    call_id = view.call.call_id
    for said in view.policy:
        yield from _part(f"policy {call_id}", said)
    if view.result is None:
        yield from _part(f"result {call_id}", "none is on record")
    elif view.full_text is not None:
        yield from _part(*_labelled(view.result))
        yield from _part(f"whole output {call_id}", view.full_text)
    else:
        yield from _part(*_labelled(view.result))


def _part(label: str, text: str) -> Iterator[str]:
    yield ""
    yield f"─── {visible(label)}"
    for line in text.split("\n"):
        yield "\t".join(map(visible, line.split("\t")))


def _labelled(item: HistoryItem) -> tuple[str, str]:
    match item:
        case Message(role=role, text=text):
            return role, text
        case Reasoning(text=text):
            return "thought", text or "(sealed)"
        case ToolCall(call_id=call_id, tool_name=name, arguments=arguments):
            return f"call {call_id}: {name}", _written(arguments)
        case ToolResult(call_id=call_id, kind=kind, content=content):
            return f"result {call_id}: {kind}", content
        case Feedback(text=text):
            return "feedback", text
        case _:
            assert_never(item)


def _written(arguments: Arguments | Malformed) -> str:
    return arguments.text if isinstance(arguments, Arguments) else arguments.raw
