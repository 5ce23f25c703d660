"""Corners of single writers, each found by a change that no other test noticed."""

import json
from typing import Any

import pytest

from goldseam.kernel.conversation import Image, Message
from goldseam.kernel.request import ModelRequest, ToolSpec
from goldseam.models.anthropic.dialect import AnthropicDialect
from goldseam.models.dialect import Dialect, Profile, Written
from goldseam.models.gemini.dialect import GeminiDialect
from goldseam.models.openai_responses.dialect import ResponsesDialect

SEEING = Profile(host="h", model="m", seal_scope="h", takes_images=True)
TASK = Message(role="user", text="Look.")


def anthropic(*history: Any) -> Written:
    asked = ModelRequest(history=history, tools=(), max_output_tokens=4096)
    return AnthropicDialect().write(asked, SEEING)


@pytest.mark.parametrize("kind", ["image/jpeg", "image/png", "image/gif", "image/webp"])
def test_each_kind_of_picture_that_anthropic_takes_goes_out(kind: str) -> None:
    picture = Image(media_type=kind, data="aGVsbG8=")
    written = anthropic(Message(role="user", text="Look.", images=(picture,)))
    assert written.losses == ()
    body: Any = written.body
    assert body["messages"][0]["content"][1]["source"]["media_type"] == kind


@pytest.mark.parametrize("dialect", [GeminiDialect(), ResponsesDialect()])
def test_a_tool_loses_something_only_where_something_of_it_changed(dialect: Dialect) -> None:
    def lost(word: str, name: str) -> set[str]:
        schema = {"type": "object", "properties": {"n": {"type": "string", "description": word}}}
        tool = ToolSpec(name=name, description=word, parameters=json.dumps(schema))
        request = ModelRequest(history=(TASK,), tools=(tool,), max_output_tokens=4096)
        return {loss.code for loss in dialect.write(request, SEEING).losses}

    assert lost("Counts.", "count") == set()
    assert lost("\ud800", "count") == {"text_replaced", "schema_simplified"}  # 155
    assert lost("Counts.", "count all") == {"tool_name_changed"}
