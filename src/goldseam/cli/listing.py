"""What `goldseam models` does."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from pathlib import Path

import anyio

from goldseam.app.models import choose_model
from goldseam.app.settings import hosts_of, read_settings
from goldseam.kernel.conversation import Message
from goldseam.kernel.ports import Delta
from goldseam.kernel.request import ModelRequest, ModelResponse
from goldseam.models.catalog import Catalog, Host, MissingError

_ASKED = ModelRequest(
    history=(Message(role="user", text="Answer with the one word: pong"),),
    tools=(),
    max_output_tokens=1024,
)
_SHOWN = 80


def list_models(*, as_json: bool) -> None:
    """Write a line for each host to standard output, in the order of preference.

    Raises:
        UsageError: the settings are broken.
    """
    catalog = hosts_of(read_settings(os.environ))
    lines = _json_lines if as_json else _table
    sys.stdout.writelines(f"{line}\n" for line in lines(catalog, os.environ))


def ping_model(name: str, *, as_json: bool) -> None:
    """Ask the model `name` for one word and write how it went to standard output.

    Raises:
        UsageError: there is no such host, or no key for it.
        ModelProviderError: it did not answer.
        InvalidModelOutputError: what it answered cannot be read.
    """
    catalog = hosts_of(read_settings(os.environ))
    full_name, seconds, reply = anyio.run(_ask, name, catalog)
    words = " ".join(item.text for item in reply.items if isinstance(item, Message))
    said = " ".join(words.split())[:_SHOWN]
    if as_json:
        told = {"type": "ping", "model": full_name, "seconds": round(seconds, 3), "said": said}
        sys.stdout.write(json.dumps(told, separators=(",", ":")) + "\n")
        return
    counts = f"{_count(reply.usage.input)} tokens in, {_count(reply.usage.output)} out"
    sys.stdout.write(
        f"{full_name} answered in {seconds:.1f} s: {said or '(no words)'} ({counts})\n"
    )


async def _ask(name: str, catalog: Catalog) -> tuple[str, float, ModelResponse]:
    chosen = choose_model(name, folder=Path.cwd(), environ=os.environ, catalog=catalog)
    async with aclosing(chosen) as model:
        began = anyio.current_time()
        reply = await model.adapter.complete(_ASKED, _ignore)
        return model.name, anyio.current_time() - began, reply


def _ignore(delta: Delta) -> None:
    """A ping shows its reply once it is whole."""


def _count(tokens: int | None) -> str:
    return "unknown" if tokens is None else str(tokens)


def _json_lines(catalog: Catalog, environ: Mapping[str, str]) -> Iterator[str]:
    for host in catalog.values():
        told = {
            "type": "host",
            "host": host.name,
            "dialect": host.dialect,
            "keys": host.key_variables,
            "needs_key": host.needs_key,
            "state": _state(host, environ),
            "model": host.model or None,
        }
        yield json.dumps(told, separators=(",", ":"))


def _table(catalog: Catalog, environ: Mapping[str, str]) -> Iterator[str]:
    rows = [("host", "dialect", "key", "", "default model")]
    rows += [
        (
            host.name,
            host.dialect,
            " or ".join(host.key_variables) or "-",
            _state(host, environ),
            host.model or f"name one: {host.name}:MODEL",
        )
        for host in catalog.values()
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def _state(host: Host, environ: Mapping[str, str]) -> str:
    key = host.key_in(environ)
    if key is None and host.needs_key:
        return "not set"
    try:
        host.url_in(environ, key)
    except MissingError as error:
        return str(error)
    return "no key needed" if key is None else "set"
