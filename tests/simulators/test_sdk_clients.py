"""The vendors' own clients hold a two-step and a parallel tool loop with each simulator."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai import types
from simulators.door import KEY, MODEL
from simulators.gateway import Gateway
from simulators.saying import Call, Say

FIRST, SECOND = (
    Call(call_id="call_1", name="read_file", arguments='{"path": "notes.txt"}'),
    Call(call_id="call_2", name="read_file", arguments='{"path": "todo.txt"}'),
)
TWO_STEPS = (
    Say(thought="notes first", calls=(FIRST,)),
    Say(thought="then todo", text="Now the other.", calls=(SECOND,)),
    Say(text="Buy milk, then sleep."),
)
PARALLEL = (Say(thought="both", calls=(FIRST, SECOND)), Say(text="Buy milk, then sleep."))
FILES = {"notes.txt": "buy milk", "todo.txt": "sleep"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}
ASK = "What do notes.txt and todo.txt say?"

Loop = Callable[[str, bool], str]
"""Runs the loop of one vendor's client at a URL, streamed or whole, and returns the answer."""


def read(arguments: Any) -> str:
    value = json.loads(arguments) if isinstance(arguments, str) else arguments
    return FILES[value["path"]]


def chat_loop(url: str, streamed: bool) -> str:
    function: Any = {"name": "read_file", "description": "Reads.", "parameters": SCHEMA}
    asked: dict[str, Any] = {"model": MODEL, "tools": [{"type": "function", "function": function}]}
    messages: list[Any] = [{"role": "user", "content": ASK}]
    with openai.OpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0) as client:
        while True:
            if streamed:
                with client.chat.completions.stream(messages=messages, **asked) as stream:
                    reply: Any = stream.get_final_completion().choices[0].message
            else:
                completion = client.chat.completions.create(messages=messages, **asked)
                reply = completion.choices[0].message
            if not reply.tool_calls:
                return str(reply.content)
            calls = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.function.name, "arguments": call.function.arguments},
                }
                for call in reply.tool_calls
            ]
            messages.append({"role": "assistant", "content": reply.content, "tool_calls": calls})
            for call in reply.tool_calls:
                content = read(call.function.arguments)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})


def responses_loop(url: str, streamed: bool) -> str:
    tool = {"type": "function", "name": "read_file", "parameters": SCHEMA, "strict": True}
    asked: dict[str, Any] = {"model": MODEL, "tools": [tool], "store": False}
    items: list[Any] = [{"role": "user", "content": ASK}]
    with openai.OpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0) as client:
        while True:
            if streamed:
                with client.responses.stream(input=items, **asked) as stream:
                    reply: Any = stream.get_final_response()
            else:
                reply = client.responses.create(input=items, **asked)
            calls = [item for item in reply.output if item.type == "function_call"]
            if not calls:
                return str(reply.output_text)
            dropped = {"parsed_arguments", "parsed"}
            items += [item.model_dump(exclude_none=True, exclude=dropped) for item in reply.output]
            for call in calls:
                result = {"call_id": call.call_id, "output": read(call.arguments)}
                items.append({"type": "function_call_output", **result})


def anthropic_loop(url: str, streamed: bool) -> str:
    asked: dict[str, Any] = {
        "model": MODEL,
        "max_tokens": 4096,
        "thinking": {"type": "enabled", "budget_tokens": 2048},
        "tools": [{"name": "read_file", "description": "Reads.", "input_schema": SCHEMA}],
    }
    messages: list[Any] = [{"role": "user", "content": ASK}]
    with anthropic.Anthropic(api_key=KEY, base_url=url, max_retries=0) as client:
        while True:
            if streamed:
                with client.messages.stream(messages=messages, **asked) as stream:
                    reply: Any = stream.get_final_message()
            else:
                reply = client.messages.create(messages=messages, **asked)
            calls = [block for block in reply.content if block.type == "tool_use"]
            if not calls:
                return "".join(block.text for block in reply.content if block.type == "text")
            blocks = [block.model_dump(exclude_none=True) for block in reply.content]
            messages.append({"role": "assistant", "content": blocks})
            results = [
                {"type": "tool_result", "tool_use_id": call.id, "content": read(call.input)}
                for call in calls
            ]
            messages.append({"role": "user", "content": results})


def gemini_loop(url: str, streamed: bool) -> str:
    declaration = types.FunctionDeclaration(name="read_file", parameters_json_schema=SCHEMA)
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[declaration])],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    contents: list[Any] = [types.Content(role="user", parts=[types.Part(text=ASK)])]
    options = types.HttpOptions(base_url=url)
    with genai.Client(api_key=KEY, vertexai=False, http_options=options) as client:
        while True:
            parts = list[types.Part]()
            for reply in _gemini_replies(client, contents, config, streamed):
                parts += (reply.candidates or [])[0].content.parts or []
            calls = [part.function_call for part in parts if part.function_call]
            if not calls:
                return "".join(part.text or "" for part in parts if not part.thought)
            contents.append(types.Content(role="model", parts=parts))
            answers = [
                types.Part(
                    function_response=types.FunctionResponse(
                        name=call.name, id=call.id, response={"output": read(call.args)}
                    )
                )
                for call in calls
            ]
            contents.append(types.Content(role="user", parts=answers))


def _gemini_replies(
    client: genai.Client, contents: list[Any], config: Any, streamed: bool
) -> Iterator[Any]:
    asked: dict[str, Any] = {"model": MODEL, "contents": contents, "config": config}
    if streamed:
        yield from client.models.generate_content_stream(**asked)
    else:
        yield client.models.generate_content(**asked)


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("script", [TWO_STEPS, PARALLEL], ids=["two-steps", "parallel"])
@pytest.mark.parametrize("loop", [chat_loop, responses_loop, anthropic_loop, gemini_loop])
def test_a_vendors_own_client_holds_a_tool_loop_with_its_simulator(
    loop: Loop, script: tuple[Say, ...], streamed: bool
) -> None:
    with Gateway(*script) as gateway:
        assert loop(gateway.url, streamed) == "Buy milk, then sleep."
        assert (gateway.refusals, gateway.script) == ([], [])
        assert len(gateway.asked) == len(script)
