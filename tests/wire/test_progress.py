"""What an error of the connection means, told in our own words."""

import socket
import ssl

import pytest

from goldseam.wire.message import TimeLimits
from goldseam.wire.progress import Progress

pytestmark = pytest.mark.anyio

SECONDS = TimeLimits(connect_s=1, first_byte_s=2, idle_s=3, total_s=4)


def caused_by(error: BaseException) -> Exception:
    """Return an error whose cause was cleared and whose context was not, as a pool raises it."""
    outer = RuntimeError("Authorization: Bearer sk-1")
    outer.__context__ = error
    return outer


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (caused_by(socket.gaierror(-2, "sk-1")), "its name is not known"),
        (caused_by(ConnectionRefusedError("sk-1")), "it was refused"),
        (
            caused_by(ExceptionGroup("sk-1", [ConnectionRefusedError(), OSError()])),
            "it was refused",
        ),
        (caused_by(ssl.SSLError("sk-1")), "it does not speak TLS"),
        (caused_by(OSError("sk-1")), "it was closed"),
        (RuntimeError("sk-1"), "it was closed"),
    ],
)
async def test_the_root_of_an_error_is_told_and_its_own_words_are_not(
    error: Exception, reason: str
) -> None:
    failure = Progress("api.example", SECONDS).broken(error)
    assert (failure.kind, failure.sent) == ("connect", False)
    assert failure.text == f"no connection to api.example: {reason}"
