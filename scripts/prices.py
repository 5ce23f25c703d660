"""Write what the models of the catalog cost, from the data of the package `genai-prices`.

`python scripts/prices.py` prints the file as it should be on the day that it says it is of; with
`--write` it is written as of today. A price is an upper bound, since calls are reserved by it: of
tiers by length and of times of day the dearest, and of prices that change, the dearest of the one
that holds on that day and those announced. Discounts that must be asked for (batches) are no part.
"""

import datetime as dt
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from decimal import ROUND_CEILING, Decimal
from pathlib import Path

from genai_prices.data import providers
from genai_prices.types import (
    ConditionalPrice,
    ModelPrice,
    StartDateConstraint,
    TieredPrices,
    TimeOfDateConstraint,
)

MODELS = Path(__file__).parents[1] / "src" / "goldseam" / "models"
CATALOG, PRICES = MODELS / "catalog.toml", MODELS / "prices.toml"

PROVIDERS = {
    "anthropic": "anthropic",
    "openai-responses": "openai",
    "openai": "openai",
    "gemini": "google",
    "vertex": "google",
    "gemini-openai": "google",
    "deepseek": "deepseek",
    "mistral": "mistral",
    "moonshot": "moonshotai",
    "zai": "zai",
    "xai": "x-ai",
    "openrouter": "openrouter",
    "groq": "groq",
    "together": "together",
    "cerebras": "cerebras",
    "fireworks": "fireworks",
}
"""Whose prices a host's are. A host that is not here has none that the data knows."""

KINDS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
}
HEAD = """\
# Picodollars a token (a dollar for a million tokens is 1_000_000): upper bounds, as of {day}.
# Made by scripts/prices.py from genai-prices; not to be edited. What is not here is unknown.
"""
_DAY = re.compile(r"as of (\d{4}-\d\d-\d\d)")


def main() -> None:
    """Print the file, or write it."""
    if sys.argv[1:] == ["--write"]:
        today = dt.datetime.now(tz=dt.UTC).date()
        PRICES.write_text(text_of(today), encoding="utf-8")
    else:
        sys.stdout.write(text_of(written_day()))


def written_day() -> dt.date:
    """Return the day of the file that is there."""
    found = _DAY.search(PRICES.read_text(encoding="utf-8"))
    if found is None:
        raise SystemExit(f"{PRICES} does not say of which day it is: run with --write")
    return dt.date.fromisoformat(found[1])


def text_of(day: dt.date) -> str:
    """Return the whole file as of `day`."""
    catalog = tomllib.loads(CATALOG.read_text(encoding="utf-8"))
    tables = [_table(host, tuple(row.get("models", ())), day) for host, row in catalog.items()]
    return "\n".join([HEAD.format(day=day), *filter(None, tables)])


def _table(host: str, models: tuple[str, ...], day: dt.date) -> str:
    lines = [
        f'"{model}" = {{ {", ".join(f"{kind} = {n:_}" for kind, n in price.items())} }}'
        for model in models
        if (price := price_of(host, model, day))
    ]
    return "\n".join([f"[{host}]", *lines, ""]) if lines else ""


def price_of(host: str, model: str, day: dt.date) -> dict[str, int]:
    """Return the price of each kind of token; nothing where input or output have none."""
    provider = next((one for one in providers if one.id == PROVIDERS.get(host)), None)
    found = provider.find_model(model) if provider else None
    if found is None:
        return {}
    bounds = {kind: _dearest(_holding(found.prices, day), name) for kind, name in KINDS.items()}
    known = {kind: _picodollars(bound) for kind, bound in bounds.items() if bound is not None}
    return known if {"input", "output"} <= known.keys() else {}


def _picodollars(dollars_a_million: Decimal) -> int:
    return int((dollars_a_million * 1_000_000).to_integral_value(ROUND_CEILING))


def _holding(prices: ModelPrice | list[ConditionalPrice], day: dt.date) -> Iterator[ModelPrice]:
    """Yield the prices that hold at some time of `day`, or from a later day on."""
    if isinstance(prices, ModelPrice):
        yield prices
        return
    begun = [
        place
        for place, one in enumerate(prices)
        if one.constraint is None
        or (isinstance(one.constraint, StartDateConstraint) and one.constraint.start_date <= day)
    ]
    last = max(begun, default=0)
    for place, one in enumerate(prices):
        if place >= last or isinstance(one.constraint, TimeOfDateConstraint):
            yield one.prices


def _dearest(prices: Iterable[ModelPrice], name: str) -> Decimal | None:
    return max((bound for price in prices for bound in _tiers(price, name)), default=None)


def _tiers(price: ModelPrice, name: str) -> tuple[Decimal, ...]:
    match getattr(price, name, None):
        case Decimal() as flat:
            return (flat,)
        case TieredPrices(base=base, tiers=tiers):
            return base, *(tier.price for tier in tiers)
        case _:
            return ()


if __name__ == "__main__":
    main()
