"""The tools of one run, closed once it starts: judges calls, runs them, and observes.

Fits the kernel's `Toolbox`. Whatever a model writes, and whatever a tool raises, comes back as an
observation, with the whole of it for the record; what is raised here is a defect of ours (B3.3).
"""

import os
import traceback
from collections.abc import Sequence
from typing import assert_never

import msgspec
from msgspec import Struct

from goldseam.kernel.conversation import (
    Arguments,
    Image,
    Malformed,
    ResultKind,
    ToolCall,
    ToolResult,
)
from goldseam.kernel.events import Allowed, MustAsk, Rejected, Verdict
from goldseam.kernel.json_text import write_json
from goldseam.kernel.ports import Executed
from goldseam.kernel.request import ToolSpec
from goldseam.tools.approval import shown_for_approval
from goldseam.tools.context import ToolContext
from goldseam.tools.guidance import (
    LIMIT,
    bad_arguments,
    malformed_arguments,
    refused_arguments,
    shortened,
    unknown_tool,
)
from goldseam.tools.large import shown_within
from goldseam.tools.observation import cut, failure_text, reason_of, sendable, without_roots
from goldseam.tools.policy import Rule, Ruling, Subject, rule_on, subject_of
from goldseam.tools.problems import find_problems
from goldseam.tools.schema import Schema, schema_of
from goldseam.tools.tool import AnyTool, Output, ToolFailure
from goldseam.workspace.errors import WorkspaceError


class DuplicateToolError(ValueError):
    """Our defect: two tools of one name."""


class Policy(Struct, frozen=True, kw_only=True):
    """The rules of a run: the person's, what holds where those are silent, and who is there."""

    rules: tuple[Rule, ...] = ()
    defaults: tuple[Rule, ...]
    somebody_is_there: bool
    """Whether a person can be asked; where none can, what must be asked is denied."""


class _Offered(Struct, frozen=True, kw_only=True):
    tool: AnyTool
    schema: Schema


class _Ready(Struct, frozen=True, kw_only=True):
    """A call whose tool is there and whose arguments fit."""

    tool: AnyTool
    arguments: Struct


class _Unready(Struct, frozen=True, kw_only=True):
    text: str


