"""Which proxy a host is reached through, by the usual variables. Pure.

`https_proxy` or `all_proxy` names it, `no_proxy` the hosts that need none; small letters go before
capitals. `http_proxy` plays no part: plain HTTP is spoken with this machine alone.
"""

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from goldseam.wire.message import TransportError, is_loopback

_DEFAULT_PORTS = {"http": 80, "https": 443}


def proxy_for(url: str, environ: Mapping[str, str]) -> str | None:
    """Return the URL of the proxy for `url`, which may hold a password; `None` for no proxy.

    Raises:
        TransportError: the variable names something that cannot be used.
    """
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or _DEFAULT_PORTS[parts.scheme]
    exempt = _value(environ, "no_proxy").split(",")
    if is_loopback(host) or any(_names(entry.strip(), host, port) for entry in exempt):
        return None
    for variable in ("https_proxy", "all_proxy"):
        proxy = _value(environ, variable)
        if proxy:
            return _checked(proxy, variable)
    return None


def _value(environ: Mapping[str, str], variable: str) -> str:
    return (environ.get(variable) or environ.get(variable.upper()) or "").strip()


def _checked(proxy: str, variable: str) -> str:
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    try:
        parts = urlsplit(proxy)
        usable = parts.scheme in _DEFAULT_PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        # Its value is not shown: a proxy's URL may hold a password.
        raise TransportError(
            "connect",
            f"{variable.upper()} must be http://HOST:PORT or https://HOST:PORT",
            sent=False,
        )
    return proxy


def _names(entry: str, host: str, port: int) -> bool:
    """Whether `entry` of `no_proxy` means `host`: `*`, a network, or a name and all below it."""
    if entry in {"", "*"}:
        return entry == "*"
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry, strict=False)
    except ValueError:
        pass  # `host` or `entry` is a name
    name, _, its_port = entry.lower().removeprefix("*").removeprefix(".").partition(":")
    if its_port and its_port != str(port):
        return False
    return host == name or host.endswith(f".{name}")
