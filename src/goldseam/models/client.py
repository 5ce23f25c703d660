"""A `ModelAdapter` out of one dialect, one host and one transport.

The only place where a conversation meets the network. Every way in which an exchange may fail
leaves here as a typed error with one readable line that holds no key.
"""

from typing import TYPE_CHECKING, assert_never

from msgspec import Struct
from msgspec.structs import replace

from goldseam.kernel.errors import (
    FailureKind,
    InvalidModelOutputError,
    ModelProviderError,
    NoConsumption,
    UnknownConsumption,
)
from goldseam.kernel.ports import Listener, ModelAdapter
from goldseam.kernel.request import ModelRequest, ModelResponse, Remark
from goldseam.models.dialect import Dialect, FailedReply, Profile
from goldseam.models.hearing import Hearing
from goldseam.models.leaked_calls import lift_leaked_calls
from goldseam.wire.message import (
    HeaderValue,
    HttpReply,
    HttpRequest,
    TimeLimits,
    TransportError,
)
from goldseam.wire.secret import Secret
from goldseam.wire.transport import Transport

_MARK = "[secret]"
_SUCCESS = 2


class Endpoint(Struct, frozen=True, kw_only=True):
    """Where a host is, and what each request carries: its key is a `Secret` among the headers."""

    url: str
    headers: tuple[tuple[str, HeaderValue], ...] = ()


class DialectClient:
    """Asks the model that `profile` describes; `times` are those of one exchange."""

    def __init__(
        self,
        dialect: Dialect,
        profile: Profile,
        *,
        endpoint: Endpoint,
        transport: Transport,
        times: TimeLimits,
    ) -> None:
        """Join them.

        Raises:
            RequestRefusedError: nothing may be sent to such a URL, or with such a key.
        """
        self._dialect = dialect
        self._writer = dialect.writer(profile)
        self._profile = profile
        self._transport = transport
        self._times = times
        self._asked = HttpRequest(
            method="POST",
            url=endpoint.url + dialect.path(profile),
            headers=(("content-type", "application/json"), *endpoint.headers),
        )
        self._keys = _spellings(self._asked.secrets)
        self._told: set[Remark] = set()

    async def complete(self, request: ModelRequest, listener: Listener) -> ModelResponse:
        """Return one whole reply; what writing the request lost is told with it, each loss once.

        Raises:
            ModelProviderError: no reply came, or the host refused.
            InvalidModelOutputError: a reply came that breaks the protocol.
        """
        written = self._writer.write(request)
        try:
            reply = await self._exchange(written.encoded, listener)
        except ModelProviderError as error:
            error.text = self._without_key(error.text)
            error.args = (error.text,)
            raise
        except InvalidModelOutputError as error:
            error.why, error.excerpt = map(self._without_key, (error.why, error.excerpt))
            error.args = (error.why,)
            raise
        reply = lift_leaked_calls(reply, request.tools)
        new = tuple(dict.fromkeys(loss for loss in written.losses if loss not in self._told))
        self._told.update(new)
        return replace(reply, remarks=(*new, *reply.remarks))

    async def _exchange(self, body: bytes, listener: Listener) -> ModelResponse:
        hearing = Hearing(self._dialect.reader(self._profile), listener)
        try:
            reply = await self._transport.send(
                replace(self._asked, body=body), limits=self._times, heard=hearing.hear
            )
            if reply.status // 100 != _SUCCESS:
                raise self._refusal(reply, reply.body)
            hearing.close()
        except TransportError as error:
            raise _failure(error, self._profile.host) from error
        if hearing.no_reply:
            raise self._refusal(reply, hearing.no_reply)
        return hearing.reply()

    def _refusal(self, reply: HttpReply, body: bytes) -> ModelProviderError:
        for key in self._keys:
            # Before the dialect shortens it: half a key would not be found afterwards.
            body = body.replace(key.encode(), _MARK.encode())
        failed = FailedReply(status=reply.status, headers=reply.headers, body=body)
        return self._dialect.explain_failure(failed, self._profile)

    def _without_key(self, text: str) -> str:
        for key in self._keys:
            text = text.replace(key, _MARK)
        return text


def _spellings(secrets: tuple[Secret, ...]) -> tuple[str, ...]:
    """Return every form of the keys, the longest first, so that none leaves a rest of another."""
    forms = {form for secret in secrets for form in secret.spellings()}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _failure(error: TransportError, host: str) -> ModelProviderError:
    return ModelProviderError(
        f"{host}: {error.text}",
        kind=_kind_of(error),
        # Trust does not come by asking again, and neither does a smaller reply.
        retryable=error.kind not in {"tls", "too_large"},
        consumption=UnknownConsumption() if error.sent else NoConsumption(),
    )


def _kind_of(error: TransportError) -> FailureKind:
    match error.kind:
        case "first_byte" | "idle" | "total":
            return "timeout"
        case "connect" | "tls" | "broken" | "too_large":
            return "transport"
        case _:
            assert_never(error.kind)


if TYPE_CHECKING:
    _fits: type[ModelAdapter] = DialectClient
