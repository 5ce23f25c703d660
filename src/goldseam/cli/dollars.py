"""Money as a person says it: dollars, and dollars a million tokens. Pure."""

from decimal import Decimal, InvalidOperation

from goldseam.kernel.budget import Price
from goldseam.kernel.errors import UsageError

_PICODOLLARS = 10**12
_A_MILLION = 10**6
_MOST = Decimal(10**6)


def picodollars(dollars: float, option: str) -> int:
    """Return an amount in whole picodollars.

    Raises:
        UsageError: it is no amount above zero.
    """
    if not 0 < dollars <= _MOST:
        raise UsageError(f"{option} must be dollars above zero, not {dollars:g}")
    return int(Decimal(str(dollars)) * _PICODOLLARS)


def price_of(text: str) -> Price:
    """Return the price that `IN/OUT` names, in dollars a million tokens; caching changes nothing.

    Raises:
        UsageError: it is no such price.
    """
    fresh, slash, output = text.partition("/")
    if not slash:
        raise _no_price(text)
    fresh_price = _picodollars_a_token(fresh, text)
    return Price(
        input=fresh_price,
        output=_picodollars_a_token(output, text),
        cache_read=fresh_price,
        cache_write=fresh_price,
    )


def _picodollars_a_token(text: str, whole: str) -> int:
    try:
        dollars = Decimal(text.strip())
    except InvalidOperation as error:
        raise _no_price(whole) from error
    if not (dollars.is_finite() and 0 <= dollars <= _MOST):
        raise _no_price(whole)
    return int(dollars * _PICODOLLARS / _A_MILLION)


def _no_price(text: str) -> UsageError:
    return UsageError(
        f"--price {text!r} is no price: write IN/OUT in dollars a million tokens, such as 3/15"
    )
