import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.tools.web.addresses import (
    RefusedError,
    Target,
    next_target,
    read_url,
    same_site,
    why_closed,
)

# security 42: every way to write an address of the inside is refused, or read as what it is.
REFUSED = [
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://0x7f.0.0.1/",
    "http://017700000001/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://127.0.0.01/",
    "http://0/",
    "http://0x/",
    "http://1.2.3.4.5/",
    "http://256.0.0.1/",
    "http://４２.１/",
    "http://ex%61mple.com/",
    "http://%31%32%37.0.0.1/",
    "http://[::1/",
    "http://[::g]/",
    "http://[v1.a:b]/",
    "http://:80/",
    "http:///x",
    "http://a..b/",
    "http://-a.example/",
    f"http://{'a' * 64}.example/",
    f"http://{'a.' * 130}example/",
    "http://a.example:0/",
    "http://a.example:65536/",
    "http://a.example:80:80/",
    "http://a b.example/",
    "http://a.example\\@b.example/",
    "http://a.example/\r\nHost: b.example",
    "http://a.example/\x00",
    "http://ada@a.example/",
    "http://ada:secret@a.example/",
    "http://@a.example/",
    "http://a.example:80@127.0.0.1/",
    "file:///etc/passwd",
    "ftp://a.example/",
    "gopher://127.0.0.1:6379/_x",
    "javascript:alert(1)",
    "data:text/html,x",
    "//a.example/",
    "a.example",
    "",
    "http://a.example/" + "x" * 4_000,
]


@pytest.mark.parametrize("url", REFUSED)
def test_a_url_that_cannot_be_read_for_certain_is_refused(url: str) -> None:
    with pytest.raises(RefusedError):
        read_url(url)


CLOSED = [
    ("http://127.0.0.1/", "loopback"),
    ("http://127.255.255.254/", "loopback"),
    ("http://①②⑦.⓪.⓪.①/", "loopback"),
    ("http://１２７.0.0.1/", "loopback"),
    ("http://127。0。0。1/", "loopback"),
    ("http://127.0.0.1./", "loopback"),
    ("http://0.0.0.0/", "unspecified"),
    ("http://10.0.0.1/", "private"),
    ("http://172.31.255.255/", "private"),
    ("http://192.168.1.1/", "private"),
    ("http://100.64.0.1/", "behind a carrier's translation"),
    ("http://100.100.100.200/", "behind a carrier's translation"),
    ("http://169.254.169.254/latest/", "link-local, where metadata services are"),
    ("http://168.63.129.16/", "a metadata service"),
    ("http://192.0.0.192/", "reserved"),
    ("http://192.88.99.1/", "a 6to4 relay"),
    ("http://198.18.0.1/", "for benchmarks"),
    ("http://224.0.0.1/", "multicast"),
    ("http://255.255.255.255/", "reserved"),
    ("http://[::]/", "unspecified"),
    ("http://[::1]/", "loopback"),
    ("http://[0:0:0:0:0:0:0:1]/", "loopback"),
    ("http://[::127.0.0.1]/", "an IPv4 address in disguise"),
    ("http://[::ffff:127.0.0.1]/", "an IPv4 address in disguise"),
    ("http://[::ffff:a9fe:a9fe]/", "an IPv4 address in disguise"),
    ("http://[64:ff9b::a9fe:a9fe]/", "an IPv4 address behind NAT64"),
    ("http://[64:ff9b:1::7f00:1]/", "an IPv4 address behind NAT64"),
    ("http://[2002:7f00:1::]/", "a 6to4 tunnel"),
    ("http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/", "a Teredo tunnel"),
    ("http://[2001:db8::1]/", "for documentation"),
    ("http://[2606:4700::200:5efe:7f00:1]/", "an ISATAP tunnel"),
    ("http://[2606:4700::5efe:7f00:1]/", "an ISATAP tunnel"),
    ("http://[fc00::1]/", "private"),
    ("http://[fd00:ec2::254]/", "private"),
    ("http://[fe80::1]/", "link-local"),
    ("http://[fe80::1%25eth0]/", "bound to one network"),
    ("http://[fec0::1]/", "private"),
    ("http://[ff02::1]/", "multicast"),
    ("http://[4000::1]/", "reserved"),
]


@pytest.mark.parametrize(("url", "why"), CLOSED)
def test_an_address_that_is_not_public_is_closed(url: str, why: str) -> None:
    target = read_url(url)
    assert target.address is not None
    assert why_closed(target.address) == why


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.216.34", "172.32.0.1", "2606:4700::1111", "2001:4860::8888"]
)
def test_a_public_address_is_open(address: str) -> None:
    assert why_closed(address) is None


def test_what_is_no_address_is_closed() -> None:
    assert why_closed("example.com") == "no address"


@given(st.ip_addresses())
def test_no_address_is_open_that_python_calls_private(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    closed = why_closed(str(address)) is not None
    inside = address.is_private or address.is_loopback or address.is_multicast
    assert closed or not (inside or address.is_link_local or address.is_reserved)


@given(st.ip_addresses(v=4))
def test_no_wrapping_opens_an_ipv4_address(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    wrapped = [
        0xFFFF << 32 | number,
        number,
        0x0064_FF9B << 96 | number,
        0x2002 << 112 | number << 80,
        0x2001_0000 << 96 | number,
    ]
    assert all(why_closed(str(ipaddress.IPv6Address(value))) for value in wrapped)


def test_a_url_is_read_once_and_written_plainly() -> None:
    assert read_url("HTTP://Bücher.Example.:8080/ö?q=ü&a=[1]#part") == Target(
        scheme="http", host="xn--bcher-kva.example", port=8080, path="/%C3%B6?q=%C3%BC&a=%5B1%5D"
    )
    assert read_url("https://a.example:443").url == "https://a.example/"
    assert read_url("https://[2606:4700::1111]:8443/x").url == "https://[2606:4700::1111]:8443/x"


@given(st.text(max_size=60))
def test_any_text_is_a_target_or_refused(text: str) -> None:
    for url in (text, f"http://{text}", f"http://a.example/{text}", f"https://a.example:{text}"):
        try:
            target = read_url(url)
        except RefusedError:
            continue
        assert read_url(target.url) == target
        assert target.url.isascii()
        assert not any(character.isspace() for character in target.url)


def test_a_redirect_is_read_as_strictly_as_a_url() -> None:
    target = read_url("https://a.example/x/y?q")
    assert next_target(target, "../z").url == "https://a.example/z"
    assert next_target(target, " //b.example:81/z ").url == "https://b.example:81/z"
    for location in ("file:///etc/passwd", "http://0x7f.1/", "//ada@b.example", "//[::1", "a b"):
        with pytest.raises(RefusedError):
            next_target(target, location)


def test_one_site_is_one_host_with_or_without_www() -> None:
    one = read_url("http://a.example/")
    assert same_site(one, read_url("https://www.a.example:8443/x"))
    assert not same_site(one, read_url("http://b.a.example/"))
