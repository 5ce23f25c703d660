"""Choose the model that a person names: a host of the catalog, `builtin:mender`, or a script.

The one place that joins a dialect, a host, a key and the network.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from goldseam.kernel.budget import Candidate, Price
from goldseam.kernel.errors import UsageError
from goldseam.kernel.ports import ModelAdapter
from goldseam.models.anthropic.dialect import AnthropicDialect
from goldseam.models.catalog import Catalog, DialectName, GivenKey, Host, MissingError
from goldseam.models.client import DialectClient, Endpoint
from goldseam.models.dialect import Dialect
from goldseam.models.gemini.dialect import GeminiDialect
from goldseam.models.json_text.adapter import JsonTextModelAdapter
from goldseam.models.mender.mender import Mender
from goldseam.models.openai_chat.dialect import ChatDialect
from goldseam.models.openai_responses.dialect import ResponsesDialect
from goldseam.models.plain_text import PlainTextProvider
from goldseam.models.scripted import load_script
from goldseam.wire.message import HeaderValue, RequestRefusedError, TimeLimits
from goldseam.wire.secret import Secret
from goldseam.wire.transport import HttpTransport

DEFAULT_MODEL = "builtin:mender"
JSON_TEXT = "json"
"""`json:HOST:MODEL` speaks JSON text with a model that has no tools of its own."""

MENDER_BANNER = (
    "builtin:mender is no language model: it is a rule-based repairer that tries small edits to "
    "Python code against failing tests. It reads no meaning, costs nothing, and needs no key."
)

# A thinking model, or a local one that reads a long prompt, may be silent for minutes.
TIMES = TimeLimits(connect_s=20, first_byte_s=600, idle_s=300, total_s=1800)

DIALECTS: Mapping[DialectName, Callable[[], Dialect]] = {
    "openai_chat": ChatDialect,
    "openai_responses": ResponsesDialect,
    "anthropic": AnthropicDialect,
    "gemini": GeminiDialect,
}

_UNBOUNDED = 50_000_000
FREE = Price(input=0, output=0, cache_read=0, cache_write=0)


class ChosenModel(Struct, frozen=True, kw_only=True):
    """A model ready to be asked, and what the person should know of it. Close it in the end."""

    candidate: Candidate
    adapter: ModelAdapter
    banner: str = ""
    secrets: tuple[Secret, ...] = ()
    """What must never show."""
    transport: HttpTransport | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        return self.candidate.name

    async def aclose(self) -> None:
        """Close its connections."""
        if self.transport is not None:
            await self.transport.aclose()


class _Named(Struct, frozen=True, kw_only=True):
    """What was named, before anything is opened."""

    host: Host
    model: str
    in_json: bool = False


def choose_model(
    given: str | None, *, folder: Path, environ: Mapping[str, str], catalog: Catalog
) -> ChosenModel:
    """Return the model that `given` names as HOST:MODEL, or as HOST for its default model.

    Where nothing is named it is the default of the first host whose key is set, else the mender.

    Raises:
        UsageError: no such host or model, or no key; the message says what there is to do.
    """
    if given is None:
        return _unnamed(environ, catalog)
    name, _, model = given.partition(":")
    if name == "builtin":
        return _builtin(model)
    if name == "scripted" and model:
        return _scripted(model, folder)
    return _open(_named(given, catalog), environ, catalog)


def _unnamed(environ: Mapping[str, str], catalog: Catalog) -> ChosenModel:
    for host in catalog.values():
        key = host.key_in(environ)
        if key is None or not host.model:
            continue
        banner = f"no --model was given: {host.name}, since {key.form.env} is set"
        return _open(_Named(host=host, model=host.model), environ, catalog, banner=banner)
    return _builtin("mender")


def _named(given: str, catalog: Catalog) -> _Named:
    """Return the host and model of `given`; the model's name may hold `:` and `/`."""
    in_json = given.startswith(f"{JSON_TEXT}:")
    name, _, model = given.removeprefix(f"{JSON_TEXT}:" if in_json else "").partition(":")
    host = catalog.get(name)
    if host is None:
        raise UsageError(
            f"no model {given!r}: the hosts are {', '.join(catalog)}; "
            f"and there are {DEFAULT_MODEL}, and scripted:FILE for demonstrations"
        )
    if not (model or host.model):
        raise UsageError(f"{name} has no default model: name one as {name}:MODEL")
    return _Named(host=host, model=model or host.model, in_json=in_json)


def _open(
    named: _Named, environ: Mapping[str, str], catalog: Catalog, *, banner: str = ""
) -> ChosenModel:
    host, model = named.host, named.model
    key = host.key_in(environ)
    if key is None and host.needs_key:
        raise UsageError(f"{host.name} needs a key: set {' or '.join(host.key_variables)}")
    transport = HttpTransport(environ)
    try:
        client: ModelAdapter = DialectClient(
            DIALECTS[host.dialect](),
            host.profile(model),
            endpoint=_endpoint(host, key, environ),
            transport=transport,
            times=TIMES,
        )
    except MissingError as error:
        raise UsageError(f"{host.name} needs its address: {error}") from error
    except RequestRefusedError as error:
        raise UsageError(f"{host.name} cannot be asked: {error}") from error
    if named.in_json:
        client = JsonTextModelAdapter(PlainTextProvider(client))
    return ChosenModel(
        candidate=Candidate(
            name=f"{JSON_TEXT}:{host.name}:{model}" if named.in_json else f"{host.name}:{model}",
            context_tokens=host.context_tokens(model),
            price=host.price(model),
        ),
        adapter=client,
        banner=banner,
        secrets=secrets_in(environ, catalog),
        transport=transport,
    )


def secrets_in(environ: Mapping[str, str], catalog: Catalog) -> tuple[Secret, ...]:
    """Return every key of a host that is set, whichever is used: none may show."""
    variables = dict.fromkeys(name for host in catalog.values() for name in host.key_variables)
    return tuple(Secret(value) for name in variables if (value := environ.get(name, "").strip()))


def _endpoint(host: Host, key: GivenKey | None, environ: Mapping[str, str]) -> Endpoint:
    headers: list[tuple[str, HeaderValue]] = []
    if key is not None:
        headers.append((key.form.header, key.secret))
    if host.version_header:
        headers.append((host.version_header, host.profile("any").version))
    return Endpoint(url=host.url_in(environ, key), headers=tuple(headers))


def _builtin(model: str) -> ChosenModel:
    if model != "mender":
        raise UsageError(f"no model 'builtin:{model}'; the one built in is {DEFAULT_MODEL}")
    return ChosenModel(
        # It reads the whole conversation anew each time and is billed for none of it.
        candidate=Candidate(name=DEFAULT_MODEL, context_tokens=_UNBOUNDED, price=FREE),
        adapter=JsonTextModelAdapter(Mender()),
        banner=MENDER_BANNER,
    )


def _scripted(model: str, folder: Path) -> ChosenModel:
    try:
        content = (folder / model).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the script {model!r}: {error.strerror}") from error
    return ChosenModel(
        candidate=Candidate(name=f"scripted:{model}", context_tokens=_UNBOUNDED),
        adapter=load_script(content),
        banner="scripted: the replies are read from a file; no model is asked.",
    )
