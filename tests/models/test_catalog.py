"""The rows of the catalog: strictly read, each of them usable, nothing guessed from a name."""

from typing import Any, get_args

import msgspec
import pytest

from goldseam.models.catalog import (
    BadRowError,
    DialectName,
    Host,
    KeyForm,
    MissingError,
    read_catalog,
)
from goldseam.models.dialect import IdRule, Profile
from goldseam.wire.message import KEY_HEADERS, HttpRequest
from goldseam.wire.secret import Secret

CATALOG = read_catalog()
KNOWN = (
    *("openai", "openai-responses", "anthropic", "gemini", "azure", "vertex", "deepseek"),
    *("mistral", "moonshot", "dashscope", "zai", "xai", "groq", "together", "openrouter"),
    *("cerebras", "fireworks", "ollama", "llama.cpp", "vllm", "lmstudio", "gemini-openai"),
    "custom",
)
SET = {
    "AZURE_OPENAI_ENDPOINT": "https://mine.example/",
    "GOOGLE_CLOUD_PROJECT": "my-project",
    "CUSTOM_BASE_URL": "http://127.0.0.1:1/v1/",
}
ROW: dict[str, Any] = {"dialect": "openai_chat", "url": "https://a.example/v1"}


def test_every_host_of_the_plan_has_a_row() -> None:
    assert set(CATALOG) == set(KNOWN)


def test_every_dialect_is_spoken_by_some_host() -> None:
    assert {host.dialect for host in CATALOG.values()} == set(get_args(DialectName))


@pytest.mark.parametrize("host", CATALOG.values(), ids=CATALOG)
def test_every_row_builds_a_profile_for_each_of_its_models(host: Host) -> None:
    for model in (host.model, *host.models, "never heard of"):
        profile = host.profile(model)
        assert (profile.host, profile.model) == (host.name, model)
        said: dict[str, Any] = msgspec.to_builtins(profile)
        row = host.models.get(model)
        facts = {**host.facts, **(row.facts if row else {})}
        ids = facts.pop("ids", {})
        assert {name: said[name] for name in facts} == facts
        assert {name: said["ids"][name] for name in ids} == ids


@pytest.mark.parametrize("host", CATALOG.values(), ids=CATALOG)
def test_every_row_has_an_address_that_may_be_asked_and_a_key_that_stays_secret(host: Host) -> None:
    for form in host.keys or (None,):
        environ = {**SET, **({form.env: "k-0123456789"} if form else {})}
        key = host.key_in(environ)
        assert (key.form if key else None) == form
        url = host.url_in(environ, key)
        assert not url.endswith("/")
        headers = ((key.form.header, key.secret),) if key else ()
        HttpRequest(method="POST", url=url, headers=headers)
        assert form is None or form.header in KEY_HEADERS
    assert host.needs_key <= bool(host.keys)


@pytest.mark.parametrize("host", CATALOG.values(), ids=CATALOG)
def test_only_a_host_whose_address_and_models_are_the_persons_has_no_default(host: Host) -> None:
    own = {"azure", "custom", "vllm", "lmstudio"}
    assert bool(host.model) == (host.name not in own)
    # A default model is one that somebody looked up; local servers know their own limits.
    has_row = host.context_tokens(host.model) is not None
    assert has_row == (host.name not in own | {"ollama", "llama.cpp"})


def test_what_is_unknown_stays_unknown() -> None:
    assert CATALOG["openai"].context_tokens("gpt-77") is None
    assert CATALOG["gemini"].context_tokens("gemini-2.5-pro") is None
    # Nothing follows from a name that only begins like a known one.
    assert not CATALOG["anthropic"].profile("claude-sonnet-5-5-like").thinking
    assert CATALOG["anthropic"].profile("claude-sonnet-5-5").effort == "high"


