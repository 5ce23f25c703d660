"""Whom a person's words mean, which key goes where, and what is said where it cannot be."""

from pathlib import Path
from typing import get_args

import pytest

from goldseam.app.models import (
    DIALECTS,
    MENDER_BANNER,
    ChosenModel,
    choose_model,
    secrets_in,
)
from goldseam.kernel.errors import UsageError
from goldseam.models.catalog import DialectName, read_catalog
from goldseam.models.client import DialectClient
from goldseam.models.json_text.adapter import JsonTextModelAdapter
from goldseam.wire.secret import Secret

pytestmark = pytest.mark.anyio

CATALOG = read_catalog()
KEY = "k-0123456789abcdef"
SCRIPT = '{"replies":[{"type":"answer","text":"Done."}]}'


def choose(given: str | None, **environ: str) -> ChosenModel:
    return choose_model(given, folder=Path("/nowhere"), environ=environ, catalog=CATALOG)


def refusal(given: str | None, **environ: str) -> str:
    with pytest.raises(UsageError) as caught:
        choose(given, **environ)
    message = str(caught.value)
    assert "\n" not in message
    assert KEY not in message
    return message


def test_every_dialect_name_of_a_row_is_spoken() -> None:
    assert set(DIALECTS) == set(get_args(DialectName))


def test_a_host_and_a_model_are_told_apart_by_the_first_colon() -> None:
    chosen = choose("openrouter:z-ai/glm-5.3:free", OPENROUTER_API_KEY=KEY)
    assert chosen.name == "openrouter:z-ai/glm-5.3:free"
    assert isinstance(chosen.adapter, DialectClient)
    assert chosen.candidate.context_tokens is None
    assert chosen.banner == ""


def test_a_host_alone_means_its_default_model() -> None:
    chosen = choose("deepseek", DEEPSEEK_API_KEY=KEY)
    assert chosen.name == "deepseek:deepseek-v4-pro"
    assert chosen.candidate.context_tokens == 1_000_000


def test_where_nothing_is_named_the_first_host_with_a_key_is_used_and_said() -> None:
    chosen = choose(None, MISTRAL_API_KEY=KEY, GROQ_API_KEY=KEY, CUSTOM_API_KEY=KEY)
    assert chosen.name == "mistral:mistral-medium-3-5"
    assert chosen.banner == "no --model was given: mistral, since MISTRAL_API_KEY is set"


def test_where_no_key_is_set_the_mender_is_used() -> None:
    for environ in ({}, {"OPENAI_API_KEY": " "}, {"CUSTOM_API_KEY": KEY}):
        chosen = choose(None, **environ)
        assert (chosen.name, chosen.banner) == ("builtin:mender", MENDER_BANNER)
        assert chosen.secrets == ()


def test_a_version_is_announced_where_the_host_wants_one() -> None:  # ANT-1
    assert choose("anthropic", ANTHROPIC_API_KEY=KEY).name == "anthropic:claude-sonnet-5-5"


def test_a_local_host_needs_no_key() -> None:
    assert choose("ollama").name == "ollama:gpt-oss:20b"
    assert choose("llama.cpp", LLAMA_CPP_BASE_URL="http://localhost:9/v1").name == "llama.cpp:local"


def test_json_text_is_spoken_with_any_chat_model() -> None:
    chosen = choose("json:vllm:org/model:tag")
    assert chosen.name == "json:vllm:org/model:tag"
    assert isinstance(chosen.adapter, JsonTextModelAdapter)
    assert choose("json:ollama").name == "json:ollama:gpt-oss:20b"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nobody:m", "no model 'nobody:m': the hosts are anthropic, openai-responses, openai, "),
        ("", "no model ''"),
        (":m", "no model ':m'"),
        ("json:", "no model 'json:'"),
        ("json:nobody", "no model 'json:nobody'"),
        ("scripted", "and scripted:FILE for demonstrations"),
        ("builtin:magic", "the one built in is builtin:mender"),
        ("scripted:gone.json", "cannot read the script 'gone.json': No such file"),
        ("vllm", "vllm has no default model: name one as vllm:MODEL"),
        ("openai:m", "openai needs a key: set OPENAI_API_KEY"),
        ("gemini", "gemini needs a key: set GEMINI_API_KEY or GOOGLE_API_KEY"),
        ("custom:m", "custom needs its address: set CUSTOM_BASE_URL"),
    ],
)
def test_what_cannot_be_chosen_says_what_there_is_to_do(given: str, said: str) -> None:
    assert said in refusal(given)


def test_an_unknown_host_is_answered_with_all_there_are() -> None:
    message = refusal("nobody")
    assert [name for name in CATALOG if name not in message] == []


def test_an_address_that_may_not_be_asked_is_refused_at_once() -> None:
    assert "use https://" in refusal("custom:m", CUSTOM_BASE_URL="http://far.example/v1")
    assert "custom cannot be asked" in refusal("custom:m", CUSTOM_BASE_URL="no address")
    message = refusal("custom:m", CUSTOM_BASE_URL="https://h/v1", CUSTOM_API_KEY=f"{KEY}\ré")
    assert "the header authorization" in message


def test_every_key_that_is_set_is_kept_out_of_the_record() -> None:
    environ = {"OPENAI_API_KEY": KEY, "GROQ_API_KEY": " other-key-of-groq\n", "HOME": "/home/me"}
    expected = (Secret(KEY), Secret("other-key-of-groq"))
    assert secrets_in(environ, CATALOG) == expected
    chosen = choose("ollama", **environ)
    assert chosen.secrets == expected
    assert KEY not in repr(chosen)


async def test_a_script_is_played_and_a_chosen_model_is_closed(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(SCRIPT)
    scripted = choose_model("scripted:s.json", folder=tmp_path, environ={}, catalog=CATALOG)
    assert scripted.name == "scripted:s.json"
    await scripted.aclose()
    await choose("ollama").aclose()


def test_a_persons_own_row_is_a_host_like_any_other() -> None:
    row = {"dialect": "gemini", "url": "https://own.example/v1", "needs_key": False, "model": "g"}
    catalog = read_catalog({"own": row})
    chosen = choose_model("own", folder=Path("/nowhere"), environ={}, catalog=catalog)
    assert chosen.name == "own:g"
