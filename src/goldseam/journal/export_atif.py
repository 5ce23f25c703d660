"""A run in the Agent Trajectory Interchange Format, version 1.7. Pure.

Steps of `system`, `user` and `agent`, numbered from 1; the results of a step's calls stand in its
own `observation`; `prompt_tokens` holds cached input too, as the format wants it. What the format
has no field for stands in `extra`, and a field that is unknown is left out.
"""

import json
from collections.abc import Iterator
from typing import assert_never

from goldseam._version import __version__
from goldseam.journal.changes import values_of
from goldseam.journal.costs import total_of
from goldseam.journal.run_view import CallView, NoteView, RunView, StepView
from goldseam.kernel.conversation import Arguments, Malformed, Message, Reasoning
from goldseam.kernel.events import ModelCallFailed, ModelReplied, ReplyRejected, RunStarted
from goldseam.kernel.json_text import BadJsonError, Json, read_json
from goldseam.kernel.request import ToolSpec

SCHEMA = "ATIF-v1.7"

_PICODOLLARS = 10**12

Fields = dict[str, Json]


def atif_of(run: RunView) -> Fields:
    """Return the trajectory of `run`, every step of it."""
    steps = list(_steps(run))
    for number, step in enumerate(steps, start=1):
        step["step_id"] = number
    total = total_of(run.steps)
    settings = run.opening.settings if run.opening is not None else ()
    extra: Fields = {setting.name: setting.value for setting in settings}
    return {
        "schema_version": SCHEMA,
        "session_id": run.run_id,
        "trajectory_id": run.run_id,
        "agent": _known(
            name="goldseam",
            version=__version__,
            model_name=run.models[0] if run.models else None,
            tool_definitions=_tools(run.opening),
        ),
        "steps": list[Json](steps),
        "final_metrics": _known(
            total_prompt_tokens=total.input + total.cached,
            total_completion_tokens=total.output,
            total_cached_tokens=total.cached,
            total_cost_usd=_dollars(total.money),
            total_steps=len(steps),
            extra={"steps_without_usage": total.unsaid} if total.unsaid else None,
        ),
        "extra": {**extra, "outcome": type(run.outcome).__name__ if run.outcome else None},
    }


def _steps(run: RunView) -> Iterator[Fields]:
    for message in run.opening.history if run.opening is not None else ():
        yield {"timestamp": run.started, "source": message.role, "message": message.text}
    for item in run.items:
        match item:
            case StepView():
                yield from _agent_steps(item)
            case NoteView():
                yield _note(item)
            case _:
                assert_never(item)


def _note(note: NoteView) -> Fields:
    """What the model was told is the user's word; all else happened beside the conversation."""
    source = "user" if note.told else "system"
    message = note.text if note.told else "\n".join(filter(None, (note.title, note.text)))
    return _known(
        timestamp=note.time, source=source, message=message, extra={"goldseam": note.kind}
    )


def _agent_steps(step: StepView) -> Iterator[Fields]:
    usage = step.usage
    metrics = _known(
        prompt_tokens=_sum(usage.input, usage.cache_read, usage.cache_write),
        completion_tokens=usage.output,
        cached_tokens=usage.cache_read,
        cost_usd=_dollars(step.money),
    )
    common: Fields = _known(
        timestamp=step.time, source="agent", model_name=step.model, metrics=metrics or None
    )
    match step.ending:
        case ModelReplied(response=response):
            said = [item.text for item in response.items if isinstance(item, Message)]
            thoughts = [item.text or "" for item in response.items if isinstance(item, Reasoning)]
            yield common | _known(
                message="\n\n".join(said),
                reasoning_content="\n\n".join(filter(None, thoughts)) or None,
                tool_calls=[_call(view) for view in step.calls] or None,
                observation=_observation(step.calls),
                extra={"model_call": step.number, "stop": response.stop},
            )
        case ReplyRejected(why=why, excerpt=excerpt, feedback=feedback):
            extra: Fields = {"model_call": step.number, "rejected": why}
            yield common | {"message": excerpt, "extra": extra}
            yield {"timestamp": step.time, "source": "user", "message": feedback}
        case ModelCallFailed(kind=kind, text=text):
            yield common | {
                "message": "",
                "extra": {"model_call": step.number, "failed": kind, "why": text},
            }
        case None:
            yield common | {
                "message": "",
                "extra": {"model_call": step.number, "failed": "unknown"},
            }
        case _:
            assert_never(step.ending)


def _call(view: CallView) -> Json:
    call = view.call
    fields: Fields = {"tool_call_id": call.call_id, "function_name": call.tool_name}
    match call.arguments:
        case Arguments():
            return {**fields, "arguments": values_of(call)}
        case Malformed(raw=raw, why=why):
            return {**fields, "arguments": {}, "extra": {"raw": raw, "why": why}}
        case _:
            assert_never(call.arguments)


def _observation(calls: tuple[CallView, ...]) -> Json:
    results: list[Json] = [
        {
            "source_call_id": view.call.call_id,
            "content": view.result.content,
            "extra": {"kind": view.result.kind, "seconds": view.seconds},
        }
        for view in calls
        if view.result is not None
    ]
    return {"results": results} if results else None


def _tools(opening: RunStarted | None) -> Json:
    if opening is None or not opening.tools:
        return None
    return [_tool(spec) for spec in opening.tools]


def _tool(spec: ToolSpec) -> Json:
    try:
        parameters = read_json(spec.parameters)
    except BadJsonError:
        parameters = {}
    function: Fields = {
        "name": spec.name,
        "description": spec.description,
        "parameters": parameters,
    }
    return {"type": "function", "function": function}


def _dollars(money: int | None) -> float | None:
    return None if money is None else money / _PICODOLLARS


def _sum(first: int | None, *more: int | None) -> int | None:
    return None if first is None else first + sum(part or 0 for part in more)


def _known(**fields: Json) -> Fields:
    return {name: value for name, value in fields.items() if value is not None}


def atif_text(run: RunView) -> str:
    """Return the trajectory as JSON text, ASCII."""
    return json.dumps(atif_of(run), indent=2) + "\n"
