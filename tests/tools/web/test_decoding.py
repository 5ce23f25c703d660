import gzip
import zlib
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.tools.web.addresses import RefusedError
from goldseam.tools.web.decoding import MAX_BYTES, Body


def bare_deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(content) + packer.flush()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "identity": bytes,
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "GZIP": gzip.compress,
    "deflate": zlib.compress,
}


@given(
    st.sampled_from(sorted(PACKERS)),
    st.one_of(st.binary(max_size=300), st.integers(0, 70_000).map(lambda n: b"abc" * n)),
    st.lists(st.integers(0, 400), max_size=5),
)
def test_any_cutting_gives_the_same_body(encoding: str, content: bytes, cuts: list[int]) -> None:
    packed = PACKERS[encoding](content)
    body = Body(encoding)
    places = sorted({0, len(packed), *(min(cut, len(packed)) for cut in cuts)})
    for start, end in pairwise(places):
        body.feed(packed[start:end])
    assert (body.content, body.full, body.is_whole) == (content, False, True)


def test_deflate_without_its_frame_is_understood() -> None:
    body = Body("deflate")
    body.feed(bare_deflate(b"some words, some words"))
    assert (body.content, body.is_whole) == (b"some words, some words", True)


def test_a_body_that_ends_too_soon_is_not_whole() -> None:
    body = Body("gzip")
    body.feed(gzip.compress(b"words" * 100)[:-4])
    assert not body.is_whole


def test_what_follows_the_end_is_nobodys() -> None:
    body = Body("gzip")
    body.feed(gzip.compress(b"words") + b"rubbish")
    body.feed(b"more")
    assert (body.content, body.is_whole) == (b"words", True)


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_a_long_body_is_cut_at_the_limit(encoding: str) -> None:
    exact, longer = Body(encoding, limit=100), Body(encoding, limit=99)
    for body in (exact, longer):
        body.feed(PACKERS[encoding](bytes(range(100))))
    assert (len(exact.content), exact.full) == (100, False)
    assert (len(longer.content), longer.full) == (99, True)


def test_a_bomb_is_given_up_while_it_is_small() -> None:
    # security 0.12: one read must not become a chunk of 67 MB
    bomb = gzip.compress(b"\0" * (64 * MAX_BYTES // 10))
    body = Body("gzip")
    with pytest.raises(RefusedError, match="swells"):
        body.feed(bomb)
    assert len(body.content) < len(bomb) * 100 + 2**17


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress"])
def test_an_encoding_that_was_not_asked_for_is_refused(encoding: str) -> None:
    with pytest.raises(RefusedError, match="not asked for"):
        Body(encoding)


@given(st.binary(min_size=1, max_size=200))
def test_rubbish_is_refused_or_too_short(rubbish: bytes) -> None:
    body = Body("gzip")
    try:
        body.feed(rubbish)
    except RefusedError:
        return
    assert len(body.content) <= 100 * len(rubbish) + 2**17
