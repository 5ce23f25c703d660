"""Several models become the one model of a run, or it is said why they cannot."""

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from goldseam.app.chain import ChosenChain, Routing, choose_chain
from goldseam.app.world import World
from goldseam.kernel.budget import Limits, Price
from goldseam.kernel.errors import UsageError
from goldseam.kernel.ports import Need
from goldseam.models.catalog import read_catalog
from goldseam.models.router.health import HealthBoard

HOSTS = read_catalog()
PRICE = Price(input=1, output=2, cache_read=1, cache_write=1)
NEED = Need(context_tokens=100, useless_replies=0, refuted=0)


def world(environ: Mapping[str, str]) -> World:
    return World(
        environ=environ,
        folder=Path("/nowhere"),
        now=lambda: datetime(2026, 11, 30, tzinfo=UTC),
        dice=random.Random(1),
        health=HealthBoard(),
        read_stdin=bytes,
        is_attended=False,
    )


def chain(
    given: str | None,
    *,
    limits: Limits | None = None,
    price: Price | None = None,
    chains: Mapping[str, Sequence[str]] | None = None,
    **environ: str,
) -> ChosenChain:
    around = world(environ)
    routing = Routing(hosts=HOSTS, chains=chains or {}, price=price)
    return choose_chain(given, routing, around, limits=limits or Limits(), health=around.health)


def test_models_are_asked_in_the_order_in_which_they_are_named() -> None:
    chosen = chain("builtin:mender?until=unverified,ollama:llama")
    assert chosen.name == "builtin:mender, ollama:llama"
    assert chosen.router.choose(NEED).candidate.name == "builtin:mender"
    assert chosen.router.escalates
    later = chosen.router.choose(Need(context_tokens=100, useless_replies=0, refuted=1))
    assert later.candidate.name == "ollama:llama"
    assert [chosen.router.escalates] == [False]
    assert "rule-based" in chosen.banners[0]


def test_a_chain_of_the_settings_has_a_name() -> None:
    chosen = chain("fast", chains={"fast": ("ollama:a", "ollama:b")})
    assert chosen.name == "ollama:a, ollama:b"


def test_nothing_named_is_a_chain_of_one() -> None:
    assert chain(None).name == "builtin:mender"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("ollama:a,,ollama:b", "names no model"),
        ("ollama:a,ollama:a", "twice"),
        ("deepseek,deepseek:deepseek-v4-pro", "twice"),
        ("ollama:a,nobody:b", "no model 'nobody:b'"),
        ("ollama:a?until=unverified", "nobody comes after it"),
    ],
)
def test_what_cannot_be_asked_is_one_line(given: str, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        chain(given, DEEPSEEK_API_KEY="k-0123456789abcdef")
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_money_is_not_limited_by_a_price_that_nobody_knows() -> None:
    limits = Limits(money=10**12)
    with pytest.raises(UsageError, match=r"the price of ollama:a is not known.*--price IN/OUT"):
        chain("ollama:a", limits=limits)
    priced = chain("ollama:a", limits=limits, price=PRICE)
    assert priced.router.choose(NEED).candidate.price == PRICE


def test_a_price_that_is_known_is_not_replaced() -> None:
    free = chain("builtin:mender", limits=Limits(money=1), price=PRICE)
    candidate = free.router.choose(NEED).candidate
    assert candidate.price == Price(input=0, output=0, cache_read=0, cache_write=0)


@pytest.mark.anyio
async def test_closing_a_chain_closes_each_model() -> None:
    await chain("ollama:a,ollama:b").aclose()
