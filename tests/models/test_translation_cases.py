"""Public faults of other agents that no other test has: the smallest case, and what is right.

Numbers are those of the table in tests/README.md.
"""

import socket
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest
from simulators.door import KEY, MODEL
from simulators.gateway import Fault, Gateway, Step
from simulators.saying import Say

from goldseam.app.models import DIALECTS
from goldseam.kernel.compaction import outputs_to_drop, without_outputs
from goldseam.kernel.conversation import (
    Conversation,
    HistoryItem,
    Message,
    Reasoning,
    Seal,
    ToolCall,
    ToolResult,
    arguments_of,
)
from goldseam.kernel.errors import ModelProviderError, NoConsumption, UnknownConsumption
from goldseam.kernel.ports import Delta
from goldseam.kernel.request import ModelRequest, ModelResponse, ToolSpec
from goldseam.models.catalog import DialectName, read_catalog
from goldseam.models.client import DialectClient, Endpoint
from goldseam.models.dialect import Profile, Written
from goldseam.wire.message import TimeLimits
from goldseam.wire.secret import Secret
from goldseam.wire.transport import HttpTransport

pytestmark = pytest.mark.anyio

CATALOG = read_catalog()
FOUR = ("openai", "openai-responses", "anthropic", "gemini")
TASK = Message(role="user", text="Mend it.")
READ = ToolSpec(name="read_file", description="Reads.", parameters='{"type":"object"}')


def call(call_id: str, *seals: Seal) -> ToolCall:
    arguments = arguments_of({"path": "notes.txt"})
    return ToolCall(call_id=call_id, tool_name="read_file", arguments=arguments, seals=seals)


def result(call_id: str, content: str = "text") -> ToolResult:
    return ToolResult(call_id=call_id, content=content)


def ask(*history: HistoryItem) -> ModelRequest:
    return ModelRequest(history=history, tools=(READ,), max_output_tokens=4096)


def written(host: str, profile: Profile, *history: HistoryItem) -> Written:
    return DIALECTS[CATALOG[host].dialect]().write(ask(*history), profile)


@pytest.mark.parametrize("host", FOUR)
def test_old_outputs_leave_without_leaving_half_a_pair(host: str) -> None:  # 1, 2, 4
    pairs = [item for n in range(12) for item in (call(f"c{n}"), result(f"c{n}", "x" * 5000))]
    before = Conversation([TASK, *pairs])
    after = without_outputs(before, frozenset(outputs_to_drop(before)))
    assert after.weight < before.weight
    losses = written(host, CATALOG[host].profile("m"), *after).losses
    assert {"orphan_result_told", "open_call_closed"}.isdisjoint(loss.code for loss in losses)


def test_the_rule_for_ids_may_follow_the_model_behind_a_host() -> None:  # 25
    rule = {"ids": {"alphabet": "[A-Za-z0-9]", "exactly": 9}}
    rows = {"openrouter": {"models": {"mistralai/large": {"facts": rule}}}}
    host = read_catalog(rows)["openrouter"]
    history = (TASK, call("call_0123456789abcdef"), result("call_0123456789abcdef"))
    for model, length in (("mistralai/large", 9), ("z-ai/glm-5.3", 21)):
        body: Any = written("openrouter", host.profile(model), *history).body
        assert len(body["messages"][-1]["tool_call_id"]) == length


@pytest.mark.parametrize("host", FOUR[:3])
def test_a_call_made_within_the_loop_is_fitted_like_those_before_it(
    host: str,
) -> None:  # 26, 29, 31
    dialect, profile = DIALECTS[CATALOG[host].dialect](), CATALOG[host].profile("m")
    first, second = "functions.read_file:0", "functions.read_file:1"
    begun = (TASK, call(first), result(first))
    writer = dialect.writer(profile)
    assert b"functions" not in writer.write(ask(*begun)).encoded
    assert b"functions" not in writer.write(ask(*begun, call(second), result(second))).encoded


def test_a_placeholder_is_the_one_that_both_endpoints_take() -> None:  # 47
    history = (TASK, call("c1"), result("c1"))
    bodies: list[Any] = [
        written(host, CATALOG[host].profile("gemini-4-argon"), *history).body
        for host in ("gemini", "vertex")
    ]
    placeholders = [body["contents"][1]["parts"][0]["thoughtSignature"] for body in bodies]
    assert placeholders == ["skip_thought_signature_validator"] * 2


