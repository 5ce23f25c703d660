"""Which proxy stands before a host."""

import pytest

from goldseam.wire.message import TransportError
from goldseam.wire.proxies import proxy_for

PROXY = "http://proxy.example:3128"
MODEL = "https://api.model.example/v1"


@pytest.mark.parametrize(
    ("environ", "proxy"),
    [
        ({}, None),
        ({"HTTPS_PROXY": PROXY}, PROXY),
        ({"https_proxy": PROXY, "HTTPS_PROXY": "http://other"}, PROXY),
        ({"https_proxy": "", "HTTPS_PROXY": PROXY}, PROXY),
        ({"ALL_PROXY": PROXY}, PROXY),
        ({"HTTPS_PROXY": PROXY, "all_proxy": "http://other"}, PROXY),
        ({"HTTPS_PROXY": "proxy.example:3128"}, PROXY),
        ({"HTTPS_PROXY": "https://u:p@proxy.example"}, "https://u:p@proxy.example"),
        ({"HTTP_PROXY": PROXY, "http_proxy": PROXY}, None),
        ({"HTTPS_PROXY": "  "}, None),
    ],
)
def test_the_proxy_is_named_by_the_usual_variables(
    environ: dict[str, str], proxy: str | None
) -> None:
    assert proxy_for(MODEL, environ) == proxy


@pytest.mark.parametrize(
    ("exempt", "url", "direct"),
    [
        ("*", MODEL, True),
        ("model.example", MODEL, True),
        (".model.example", MODEL, True),
        ("*.model.example", MODEL, True),
        ("MODEL.example", MODEL, True),
        ("api.model.example", MODEL, True),
        ("other.example, model.example ,", MODEL, True),
        ("el.example", MODEL, False),
        ("model.example.org", MODEL, False),
        ("", MODEL, False),
        (",", MODEL, False),
        ("model.example:443", MODEL, True),
        ("model.example:8443", MODEL, False),
        ("model.example:8443", "https://model.example:8443/", True),
        ("10.0.0.0/8", "https://10.1.2.3/", True),
        ("10.0.0.0/8", "https://11.1.2.3/", False),
        ("10.0.0.0/8", MODEL, False),
        ("10.1.2.3", "https://10.1.2.3/", True),
        ("2001:db8::/32", "https://[2001:db8::1]/", True),
        ("2001:db8::/32", "https://10.1.2.3/", False),
    ],
)
def test_some_hosts_need_none(exempt: str, url: str, direct: bool) -> None:
    found = proxy_for(url, {"HTTPS_PROXY": PROXY, "no_proxy": exempt})
    assert found == (None if direct else PROXY)


@pytest.mark.parametrize("url", ["http://localhost:11434", "https://127.0.0.1", "http://[::1]:80"])
def test_this_machine_needs_none(url: str) -> None:
    assert proxy_for(url, {"HTTPS_PROXY": PROXY, "ALL_PROXY": PROXY}) is None


@pytest.mark.parametrize(
    "value", ["socks5://u:pass-word@proxy.example", "http://", "http://a:b@[", "ftp://x", "a:99999"]
)
def test_a_proxy_that_cannot_be_used_is_refused_unseen(value: str) -> None:
    with pytest.raises(TransportError) as caught:
        proxy_for(MODEL, {"all_proxy": value})
    assert caught.value.text == "ALL_PROXY must be http://HOST:PORT or https://HOST:PORT"
    assert (caught.value.kind, caught.value.sent) == ("connect", False)
