"""Values that many tests of the kernel begin from."""

from kernel.fakes import FakeTool, Script

from goldseam.kernel.budget import Limits
from goldseam.kernel.conversation import (
    Message,
    ToolCall,
    arguments_from_text,
)
from goldseam.kernel.events import RunStarted
from goldseam.kernel.request import ModelResponse, ReplyItem, StopReason, TokenUsage

TASK = Message(role="user", text="Mend the bug.")
USAGE = TokenUsage(input=10, output=10)
READ = FakeTool("read", reads_only=True)
LOOK = FakeTool("look", reads_only=True, seconds=2.0)
WRITE = FakeTool("write")
PAY = FakeTool("pay", verdict="ask")


def call(name: str, call_id: str = "a", arguments: str = "{}") -> ToolCall:
    return ToolCall(call_id=call_id, tool_name=name, arguments=arguments_from_text(arguments))


def said(text: str) -> Message:
    return Message(role="assistant", text=text)


def reply(*items: ReplyItem, stop: StopReason = "end", usage: TokenUsage = USAGE) -> ModelResponse:
    return ModelResponse(items=items, stop=stop, usage=usage, model="scripted")


def opening(script: Script, *, limits: Limits | None = None, verifies: bool = False) -> RunStarted:
    return RunStarted(
        at_s=0.0,
        run_id="run",
        history=(Message(role="system", text="You mend code."), TASK),
        tools=tuple(tool.spec for tool in script.tools),
        limits=limits or Limits(),
        verifies=verifies,
    )
