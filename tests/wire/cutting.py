"""Streams cut in pieces: every way to cut is one that a network may take."""

from collections.abc import Callable, Iterator
from time import process_time

from hypothesis import strategies as st


@st.composite
def cuttings(draw: st.DrawFn, whole: bytes) -> list[bytes]:
    """Return `whole` in pieces, some of them empty."""
    places = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=12)))
    return [whole[start:end] for start, end in zip([0, *places], [*places, None], strict=True)]


def in_pieces(whole: bytes, *, of: int) -> Iterator[bytes]:
    return (whole[start : start + of] for start in range(0, len(whole), of))


def growth(read: Callable[[bytes], object], small: bytes, large: bytes) -> float:
    """Return how many times longer `read` works on `large` than on `small`, the least of two."""
    return min(_seconds(read, large) for _ in range(2)) / min(
        _seconds(read, small) for _ in range(2)
    )


def _seconds(read: Callable[[bytes], object], text: bytes) -> float:
    started = process_time()
    read(text)
    return process_time() - started
