"""Models that play a script, and the script file."""

import pytest

from goldseam.kernel.conversation import Conversation, Message, ToolCall, arguments_of
from goldseam.kernel.errors import ModelProviderError, NoConsumption, UsageError
from goldseam.kernel.ports import Delta
from goldseam.kernel.request import ModelRequest, ModelResponse, TokenUsage
from goldseam.models.json_text.provider import ProviderMessage, ProviderResponse
from goldseam.models.scripted import (
    ScriptedModel,
    ScriptedTextProvider,
    ScriptExhaustedError,
    load_script,
    reply_of,
)

REQUEST = ModelRequest(
    history=Conversation([Message(role="user", text="Mend it.")]), tools=(), max_output_tokens=9
)
QUESTION = (ProviderMessage(role="user", content="Mend it."),)
CALL = ToolCall(call_id="c1", tool_name="ls", arguments=arguments_of({"path": "."}))
ANSWER = Message(role="assistant", text="Done.")


def ignore(_: Delta) -> None:
    """Listen to nothing."""


async def played(model: ScriptedModel) -> list[ModelResponse | str]:
    """Return all that `model` gives, failures by their text, until its script ends."""
    found = list[ModelResponse | str]()
    while True:
        try:
            found.append(await model.complete(REQUEST, ignore))
        except ScriptExhaustedError:
            return found
        except ModelProviderError as error:
            found.append(error.text)


@pytest.mark.anyio
async def test_a_script_is_played_in_order_and_each_request_kept() -> None:  # B1.15
    failure = ModelProviderError("busy", kind="overloaded")
    model = ScriptedModel([
        reply_of(CALL),
        failure,
        lambda request: reply_of(ANSWER, usage=TokenUsage(input=request.max_output_tokens)),
    ])
    assert await played(model) == [
        ModelResponse(items=(CALL,), stop="tool_calls", usage=TokenUsage(), model="scripted"),
        "busy",
        ModelResponse(items=(ANSWER,), stop="end", usage=TokenUsage(input=9), model="scripted"),
    ]
    assert model.requests == [REQUEST, REQUEST, REQUEST]


@pytest.mark.anyio
async def test_the_words_of_a_reply_are_told_before_it_comes() -> None:
    heard = list[Delta]()
    await ScriptedModel([reply_of(ANSWER, CALL)]).complete(REQUEST, heard.append)
    assert heard == [Delta(kind="text", text="Done.")]


@pytest.mark.anyio
async def test_a_script_that_is_too_short_says_so_in_its_own_way() -> None:  # B1.15
    model = ScriptedModel([reply_of(ANSWER)])
    await model.complete(REQUEST, ignore)
    with pytest.raises(ScriptExhaustedError, match="the script ended after 1 replies") as caught:
        await model.complete(REQUEST, ignore)
    assert caught.value.consumption == NoConsumption()
    assert model.requests == [REQUEST]


@pytest.mark.anyio
async def test_a_scripted_provider_gives_text_and_keeps_each_question() -> None:
    whole = ProviderResponse(text="b", usage=TokenUsage(input=1), stop="length", model="m")
    failure = ModelProviderError("busy", kind="overloaded")
    provider = ScriptedTextProvider([
        "a",
        whole,
        lambda messages: _echo(messages[0].content),
        failure,
    ])
    heard = list[Delta]()
    found = [
        await provider.complete(QUESTION, max_output_tokens=9, listener=heard.append)
        for _ in range(3)
    ]
    assert found == [
        ProviderResponse(text="a", usage=TokenUsage(), stop="end", model="scripted"),
        whole,
        _echo("Mend it."),
    ]
    assert [delta.text for delta in heard] == ["a", "b", "Mend it."]
    for expected in (ModelProviderError, ScriptExhaustedError):
        with pytest.raises(expected):
            await provider.complete(QUESTION, max_output_tokens=9, listener=ignore)
    assert provider.questions == [QUESTION] * 4


def _echo(text: str) -> ProviderResponse:
    return ProviderResponse(text=text, usage=TokenUsage(), stop="end", model="echo")


@pytest.mark.anyio
async def test_a_script_file_is_played() -> None:
    script = load_script(
        """{"replies": [
            {"type": "calls", "usage": {"input": 5, "output": 2}, "calls": [
                {"tool": "ls", "arguments": {"path": "."}}, {"tool": "run_tests"}]},
            {"type": "fails", "kind": "overloaded", "text": "busy", "retryable": true},
            {"type": "calls", "calls": [{"tool": "ls"}]},
            {"type": "answer", "text": "Done – really."}
        ]}""".encode()
    )
    tests = ToolCall(call_id="c2", tool_name="run_tests", arguments=arguments_of({}))
    again = ToolCall(call_id="c3", tool_name="ls", arguments=arguments_of({}))
    assert await played(script) == [
        reply_of(CALL, tests, usage=TokenUsage(input=5, output=2)),
        "busy",
        reply_of(again),
        reply_of(Message(role="assistant", text="Done – really.")),
    ]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\xff", "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
        (b"{", "not valid JSON: .* at line 1, column 2"),
        (b'{"replies":[],"replies":[]}', 'the key "replies" stands twice in one object'),
        (b"{}", "Object missing required field `replies`"),
        (b'{"replies":[]}', r"Expected `array` of length >= 1 - at `\$.replies`"),
        (b'{"replies":[{"type":"sings"}]}', r"Invalid value 'sings' - at `\$.replies\[0\].type`"),
        (
            b'{"replies":[{"type":"answer","text":"a","txt":1}]}',
            r"Object contains unknown field `txt` - at `\$.replies\[0\]`",
        ),
        (
            b'{"replies":[{"type":"calls","calls":[{"tool":"ls","arguments":null}]}]}',
            r"Expected `object`, got `null` - at `\$.replies\[0\].calls\[0\].arguments`",
        ),
    ],
)
def test_a_bad_script_file_is_refused_in_one_clear_line(content: bytes, why: str) -> None:
    with pytest.raises(UsageError, match=f"^the script cannot be used: {why}$"):
        load_script(content)