def test_a_host_of_a_known_protocol_may_have_rules_of_its_own() -> None:  # 79
    row = {"dialect": "anthropic", "url": "https://h.example/v1", "needs_key": False}
    facts = {"caches": False, "ids": {"longest": 9}}
    like = read_catalog({"like": {**row, "facts": facts}})["like"]
    history = (TASK, call("call_0123456789"), result("call_0123456789"))
    theirs = written("anthropic", like.profile("m"), *history).encoded
    own = written("anthropic", CATALOG["anthropic"].profile("m"), *history).encoded
    assert (b"cache_control" in own, b"call_0123456789" in own) == (True, True)
    assert (b"cache_control" in theirs, b"call_0123456789" in theirs) == (False, False)


def test_whether_a_thought_goes_back_is_a_fact_of_the_host_and_not_of_the_model() -> None:  # 130
    sent = dict[str, Any]()
    for host in ("moonshot", "fireworks"):
        profile = CATALOG[host].profile("kimi-k3")
        seal = Seal(origin=profile.origin, name="reasoning_field", value="reasoning_content")
        history = (TASK, Reasoning(text="so", seals=(seal,)), call("c1"), result("c1"))
        body: Any = written(host, profile, *history).body
        sent[host] = body["messages"][1].get("reasoning_content")
    assert sent == {"moonshot": "so", "fireworks": None}


@pytest.mark.parametrize("host", FOUR)
def test_nothing_is_begun_for_the_model_to_go_on_with(host: str) -> None:  # 65, 136
    said = Message(role="assistant", text="The fault is")
    body: Any = written(host, CATALOG[host].profile("m"), TASK, said).body
    turns = body.get("messages") or body.get("input") or body["contents"]
    assert turns[-1]["role"] == "user" or host == "openai-responses"  # which has no prefill


# Exchanges ----------------------------------------------------------------------------------------


async def ended(
    name: DialectName, *script: Step, heard: Callable[[Delta], None] = lambda _: None
) -> tuple[ModelResponse | ModelProviderError, int]:
    """Return how one exchange with a simulator ended, and how often the host was asked."""
    with Gateway(*script) as gateway:
        how = await _exchange(name, gateway.url, heard)
    return how, len(gateway.asked)


async def _exchange(
    name: DialectName, url: str, heard: Callable[[Delta], None]
) -> ModelResponse | ModelProviderError:
    headers = (
        ("authorization", Secret(KEY, scheme="Bearer")),
        ("x-goog-api-key", Secret(KEY)),
        ("anthropic-version", "2023-06-01"),
    )
    root = "v1beta" if name == "gemini" else "v1"
    async with aclosing(HttpTransport({})) as transport:
        client = DialectClient(
            DIALECTS[name](),
            Profile(host="here", model=MODEL, seal_scope="here"),
            endpoint=Endpoint(url=f"{url}/{root}", headers=headers),
            transport=transport,
            times=TimeLimits(connect_s=5, first_byte_s=5, idle_s=5, total_s=20),
        )
        try:
            return await client.complete(ask(TASK), heard)
        except ModelProviderError as error:
            return error


@pytest.mark.parametrize("name", DIALECTS)
async def test_one_question_is_one_exchange_and_the_loop_alone_asks_again(
    name: DialectName,
) -> None:  # 139
    busy = Fault(status=429, body=b'{"error":{"message":"Slow down."}}')
    how, asked = await ended(name, busy, Say(text="Never asked for."))
    assert isinstance(how, ModelProviderError)
    assert (how.kind, how.retryable, asked) == ("rate_limited", True, 1)


@pytest.mark.parametrize("name", DIALECTS)
async def test_a_host_that_is_down_is_a_failure_that_another_may_stand_in_for(
    name: DialectName,
) -> None:  # 140
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    how = await _exchange(name, url, lambda _: None)
    assert isinstance(how, ModelProviderError)
    assert (how.kind, how.retryable, how.consumption) == ("transport", True, NoConsumption())


@pytest.mark.parametrize("name", DIALECTS)
async def test_what_a_broken_stream_had_said_is_no_part_of_any_reply(
    name: DialectName,
) -> None:  # 142
    said = Say(text="Half of this is heard and none of it is kept. " * 40)
    shown = list[str]()
    cut = (said, Fault(cut_at=2500))
    how, asked = await ended(name, cut, said, heard=lambda delta: shown.append(delta.text))
    assert isinstance(how, ModelProviderError)
    assert (how.kind, how.retryable, asked) == ("transport", True, 1)
    assert isinstance(how.consumption, UnknownConsumption)
    assert shown
