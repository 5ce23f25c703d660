"""What `--model` may say, and what each mistake in it is answered with."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.kernel.errors import UsageError
from goldseam.models.router.spec import Entry, parse_chain

CHAINS = {
    "fast": ("a:x", "b:y/z:8b"),
    "empty": (),
    "nested": ("fast",),
    "cheap": ("m?until=unverified",),
}
NAMES = st.from_regex(r"[a-z][a-z0-9.:/@-]{0,12}", fullmatch=True)


@given(st.lists(NAMES, min_size=1, max_size=5, unique=True), st.lists(st.booleans(), min_size=5))
def test_names_keep_their_order_and_every_sign_in_them(
    names: list[str], trials: list[bool]
) -> None:
    marked = [trial and name is not names[-1] for name, trial in zip(names, trials, strict=False)]
    said = ",".join(
        f" {name}{'?until=unverified' if mark else ''}"
        for name, mark in zip(names, marked, strict=True)
    )
    assert parse_chain(said, {}) == tuple(
        Entry(name=name, until_unverified=mark) for name, mark in zip(names, marked, strict=True)
    )


def test_a_named_chain_is_spelled_out_in_its_place() -> None:
    assert [entry.name for entry in parse_chain("c,fast,d", CHAINS)] == [
        "c",
        "a:x",
        "b:y/z:8b",
        "d",
    ]
    assert parse_chain("cheap,c", CHAINS)[0] == Entry(name="m", until_unverified=True)


@pytest.mark.parametrize(
    ("said", "answered"),
    [
        ("", "names no model"),
        ("a,,b", "names no model"),
        ("?until=unverified,b", "names no model"),
        ("a?until=monday,b", "until=monday is no option; the one is \\?until=unverified"),
        ("a?,b", "nothing is no option"),
        ("a,b,a", "names a twice"),
        ("a:x,fast", "names a:x twice"),
        ("a?until=unverified", "nobody comes after it"),
        ("fast?until=unverified,b", "fast is a chain; write \\?until=unverified at the models"),
        ("empty", "the chain empty is empty"),
        ("nested", "the chain nested names the chain fast"),
    ],
)
def test_a_mistake_is_said_with_what_to_write(said: str, answered: str) -> None:
    with pytest.raises(UsageError, match=answered):
        parse_chain(said, CHAINS)
