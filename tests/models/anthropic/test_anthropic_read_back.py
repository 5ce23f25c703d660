"""Reading back what we would not write: any body gives a history, none an error."""

from typing import Any

from models.anthropic.own_histories import ADAPTIVE

from goldseam.kernel.conversation import Image, Message, ToolResult
from goldseam.models.anthropic.dialect import AnthropicDialect


def test_a_body_that_is_not_ours_is_read_as_far_as_it_goes() -> None:
    body: Any = {
        "system": "plain words are not ours",
        "messages": [
            "stray",
            {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "a"}]},
            {"role": "user", "content": [{"type": "image", "source": {}}]},
            {"role": "user", "content": [{"type": "tool_result"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "input": "no object"}]},
        ],
    }
    assert AnthropicDialect().read_back(body, ADAPTIVE) == (
        Message(role="user", text=""),
        Message(role="user", text="a"),
        Message(role="user", text=""),
        ToolResult(call_id="", content=""),
        Message(role="assistant", text=""),
    )


def test_a_picture_without_a_source_is_an_empty_one() -> None:
    content = [{"type": "text", "text": "a"}, {"type": "image"}]
    body: Any = {"messages": [{"role": "user", "content": content}]}
    assert AnthropicDialect().read_back(body, ADAPTIVE) == (
        Message(role="user", text="a", images=(Image(media_type="", data=""),)),
    )