def test_the_facts_behind_refusals_are_in_their_rows() -> None:
    exactly_nine = IdRule(alphabet="[A-Za-z0-9]", exactly=9)
    assert CATALOG["mistral"].profile("any").ids == exactly_nine  # MIS-1
    assert CATALOG["deepseek"].profile("any").echoes_reasoning == "with_calls"  # DSK-1
    assert CATALOG["moonshot"].profile("any").echoes_reasoning == "always"  # KIM-1
    assert CATALOG["openai"].profile("any").output_limit_field == "max_completion_tokens"  # OAI-18
    assert CATALOG["gemini-openai"].profile("any").requires_signatures  # GOC-1
    assert CATALOG["anthropic"].profile("any").version == "2026-10-21"  # ANT-1


def test_a_new_host_is_a_row_and_no_code() -> None:
    row = {**ROW, "keys": [{"env": "NEW_KEY"}], "model": "m", "facts": {"streams": False}}
    host = read_catalog({"new": row})["new"]
    assert host.profile("m") == Profile(host="new", model="m", seal_scope="new", streams=False)
    assert list(read_catalog({"new": row})) == [*CATALOG, "new"]


def test_a_persons_row_replaces_fields_of_a_known_one() -> None:
    own = read_catalog({"custom": {"url": "https://mine.example/v1"}})["custom"]
    assert own.url_in({}, None) == "https://mine.example/v1"
    assert own.facts == CATALOG["custom"].facts


@pytest.mark.parametrize(
    ("name", "row", "said"),
    [
        ("new", {**ROW, "colour": "red"}, "unknown field `colour`"),
        ("new", {"dialect": "openai_chat"}, "missing required field `url`"),
        ("new", {**ROW, "dialect": "esperanto"}, "Invalid enum value 'esperanto'"),
        ("new", {**ROW, "facts": {"streems": True}}, "unknown field `streems`"),
        (
            "new",
            {**ROW, "facts": {"streams": "yes"}},
            "Expected `bool`, got `str` - at `$.streams`",
        ),
        ("new", {**ROW, "facts": {"ids": {"longer": 1}}}, "unknown field `longer`"),
        ("new", {**ROW, "models": {"m": {"facts": {"x": 1}}}}, "facts of new:m"),
        ("new", {**ROW, "models": {"m": {"context": 1}}}, "unknown field `context`"),
        ("a:b", ROW, "holds one of ':,'"),
        ("", ROW, "is empty"),
        ("custom", {"url": 1}, "Expected `str`, got `int`"),
    ],
)
def test_a_row_that_is_wrong_says_which_and_why(name: str, row: dict[str, Any], said: str) -> None:
    with pytest.raises(BadRowError, match="the host ") as caught:
        read_catalog({name: row})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_first_key_that_is_set_is_used_and_blanks_are_none() -> None:
    gemini = CATALOG["gemini"]
    assert gemini.key_in({}) is None
    assert gemini.key_in({"GEMINI_API_KEY": " \n"}) is None
    key = gemini.key_in({"GEMINI_API_KEY": "", "GOOGLE_API_KEY": "k-0123456789\n"})
    assert key is not None
    assert key.form == KeyForm(env="GOOGLE_API_KEY", header="x-goog-api-key", scheme="")
    assert key.secret == Secret("k-0123456789")
    assert "k-0123456789" not in repr(key)


def test_a_token_and_a_key_of_one_host_may_go_to_different_places() -> None:
    vertex = CATALOG["vertex"]
    token = {"VERTEX_ACCESS_TOKEN": "t-0123456789"}
    with pytest.raises(MissingError, match="set GOOGLE_CLOUD_PROJECT"):
        vertex.url_in(token, vertex.key_in(token))
    placed = {**token, "GOOGLE_CLOUD_PROJECT": "p"}
    assert "/projects/p/" in vertex.url_in(placed, vertex.key_in(placed))
    keyed = {"VERTEX_API_KEY": "k-0123456789"}
    assert "/projects/" not in vertex.url_in(keyed, vertex.key_in(keyed))


def test_an_address_that_only_the_person_knows_is_asked_for() -> None:
    with pytest.raises(MissingError, match="set CUSTOM_BASE_URL"):
        CATALOG["custom"].url_in({}, None)
    nowhere = read_catalog({"new": {**ROW, "url": ""}})["new"]
    with pytest.raises(MissingError, match="set new"):
        nowhere.url_in({}, None)
