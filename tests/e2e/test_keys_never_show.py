"""A key shows nowhere, whatever a host does with it: not in a record, a tape, a log, an error.

Each run has all three: a reply that is taken, a stream that breaks, a refusal that quotes the key.
"""

import json
import logging
from contextlib import aclosing
from typing import Any

import pytest
from e2e.e2e_support import Desk
from e2e.stage import HOSTS, KEYS, Named, reading, rows
from simulators.door import KEY, MODEL
from simulators.gateway import Fault, Gateway, Step

from goldseam.app.models import DIALECTS
from goldseam.kernel.conversation import Message, ToolCall
from goldseam.kernel.errors import ModelProviderError
from goldseam.kernel.request import ModelRequest, ToolSpec
from goldseam.models.catalog import read_catalog
from goldseam.models.client import DialectClient, Endpoint
from goldseam.wire.message import HeaderValue, TimeLimits
from goldseam.wire.secret import Secret
from goldseam.wire.tape import RecordingTransport, Tape
from goldseam.wire.transport import HttpTransport, Transport

pytestmark = pytest.mark.anyio

QUOTING_HEADER = "X-Asked-With"
FORMS = tuple(form.encode() for form in Secret(KEY).spellings())
QUOTED = (f"Incorrect key: {KEY}; {KEY[:4]}…", f"https://h/v1?key={KEY}", *map(bytes.decode, FORMS))
"""What a host may say of a key that it refuses."""


def script(named: Named) -> tuple[Step, ...]:
    """Return the three of a run: the call is taken, the next reply breaks, the third is refused."""
    call = reading(named, ("call_1", "shop.py"), thought="look first")
    refusal = {"error": {"message": "\n".join(QUOTED), "type": KEY, "code": KEY, "status": KEY}}
    headers = (("Content-Type", "application/json"), (QUOTING_HEADER, KEY))
    quoting = Fault(status=401, body=json.dumps(refusal).encode(), headers=headers)
    return call, (call, Fault(cut_at=40)), quoting


def shows(text: str | bytes) -> bool:
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return any(form in raw for form in FORMS)


@pytest.mark.parametrize("named", HOSTS)
def test_no_file_and_no_line_of_a_run_shows_the_key(desk: Desk, named: Named) -> None:
    with Gateway(*script(named)) as gateway:
        settings = desk.folder / "settings.toml"
        row = rows(gateway.url, streamed=True)[named]
        settings.write_text(f"[hosts.{named}]\n{toml_of(row)}")
        ended = desk.goldseam(
            *("fix", "totals are wrong", "--repo", "shop", "--out", "out", "--json"),
            *("--model", f"{named}:{MODEL}"),
            GOLDSEAM_SETTINGS=str(settings),
            OPENAI_API_KEY=KEY,
            ANTHROPIC_API_KEY=KEY,
            GEMINI_API_KEY=KEY,
        )
    assert ended.code == 6, ended.err
    assert (len(gateway.asked), gateway.script, gateway.refusals) == (3, [], [])
    written = {path: path.read_bytes() for path in desk.folder.rglob("*") if path.is_file()}
    assert {"events.jsonl", "result.json", "report.md"} <= {path.name for path in written}
    assert [path for path, content in written.items() if shows(content)] == []
    assert not shows(ended.out)
    assert not shows(ended.err)


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("named", HOSTS)
async def test_no_tape_no_log_and_no_error_shows_the_key(
    named: Named, streamed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    tape, failures = Tape(), list[ModelProviderError]()
    with Gateway(*script(named)) as gateway:
        async with aclosing(HttpTransport({})) as transport:
            recording = RecordingTransport(transport, tape)
            client = client_of(named, gateway.url, recording, streamed=streamed)
            reply = await client.complete(ASKED, lambda _: None)
            for _ in range(2):
                with pytest.raises(ModelProviderError) as caught:
                    await client.complete(ASKED, lambda _: None)
                failures.append(caught.value)
    assert any(isinstance(item, ToolCall) for item in reply.items)
    assert [failure.kind for failure in failures] == ["transport", "auth"]
    assert [failure for failure in failures if shows(f"{failure!r} {failure} {failure.text}")] == []
    assert len(tape.exchanges) == 3
    assert not shows(tape.to_lines())
    # The HTTP library's trace, which nothing here turns on, repeats the headers of a host.
    logged = (record.getMessage() for record in caplog.records)
    assert [text for text in logged if shows(text) and QUOTING_HEADER not in text] == []


ASKED = ModelRequest(
    history=(Message(role="user", text="Read shop.py."),),
    tools=(ToolSpec(name="read_file", description="Reads.", parameters='{"type":"object"}'),),
    max_output_tokens=4096,
)


def client_of(named: Named, url: str, transport: Transport, *, streamed: bool) -> DialectClient:
    host = read_catalog(rows(url, streamed=streamed))[named]
    key = host.key_in(KEYS)
    assert key is not None
    headers: tuple[tuple[str, HeaderValue], ...] = ((key.form.header, key.secret),)
    if host.version_header:
        headers += ((host.version_header, host.profile(MODEL).version),)
    return DialectClient(
        DIALECTS[host.dialect](),
        host.profile(MODEL),
        endpoint=Endpoint(url=host.url_in(KEYS, key), headers=headers),
        transport=transport,
        times=TimeLimits(connect_s=5, first_byte_s=5, idle_s=5, total_s=20),
    )


def toml_of(row: dict[str, Any]) -> str:
    """Return `row` as the fields of a table: JSON values are inline TOML but for the colons."""
    return "\n".join(f"{name} = {_inline(value)}" for name, value in row.items()) + "\n"


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        fields = (f"{json.dumps(name)} = {_inline(inner)}" for name, inner in value.items())
        return "{ " + ", ".join(fields) + " }"
    return json.dumps(value)
