"""The tools of one run, closed once it starts: judges calls, runs them, and observes.

Fits the kernel's `Toolbox`. Whatever a model writes comes back as an observation; what is raised
is a defect of ours (B3.3).
"""

import os
from collections.abc import Sequence
from typing import assert_never

import msgspec
from msgspec import Struct

from goldseam.kernel.conversation import Arguments, Malformed, ResultKind, ToolCall, ToolResult
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
from goldseam.tools.observation import cut, failure_text, sendable, without_roots
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
        except OSError as error:
            # The disk's word, not ours: full, vanished, forbidden. `strerror` names no path.
            return self._failed(call, error, error.strerror or type(error).__name__)
        except (UnicodeError, RecursionError, MemoryError) as error:
            # Some content cannot be held or read by this process; the next call can be another.
            why = f"its content is beyond what can be handled here ({type(error).__name__})"
            return self._failed(call, error, why)
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
        return subject_of(
            ready.tool.name,
            msgspec.to_builtins(ready.arguments),
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
        shown = cut(text, lever=tool.lever)
        full_text = output.full_text if output.full_text is not None else text
        return Executed(
            result=_result(call, shown, kind="done"),
            full_text=None if full_text == shown else sendable(full_text),
        )

    def _refused(self, call: ToolCall, tool: AnyTool, message: str) -> Executed:
        told, line_end, shown_lines = message.removeprefix(f"{tool.name}: ").partition("\n")
        # What follows the first line may quote a file, and a quotation is exact.
        first = without_roots(told, self._context.roots)
        text = sendable(f"{tool.name}: {first}{line_end}{shown_lines}")
        shown = cut(text, lever=tool.lever)
        full_text = None if text == shown else text
        return Executed(result=_result(call, shown, kind="failed"), full_text=full_text)

    def _failed(self, call: ToolCall, error: Exception, why: str) -> Executed:
        text = f"{call.tool_name} failed: {failure_text(why, self._context.roots)}."
        record = sendable(f"{text}\n{type(error).__name__}: {error}")
        return Executed(result=_result(call, sendable(text), kind="failed"), full_text=record)


def _spec(offered: _Offered) -> ToolSpec:
    tool = offered.tool
    return ToolSpec(
        name=tool.name,
        description=tool.description(),
        parameters=write_json(offered.schema),
        reads_only=tool.reads_only,
    )


def _result(call: ToolCall, content: str, *, kind: ResultKind) -> ToolResult:
    return ToolResult(call_id=call.call_id, content=content, kind=kind)
