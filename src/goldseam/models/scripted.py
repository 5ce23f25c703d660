"""Models that play a script: for tests, and for demonstrations that need no real model.

Each keeps what it was asked. A script file is JSON:

    {"replies": [
        {"type": "calls", "calls": [{"tool": "read_file", "arguments": {"path": "a.py"}}]},
        {"type": "fails", "kind": "overloaded", "text": "busy", "retryable": true},
        {"type": "answer", "text": "Done.", "usage": {"input": 900, "output": 12}}
    ]}
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, assert_never

import msgspec
from msgspec import Meta, Struct

from goldseam.kernel.conversation import Message, ToolCall, arguments_of
from goldseam.kernel.errors import (
    FailureKind,
    GoldseamError,
    ModelProviderError,
    NoConsumption,
    UsageError,
)
from goldseam.kernel.json_text import BadJsonError, read_json
from goldseam.kernel.ports import Delta, Listener, ModelAdapter
from goldseam.kernel.request import ModelRequest, ModelResponse, ReplyItem, TokenUsage
from goldseam.models.json_text.provider import ProviderMessage, ProviderResponse, TextProvider

MODEL = "scripted"

ModelStep: TypeAlias = ModelResponse | GoldseamError | Callable[[ModelRequest], ModelResponse]
TextStep: TypeAlias = (
    ProviderResponse
    | str
    | GoldseamError
    | Callable[[tuple[ProviderMessage, ...]], ProviderResponse]
)


class ScriptExhaustedError(ModelProviderError):
    """The script has no reply left: it is shorter than the run."""

    def __init__(self, played: int) -> None:
        super().__init__(
            f"the script ended after {played} replies",
            kind="structural",
            consumption=NoConsumption(),
        )


class ScriptedModel:
    """A `ModelAdapter` that gives one step of its script to each request."""

    def __init__(self, script: Iterable[ModelStep]) -> None:
        self._steps = deque(script)
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest, listener: Listener) -> ModelResponse:
        """Return the next reply, its words told to `listener` first.

        Raises:
            GoldseamError: where the script says so.
            ScriptExhaustedError: no step is left.
        """
        if not self._steps:
            raise ScriptExhaustedError(len(self.requests))
        self.requests.append(request)
        match self._steps.popleft():
            case GoldseamError() as error:
                raise error
            case ModelResponse() as response:
                pass
            case step:
                response = step(request)
        for item in response.items:
            if isinstance(item, Message):
                listener(Delta(kind="text", text=item.text))
        return response


class ScriptedTextProvider:
    """A `TextProvider` that gives one step of its script to each question.

    A bare string is a reply that ended by itself, at a cost nobody knows.
    """

    def __init__(self, script: Iterable[TextStep]) -> None:
        self._steps = deque(script)
        self.questions: list[tuple[ProviderMessage, ...]] = []

    async def complete(
        self,
        messages: tuple[ProviderMessage, ...],
        *,
        max_output_tokens: int,  # noqa: ARG002 - the port's; a script is as long as it is
        listener: Listener,
    ) -> ProviderResponse:
        """Return the next reply, its text told to `listener` first.

        Raises:
            GoldseamError: where the script says so.
            ScriptExhaustedError: no step is left.
        """
        if not self._steps:
            raise ScriptExhaustedError(len(self.questions))
        self.questions.append(messages)
        match self._steps.popleft():
            case GoldseamError() as error:
                raise error
            case str(text):
                response = ProviderResponse(text=text, usage=TokenUsage(), stop="end", model=MODEL)
            case ProviderResponse() as response:
                pass
            case step:
                response = step(messages)
        listener(Delta(kind="text", text=response.text))
        return response


def reply_of(*items: ReplyItem, usage: TokenUsage | None = None) -> ModelResponse:
    """Return a whole reply of `items`; its cost is unknown unless it is given."""
    calls = any(isinstance(item, ToolCall) for item in items)
    return ModelResponse(
        items=items,
        stop="tool_calls" if calls else "end",
        usage=usage or TokenUsage(),
        model=MODEL,
    )


class _Usage(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    input: Annotated[int, Meta(ge=0)]
    output: Annotated[int, Meta(ge=0)]


class _Call(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    tool: Annotated[str, Meta(min_length=1)]
    arguments: dict[str, Any] = {}


class _Calls(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="calls"):
    calls: Annotated[tuple[_Call, ...], Meta(min_length=1)]
    usage: _Usage | None = None


class _Answer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="answer"):
    text: Annotated[str, Meta(min_length=1)]
    usage: _Usage | None = None


class _Fails(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="fails"):
    kind: FailureKind
    text: str
    retryable: bool = False


class _Script(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    replies: Annotated[tuple[_Calls | _Answer | _Fails, ...], Meta(min_length=1)]


def load_script(content: bytes) -> ScriptedModel:
    """Return the model that plays the script file `content`; its calls are named c1, c2, ….

    Raises:
        UsageError: it is no script; the message says where and why.
    """
    try:
        script = msgspec.convert(read_json(content.decode()), _Script)
    except (UnicodeDecodeError, BadJsonError, msgspec.ValidationError) as error:
        raise UsageError(f"the script cannot be used: {error}") from error
    return ScriptedModel(_steps_of(script))


def _steps_of(script: _Script) -> Iterator[ModelStep]:
    given = 0
    for reply in script.replies:
        match reply:
            case _Answer(text=text, usage=usage):
                yield reply_of(Message(role="assistant", text=text), usage=_usage(usage))
            case _Fails(kind=kind, text=text, retryable=retryable):
                yield ModelProviderError(
                    text, kind=kind, retryable=retryable, consumption=NoConsumption()
                )
            case _Calls(calls=calls, usage=usage):
                yield reply_of(
                    *(
                        ToolCall(
                            call_id=f"c{given + place}",
                            tool_name=call.tool,
                            arguments=arguments_of(call.arguments),
                        )
                        for place, call in enumerate(calls, start=1)
                    ),
                    usage=_usage(usage),
                )
                given += len(calls)
            case _:
                assert_never(reply)


def _usage(given: _Usage | None) -> TokenUsage:
    return TokenUsage() if given is None else TokenUsage(input=given.input, output=given.output)


if TYPE_CHECKING:
    _fits_model: type[ModelAdapter] = ScriptedModel
    _fits_provider: type[TextProvider] = ScriptedTextProvider
