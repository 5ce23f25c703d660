"""What may be sent at all, and that a key is never seen."""

import copy
import pickle

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.wire.message import KEY_HEADERS, HttpRequest, RequestRefusedError, is_loopback
from goldseam.wire.secret import LEAST_LENGTH, Secret

KEY = "sk-proj-+/0123456789=="
KEYS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=LEAST_LENGTH)


def ask(url: str = "https://api.example/v1", **headers: str | Secret) -> HttpRequest:
    pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return HttpRequest(method="POST", url=url, headers=pairs, body=b"12345")


@given(KEYS)
def test_a_key_is_in_no_text_of_a_request(key: str) -> None:
    request = ask(x_api_key=Secret(key), authorization=Secret(key, scheme="Bearer"))
    shown = f"{request!r} {request} {request.headers} {[Secret(key)]} {Secret(key)}"
    masked = "HttpRequest(POST https://api.example/v1, [x-api-key, authorization], 5 bytes)"
    assert shown == (
        f"{masked} {masked} (('x-api-key', Secret(…)), ('authorization', Secret(…)))"
        " [Secret(…)] Secret(…)"
    )


def test_a_secret_cannot_be_written_by_accident() -> None:
    secret = Secret(KEY)
    for write in (msgspec.json.encode, msgspec.msgpack.encode, pickle.dumps, copy.copy):
        with pytest.raises(TypeError):
            write(secret)


def test_a_secret_equals_another_of_the_same_header() -> None:
    assert Secret("a b") == Secret("b", scheme="a")
    assert len({Secret("a b"), Secret("b", scheme="a"), Secret("b")}) == 2
    assert Secret("b") != "b"


def test_a_request_knows_its_host_and_secrets() -> None:
    secret = Secret(KEY, scheme="Bearer")
    request = ask("https://api.example:8443/v1?alt=sse", accept="*/*", authorization=secret)
    assert request.host == "api.example:8443"
    assert request.secrets == (secret,)
    assert secret.header == f"Bearer {KEY}"


REFUSED_URLS = {
    "http://api.example/v1": "for this machine alone: use https:// for api.example",
    "http://169.254.169.254/": "plain http:// is for this machine alone",
    "http://127.0.0.1.example/": "plain http:// is for this machine alone",
    "http://2130706433/": "plain http:// is for this machine alone",
    "https://user:pass@api.example/": "user name",
    "https://api.example/?key=abc": "parameter 'key'",
    "https://api.example/?alt=sse&API_KEY=": "parameter 'API_KEY'",
    "https://api.example/?access_token=abc": "parameter 'access_token'",
    "https://api.example/?%6bey=abc": "parameter 'key'",
    "https://api.example/?subscription-key=abc": "parameter 'subscription-key'",
    "https://api.example/?sig=abc": "parameter 'sig'",
    f"https://api.example/{KEY}": "holds the key",
    "https://api.example/?a=sk-proj-%2B%2F0123456789%3D%3D": "holds the key",
    "https://api.example/?a=sk-proj-%2b%2f0123456789%3d%3d": "holds the key",
    "https://api.example/a b": "blank",
    "https://api.example/\nx": "blank",
    "https://bücher.example/": "beyond ASCII",
    "": "empty",
    "https://": "must begin with https://",
    "https://a..b/": "must begin with https://",
    f"https://{'a' * 64}/": "must begin with https://",
    "ftp://api.example/": "must begin with https://",
    "file:///etc/passwd": "must begin with https://",
    "api.example/v1": "must begin with https://",
    "https://api.example:99999/": "no valid host and port",
    "https://[::1/": "no valid host and port",
}


@pytest.mark.parametrize(("url", "why"), REFUSED_URLS.items())
def test_a_url_that_must_not_be_sent_is_refused(url: str, why: str) -> None:
    with pytest.raises(RequestRefusedError) as caught:
        ask(url, x_api_key=Secret(KEY))
    text = str(caught.value)
    assert why in text
    assert "\n" not in text
    assert not any(form in text for form in ("abc", "pass@", *Secret(KEY).spellings()))


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example/v1beta/models/m-3:streamGenerateContent?alt=sse&api-version=2026-10",
        "http://localhost:11434/v1",
        "http://host.localhost/",
        "http://127.8.9.1:8080/",
        "http://[::1]:8080/",
        "https://[2001:db8::1]/",
        "https://xn--bcher-kva.example./",
    ],
)
def test_a_url_that_may_be_sent_is_taken(url: str) -> None:
    assert ask(url, x_api_key=Secret(KEY)).url == url


def test_a_short_key_is_not_looked_for_in_the_url() -> None:
    assert ask("https://none.example/v1", x_api_key=Secret("none")).secrets == (Secret("none"),)


@pytest.mark.parametrize("name", sorted(KEY_HEADERS))
def test_a_header_that_holds_a_key_takes_a_secret_only(name: str) -> None:
    with pytest.raises(RequestRefusedError, match="must be a Secret"):
        HttpRequest(method="GET", url="https://api.example/", headers=((name.upper(), KEY),))


@pytest.mark.parametrize(
    "value", [f"{KEY}\n", f"\r\nX: {KEY}", f"{KEY}é", "", f" {KEY}", f"{KEY}\0"]
)
def test_a_key_that_no_header_can_carry_is_refused_unseen(value: str) -> None:
    with pytest.raises(RequestRefusedError) as caught:
        ask(authorization=Secret(value, scheme="Bearer" if not value else ""))
    assert KEY not in str(caught.value)
    assert str(caught.value).startswith("the value of the header authorization has a blank")


def test_an_empty_value_is_a_value() -> None:
    assert ask(x_note="").headers == (("x-note", ""),)


@pytest.mark.parametrize("name", ["", "a b", "a:b", "a\n", "é"])
def test_a_name_that_http_cannot_carry_is_refused(name: str) -> None:
    with pytest.raises(RequestRefusedError, match="header's name"):
        HttpRequest(method="GET", url="https://api.example/", headers=((name, "1"),))


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True),
        ("a.localhost", True),
        ("127.255.0.1", True),
        ("::1", True),
        ("localhost.example", False),
        ("notlocalhost", False),
        ("0.0.0.0", False),
        ("10.0.0.1", False),
        ("::ffff:10.0.0.1", False),
    ],
)
def test_loopback_is_this_machine_alone(host: str, here: bool) -> None:
    assert is_loopback(host) is here
