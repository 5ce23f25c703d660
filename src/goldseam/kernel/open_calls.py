"""The calls of the reply under way: how far each has come, and what it is told in the end. Pure."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from goldseam.kernel.conversation import ToolCall, ToolResult
from goldseam.kernel.events import MustAsk
from goldseam.kernel.request import ToolSpec

CallStage: TypeAlias = Literal["proposed", "must_ask", "granted", "ready", "running", "closed"]


class OpenCall(Struct, frozen=True, kw_only=True):
    """A call of the reply under way and how far it has come."""

    call: ToolCall
    stage: CallStage = "proposed"
    question: MustAsk | None = None
    result: ToolResult | None = None


OpenCalls: TypeAlias = tuple[OpenCall, ...]


def call_named(calls: OpenCalls, call_id: str) -> OpenCall:
    """Return the call of that id; a `KeyError` is our defect."""
    return {entry.call.call_id: entry for entry in calls}[call_id]


def with_call(calls: OpenCalls, changed: OpenCall) -> OpenCalls:
    """Return `calls` with `changed` in the place of what it was."""
    return tuple(changed if entry.call == changed.call else entry for entry in calls)


def with_result(calls: OpenCalls, result: ToolResult) -> OpenCalls:
    """Return `calls` with one closed; the first result a call got stays its result."""
    entry = call_named(calls, result.call_id)
    return with_call(calls, replace(entry, stage="closed", result=entry.result or result))


def results_of(calls: OpenCalls) -> tuple[ToolResult, ...] | None:
    """Return all results in call order, `None` while one is wanting."""
    results = tuple(entry.result for entry in calls if entry.result is not None)
    return results if len(results) == len(calls) else None


def taken_up(calls: OpenCalls, tools: Iterable[ToolSpec]) -> OpenCalls:
    """Return `calls` as a run that goes on meets them.

    Policy, which may have changed, speaks again on each that did not begin, or only reads.
    """
    readers = {spec.name for spec in tools if spec.reads_only}
    return tuple(
        replace(entry, stage="proposed")
        if entry.stage != "closed" and (entry.stage != "running" or entry.call.tool_name in readers)
        else entry
        for entry in calls
    )


def unfinished(entry: OpenCall) -> ToolResult:
    """Return what a call is told that the end of its run left open."""
    call_id = entry.call.call_id
    if entry.stage == "running":
        return ToolResult(
            call_id=call_id,
            kind="interrupted",
            content="The run ended while this call ran; it may have partly taken effect.",
        )
    return ToolResult(
        call_id=call_id, kind="cut_off", content="The run ended before this call was run."
    )


def denied(call_id: str, why: str) -> ToolResult:
    """Return what a call is told that a person refused."""
    return ToolResult(
        call_id=call_id,
        kind="denied",
        content=f"Not allowed: {why}. The call was not run; reach the goal another way.",
    )