class Toolbox:
    """A run's tools behind the kernel's port."""

    def __init__(
        self,
        tools: Sequence[AnyTool],
        *,
        context: ToolContext,
        policy: Policy,
    ) -> None:
        self._offered = {
            tool.name: _Offered(tool=tool, schema=schema_of(tool.arguments))
            for tool in sorted(tools, key=lambda tool: tool.name)
        }
        if len(self._offered) != len(tools):
            raise DuplicateToolError("two tools of one name")
        self._specs = tuple(_spec(offered) for offered in self._offered.values())
        self._context = context
        self._policy = policy

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools on offer, by name."""
        return self._specs

    def judge(self, call: ToolCall) -> Verdict:
        """Return whether `call` may run; never raises for what a model wrote."""
        ready = self._prepare(call)
        if isinstance(ready, _Unready):
            result = _result(call, ready.text, kind="failed")
            return Rejected(why=ready.text.partition("\n")[0], result=result)
        ruling = rule_on(
            self._subject(ready), rules=self._policy.rules, defaults=self._policy.defaults
        )
        return self._verdict(call, ruling)

    async def execute(self, call: ToolCall) -> Executed:
        """Run `call`; what the model, the disk or a file's content brings about is observed."""
        ready = self._prepare(call)
        if isinstance(ready, _Unready):
            return Executed(result=_result(call, ready.text, kind="failed"))
        try:
            output = await ready.tool.run(ready.arguments, self._context)
        except (ToolFailure, WorkspaceError) as failure:
            return self._refused(call, ready.tool, str(failure))
        except Exception as error:  # noqa: BLE001 - a tool is foreign code: one call fails, not the run
            return self._failed(call, error)
        return self._done(call, ready.tool, output)

    def _prepare(self, call: ToolCall) -> _Ready | _Unready:
        offered = self._offered.get(call.tool_name)
        if offered is None:
            return _Unready(text=unknown_tool(call.tool_name, tuple(self._offered)))
        tool, schema = offered.tool, offered.schema
        match call.arguments:
            case Malformed() as malformed:
                return _Unready(text=malformed_arguments(tool.name, schema, malformed))
            case Arguments() as arguments:
                value = arguments.value()
            case _:
                assert_never(call.arguments)
        problems = find_problems(schema, value)
        if problems:
            return _Unready(text=bad_arguments(tool.name, schema, problems))
        try:
            return _Ready(tool=tool, arguments=msgspec.convert(value, tool.arguments))
        except msgspec.ValidationError as error:
            # A constraint that the schema cannot express speaks here, in the type's own words.
            return _Unready(text=refused_arguments(tool.name, schema, str(error)))

    def _subject(self, ready: _Ready) -> Subject:
        # Defaults count: a rule on `path` speaks of a call that left its path out, too.
        arguments = msgspec.to_builtins(ready.arguments)
        if ready.tool.further_paths is not None:
            arguments["path"] = list(ready.tool.further_paths(ready.arguments))
        return subject_of(
            ready.tool.name,
            arguments,
            paths=ready.tool.path_arguments,
            commands=ready.tool.command_arguments,
            comes_to=self._comes_to,
        )

    def _comes_to(self, path: str) -> tuple[str, ...]:
        """Return the paths in the workspace that `path` comes to; none where that is outside."""
        try:
            normal = self._context.files.normalise(path)
        except WorkspaceError:
            return ()
        root = os.path.realpath(self._context.workspace.root)
        target = os.path.relpath(os.path.realpath(f"{root}/{normal}"), root)
        return () if target.split("/")[0] == ".." else (normal, target)

    def _verdict(self, call: ToolCall, ruling: Ruling) -> Verdict:
        match ruling.decision:
            case "allow":
                return Allowed(why=ruling.why)
            case "ask" if self._policy.somebody_is_there:
                return MustAsk(why=ruling.why, shown=shown_for_approval(call))
            case "ask":
                return self._unattended(call, ruling.why)
            case "deny":
                return self._denied(call, ruling.why, why_for_person=ruling.why)
            case _:
                assert_never(ruling.decision)

    def _unattended(self, call: ToolCall, why: str) -> Rejected:
        lift = f'rules = [{{ decision = "allow", tool = "{call.tool_name}" }}]'
        return self._denied(
            call,
            f"{why}, and nobody is there to agree to it",
            why_for_person=f"{why}, and nobody was there to ask; this setting allows it: {lift}",
        )

    def _denied(self, call: ToolCall, why: str, *, why_for_person: str) -> Rejected:
        others = ", ".join(name for name in self._offered if name != call.tool_name)
        text = shortened(
            f"{call.tool_name} was denied and did not run: {why}.\n"
            f"Next: do not send this call again; go on with {others or 'what is known'}.",
            LIMIT,
        )
        return Rejected(why=why_for_person, result=_result(call, text, kind="denied"))

    def _done(self, call: ToolCall, tool: AnyTool, output: Output) -> Executed:
        text = sendable(output.text)
        shown = shown_within(
            self._context, tool.name, text, lever=tool.lever, limit_bytes=tool.limit_bytes
        )
        full_text = sendable(output.full_text if output.full_text is not None else text)
        return Executed(
            result=_result(call, shown, kind="done", images=output.images),
            full_text=None if full_text == shown else full_text,
        )

    def _refused(self, call: ToolCall, tool: AnyTool, message: str) -> Executed:
        told, line_end, shown_lines = message.removeprefix(f"{tool.name}: ").partition("\n")
        # What follows the first line may quote a file, and a quotation is exact.
        first = without_roots(told, self._context.roots)
        text = sendable(f"{tool.name}: {first}{line_end}{shown_lines}")
        shown = cut(text, lever=tool.lever)
        full_text = None if text == shown else text
        return Executed(result=_result(call, shown, kind="failed"), full_text=full_text)

    def _failed(self, call: ToolCall, error: Exception) -> Executed:
        why = failure_text(reason_of(error), self._context.roots)
        text = sendable(f"{call.tool_name} failed: {why.rstrip('.')}.")
        stack = "".join(traceback.format_exception(error)).rstrip()
        return Executed(
            result=_result(call, text, kind="failed"), full_text=sendable(f"{text}\n{stack}")
        )


def _spec(offered: _Offered) -> ToolSpec:
    tool = offered.tool
    return ToolSpec(
        name=tool.name,
        description=tool.description(),
        parameters=write_json(offered.schema),
        reads_only=tool.reads_only,
    )


def _result(
    call: ToolCall, content: str, *, kind: ResultKind, images: tuple[Image, ...] = ()
) -> ToolResult:
    return ToolResult(call_id=call.call_id, content=content, kind=kind, images=images)
