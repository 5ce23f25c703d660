"""What models cost: generated from data that others keep, an upper bound, unknown where unknown."""

import subprocess
import sys
from pathlib import Path

import pytest

from goldseam.kernel.budget import Price
from goldseam.kernel.request import TokenUsage
from goldseam.models.catalog import BadRowError, read_catalog

ROOT = Path(__file__).parents[2]
CATALOG = read_catalog()
DOLLAR = 1_000_000
"""Picodollars a token where a million of them cost a dollar."""


def price(host: str, model: str) -> Price:
    found = CATALOG[host].price(model)
    assert found is not None
    return found


def test_the_prices_are_what_the_script_makes_of_the_installed_data() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/prices.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    written = (ROOT / "src/goldseam/models/prices.toml").read_text(encoding="utf-8")
    assert done.stdout == written, "run `make prices`"


def test_known_prices_are_in_picodollars_a_token() -> None:
    assert price("anthropic", "claude-opus-4-5") == Price(
        input=5 * DOLLAR,
        output=25 * DOLLAR,
        cache_read=DOLLAR // 2,
        cache_write=25 * DOLLAR // 4,
    )
    million = TokenUsage(input=1_000_000, output=0)
    assert price("openai", "gpt-4o").of(million) == 2_500_000 * 1_000_000


def test_of_prices_by_length_and_by_time_of_day_the_dearest_counts() -> None:
    assert price("anthropic", "claude-sonnet-4-5").input == 6 * DOLLAR
    assert price("deepseek", "deepseek-chat").output == 1_100_000


def test_a_price_that_another_has_replaced_does_not_count() -> None:
    assert price("openai", "o3").input == 2 * DOLLAR


def test_cached_input_without_a_price_counts_as_fresh_input() -> None:
    found = price("openai", "gpt-4o")
    assert (found.cache_read, found.cache_write) == (1_250_000, found.input)
    assert price("cerebras", "gpt-oss-120b").cache_read == 350_000


@pytest.mark.parametrize(
    ("host", "model"),
    [("openai", "gpt-unheard-of"), ("dashscope", "qwen3.8-flash"), ("ollama", "gpt-oss:20b")],
)
def test_an_unknown_price_is_none_and_not_nothing(host: str, model: str) -> None:
    assert CATALOG[host].price(model) is None


def test_the_default_model_of_each_host_with_prices_has_one() -> None:
    priced = [host for host in CATALOG.values() if host.prices]
    assert len(priced) > 10
    assert [host.name for host in priced if host.price(host.model) is None] == []


def test_every_price_is_of_a_model_that_the_catalog_names() -> None:
    for host in CATALOG.values():
        assert set(host.prices) <= set(host.models)
        for model in host.prices:
            found = price(host.name, model)
            assert 0 < found.cache_read <= found.input < found.output < 1_000 * DOLLAR
            assert found.input <= found.cache_write


def test_a_person_may_give_prices_of_their_own() -> None:
    own = {"prices": {"m": {"input": 7, "output": 8, "cache_read": 0}}}
    found = read_catalog({"ollama": own})["ollama"].price("m")
    assert found == Price(input=7, output=8, cache_read=0, cache_write=7)
    for wrong in ({"input": 1}, {"input": -1, "output": 2}, {"input": 1, "output": 2, "x": 3}):
        with pytest.raises(BadRowError):
            read_catalog({"ollama": {"prices": {"m": wrong}}})
