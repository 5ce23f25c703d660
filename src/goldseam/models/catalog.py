"""Hosts as data: which dialect each speaks, where, under which key, and what its models are like.

Reads `catalog.toml` and `prices.toml` beside it, and rows of the same form from the person's
settings, strictly.
Knows no dialect, no socket, and no environment but the one it is handed.
"""

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from goldseam.kernel.budget import Price
from goldseam.models.dialect import Profile
from goldseam.wire.secret import Secret

DialectName: TypeAlias = Literal["openai_chat", "openai_responses", "anthropic", "gemini"]

Picodollars: TypeAlias = Annotated[int, Meta(ge=0)]

_PLACEHOLDER = re.compile(r"\$\{(\w+)\}")
_SEVERAL = ":,"
"""What a host's name may not hold: these part the words of `--model`."""


class BadRowError(ValueError):
    """A row of the catalog is not as it must be; one line says which and why."""


class MissingError(ValueError):
    """A variable that the host needs is not set; `variables` are those of which one would do."""

    def __init__(self, *variables: str) -> None:
        super().__init__(f"set {' or '.join(variables)}")
        self.variables = variables


class KeyForm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One way of showing a key: the variable it is in, and the header it is sent in."""

    env: str
    header: str = "authorization"
    scheme: str = "Bearer"
    url: str | None = None
    """Where a key of this form goes, if not to the host's own URL."""


class ModelRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known of one model by its exact name, beyond what holds for the host."""

    context_tokens: int | None = None
    facts: dict[str, Any] = {}


class PriceRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a token of one model costs at the most; cached input may have no price of its own."""

    input: Picodollars
    output: Picodollars
    cache_read: Picodollars | None = None
    cache_write: Picodollars | None = None


class GivenKey(Struct, frozen=True, kw_only=True):
    """A key that is set, and the form in which it is shown."""

    form: KeyForm
    secret: Secret


class Host(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row of the catalog. `facts` are fields of `Profile`; `${NAME}` in a URL is a variable."""

    name: str
    dialect: DialectName
    url: str
    url_env: str | None = None
    """The variable that stands in the place of `url` where it is set."""
    keys: tuple[KeyForm, ...] = ()
    needs_key: bool = True
    model: str = ""
    """The model where none is named; empty where nobody can know it."""
    version_header: str = ""
    facts: dict[str, Any] = {}
    models: dict[str, ModelRow] = {}
    prices: dict[str, PriceRow] = {}

    def __post_init__(self) -> None:
        """Refuse a name that cannot be said, and facts that no profile has."""
        if not self.name or any(mark in self.name for mark in _SEVERAL):
            raise ValueError(f"the host's name {self.name!r} is empty or holds one of {_SEVERAL!r}")
        for model in ("any", *self.models):
            self.profile(model)

    def profile(self, model: str) -> Profile:
        """Return what is known of `model` here; of one without a row, what holds for the host."""
        row = self.models.get(model, ModelRow())
        named = {"host": self.name, "model": model, "seal_scope": self.name}
        try:
            return msgspec.convert({**named, **self.facts, **row.facts}, Profile)
        except msgspec.ValidationError as error:
            raise ValueError(f"facts of {self.name}:{model}: {error}") from error

    def context_tokens(self, model: str) -> int | None:
        """Return how many tokens `model` can hold, `None` where that is unknown."""
        return self.models.get(model, ModelRow()).context_tokens

    def price(self, model: str) -> Price | None:
        """Return what `model` costs here at the most, `None` where that is unknown.

        Cached input without a price of its own counts as fresh input.
        """
        row = self.prices.get(model)
        if row is None:
            return None
        return Price(
            input=row.input,
            output=row.output,
            cache_read=row.input if row.cache_read is None else row.cache_read,
            cache_write=row.input if row.cache_write is None else row.cache_write,
        )

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The variables that may hold the key, the one looked at first in front."""
        return tuple(form.env for form in self.keys)

    def key_in(self, environ: Mapping[str, str]) -> GivenKey | None:
        """Return the first key that is set."""
        for form in self.keys:
            if value := environ.get(form.env, "").strip():
                return GivenKey(form=form, secret=Secret(value, scheme=form.scheme))
        return None

    def url_in(self, environ: Mapping[str, str], key: GivenKey | None) -> str:
        """Return the host's URL, without a slash at its end.

        Raises:
            MissingError: it depends on a variable that is not set.
        """
        given = environ.get(self.url_env or "", "").strip()
        own = key.form.url if key is not None else None
        url = given or _filled(own or self.url, environ)
        if not url:
            raise MissingError(self.url_env or self.name)
        return url.rstrip("/")


Catalog: TypeAlias = Mapping[str, Host]


def read_catalog(own_rows: Mapping[str, Mapping[str, Any]] | None = None) -> Catalog:
    """Return every host by name, in the order in which they are preferred.

    `own_rows` come from the person's settings: new hosts, or fields that replace those of a row.

    Raises:
        BadRowError: a row has an unknown field, lacks one, or has one of the wrong kind.
    """
    rows, prices = _table("catalog.toml"), _table("prices.toml")
    rows = {name: {**row, "prices": prices.get(name, {})} for name, row in rows.items()}
    for name, row in (own_rows or {}).items():
        rows[name] = {**rows.get(name, {}), **row}
    return {name: _host(name, row) for name, row in rows.items()}


def _table(file: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads(files("goldseam.models").joinpath(file).read_text(encoding="utf-8"))


def _host(name: str, row: Mapping[str, Any]) -> Host:
    try:
        return msgspec.convert({**row, "name": name}, Host)
    except (msgspec.ValidationError, ValueError) as error:
        raise BadRowError(f"the host {name!r}: {error}") from error


def _filled(url: str, environ: Mapping[str, str]) -> str:
    missing = [name for name in _PLACEHOLDER.findall(url) if not environ.get(name, "").strip()]
    if missing:
        raise MissingError(missing[0])
    return _PLACEHOLDER.sub(lambda found: environ[found[1]].strip().rstrip("/"), url)
