"""A run as a vendor's body: what stands in it reads back as the whole conversation."""

import json

import pytest
from journal.sample_runs import chosen, record_of, story

from goldseam.app.exporting import VENDOR_FORMATS, vendor_body
from goldseam.app.models import DIALECTS
from goldseam.kernel.conversation import Message, ToolCall, ToolResult
from goldseam.models.catalog import read_catalog

CATALOG = read_catalog()


@pytest.mark.parametrize("form", VENDOR_FORMATS)
def test_a_body_holds_every_call_and_result(form: str) -> None:
    exported = vendor_body(record_of(story()), form, catalog=CATALOG)
    host, _, model = exported.model.partition(":")
    dialect = DIALECTS[VENDOR_FORMATS[form]]()
    back = dialect.read_back(json.loads(exported.text), CATALOG[host].profile(model))
    calls = [item.tool_name for item in back if isinstance(item, ToolCall)]
    assert calls == ["read_file", "edit_file", "run_command", "run_command"]
    assert sum(isinstance(item, ToolResult) for item in back) == 4
    words = [item.text for item in back if isinstance(item, Message)]
    assert any("It is mended." in text for text in words)


def test_a_body_is_written_for_the_last_model_where_it_speaks_so() -> None:
    record = record_of(story())
    own = vendor_body(record, "anthropic", catalog=CATALOG)
    assert own.model == "anthropic:claude-nova-5"
    assert json.loads(own.text)["model"] == "claude-nova-5"
    other = vendor_body(record, "gemini", catalog=CATALOG)
    assert other.model == f"gemini:{CATALOG['gemini'].model}"
    assert {loss.code for loss in other.losses}


def test_a_host_that_is_known_no_more_stands_in_nobodys_way() -> None:
    record = record_of([story()[0], chosen("gone:model", 0.1)])
    assert vendor_body(record, "openai", catalog=CATALOG).model.startswith("openai:")
