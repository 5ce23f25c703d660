"""Read a URL that somebody else wrote, and say which addresses may be connected to. Pure.

Nothing is looked up here. A name is judged by what it resolves to; a number is taken in its one
plain spelling only, for the odd ones (`0x7f.1`, `2130706433`) are read differently by different
programs. Who connects uses the parts that were judged, never the text they were read from.
"""

import ipaddress
import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Literal, TypeAlias
from urllib.parse import quote, urljoin, urlsplit

from msgspec import Struct

Scheme: TypeAlias = Literal["http", "https"]

MAX_URL = 4_000
"""Characters of a URL."""

_SCHEMES: dict[str, Scheme] = {"http": "http", "https": "https"}
_DEFAULT_PORTS: dict[Scheme, int] = {"http": 80, "https": 443}
_HOST = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")
_UNUSABLE = re.compile(r"[\x00-\x20\x7f\\]")
_KEPT_IN_PATH = "/%:@!$&'()*+,;=~-._"
_MAX_HOST = 253

_CLOSED_V4 = {
    IPv4Network(network): what
    for network, what in {
        "0.0.0.0/8": "unspecified",
        "10.0.0.0/8": "private",
        "100.64.0.0/10": "behind a carrier's translation",
        "127.0.0.0/8": "loopback",
        "168.63.129.16/32": "a metadata service",
        "169.254.0.0/16": "link-local, where metadata services are",
        "172.16.0.0/12": "private",
        "192.0.0.0/24": "reserved",
        "192.0.2.0/24": "for documentation",
        "192.88.99.0/24": "a 6to4 relay",
        "192.168.0.0/16": "private",
        "198.18.0.0/15": "for benchmarks",
        "198.51.100.0/24": "for documentation",
        "203.0.113.0/24": "for documentation",
        "224.0.0.0/4": "multicast",
        "240.0.0.0/4": "reserved",
    }.items()
}
_OPEN_V6 = IPv6Network("2000::/3")
_CLOSED_V6 = {
    IPv6Network(network): what
    for network, what in {
        "2001::/32": "a Teredo tunnel",
        "2001::/23": "reserved",
        "2001:db8::/32": "for documentation",
        "2002::/16": "a 6to4 tunnel",
        "2620:4f:8000::/48": "reserved",
        "3fff::/20": "for documentation",
    }.items()
}
# Outside of 2000::/3 all is closed; these have a name of their own.
_NAMED_V6 = {
    IPv6Network(network): what
    for network, what in {
        "::/128": "unspecified",
        "::1/128": "loopback",
        "::ffff:0:0/96": "an IPv4 address in disguise",
        "::/96": "an IPv4 address in disguise",
        "64:ff9b::/96": "an IPv4 address behind NAT64",
        "64:ff9b:1::/48": "an IPv4 address behind NAT64",
        "fc00::/7": "private",
        "fe80::/10": "link-local",
        "fec0::/10": "private",
        "ff00::/8": "multicast",
    }.items()
}
_ISATAP = 0x0000_5EFE
_ISATAP_GLOBAL_BIT = 0x0200_0000


class RefusedError(Exception):
    """A URL or an address that is not connected to; one sentence that says why."""


class Target(Struct, frozen=True, kw_only=True):
    """Where a request goes: what is connected to and what is asked for, read once."""

    scheme: Scheme
    host: str
    """A name in ASCII or an address, in small letters, without brackets."""
    port: int
    path: str
    """Path and query, as they are sent."""

    @property
    def authority(self) -> str:
        """Host and port as the `Host` field has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The URL in its plain form."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def address(self) -> str | None:
        """The address where `host` is one, else `None`."""
        try:
            return str(ipaddress.ip_address(self.host))
        except ValueError:
            return None


def read_url(url: str) -> Target:
    """Return what `url` asks for.

    Raises:
        RefusedError: it is not http or https, holds a name or password, or cannot be read for
            certain. What its host may resolve to is not judged here.
    """
    if not url or len(url) > MAX_URL or _UNUSABLE.search(url):
        raise RefusedError(
            f"a URL has 1 to {MAX_URL} characters and no space, backslash or control character"
        )
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname or ""
    except ValueError as error:
        raise RefusedError(f"the URL cannot be read: {error}") from error
    scheme = _SCHEMES.get(parts.scheme)
    if scheme is None:
        raise RefusedError("only http:// and https:// URLs are fetched")
    if "@" in parts.netloc:
        raise RefusedError("a URL with a name or password in it is not fetched; leave them out")
    if port == 0:
        raise RefusedError("port 0 is no port")
    query = f"?{quote(parts.query, safe=_KEPT_IN_PATH + '?')}" if parts.query else ""
    return Target(
        scheme=scheme,
        host=_plain_host(host),
        port=port or _DEFAULT_PORTS[scheme],
        path=quote(parts.path or "/", safe=_KEPT_IN_PATH) + query,
    )


def next_target(target: Target, location: str) -> Target:
    """Return where a redirect of `target` to `location` leads. Raises as `read_url`."""
    try:
        return read_url(urljoin(target.url, location.strip()))
    except ValueError as error:
        raise RefusedError(f"the redirect's URL cannot be read: {error}") from error


def same_site(one: Target, other: Target) -> bool:
    """Whether both are one host, with or without `www.`: who allowed one allowed the other."""
    return one.host.removeprefix("www.") == other.host.removeprefix("www.")


def why_closed(address: str) -> str | None:
    """Return why `address` is not connected to; `None` for one of the public internet."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "no address"
    if isinstance(parsed, IPv4Address):
        return _first_of(_CLOSED_V4, parsed)
    if parsed.scope_id is not None:
        return "bound to one network"
    if parsed not in _OPEN_V6:
        return _first_of(_NAMED_V6, parsed) or "reserved"
    if (int(parsed) >> 32) & 0xFFFF_FFFF & ~_ISATAP_GLOBAL_BIT == _ISATAP:
        return "an ISATAP tunnel"
    return _first_of(_CLOSED_V6, parsed)


def _first_of(
    networks: dict[IPv4Network, str] | dict[IPv6Network, str], address: IPv4Address | IPv6Address
) -> str | None:
    return next((what for network, what in networks.items() if address in network), None)


def _plain_host(host: str) -> str:
    if ":" in host:
        return _plain_v6(host)
    try:
        # Full-width and circled digits, and other full stops, become plain ones here.
        plain = host.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError as error:
        raise RefusedError("the URL's host is no valid name") from error
    if len(plain) > _MAX_HOST or not _HOST.fullmatch(plain):
        raise RefusedError("the URL's host is no valid name")
    if _NUMBER.fullmatch(plain.rpartition(".")[2]):
        return _plain_v4(plain)
    return plain


def _plain_v4(host: str) -> str:
    try:
        return str(IPv4Address(host))
    except ValueError as error:
        raise RefusedError(
            "an address is written as four decimal numbers, such as 93.184.216.34"
        ) from error


def _plain_v6(host: str) -> str:
    try:
        return str(IPv6Address(host))
    except ValueError as error:
        raise RefusedError("the URL's host is no valid IPv6 address") from error
