"""Laws of the router over random faults, with several runs side by side on one board."""

from collections.abc import Iterator
from itertools import pairwise
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from models.router.routing import (
    DONE,
    NEED,
    Asked,
    Given,
    Heard,
    Place,
    failing,
    useless,
)
from msgspec import Struct
from msgspec.structs import replace

from goldseam.kernel.errors import FailureKind, ModelProviderError
from goldseam.models.router.health import TOLERANCE_S, host_of
from goldseam.models.router.patience import Patience
from goldseam.models.router.router import Router

NAMES = ("a:x", "a:y", "b:m", "json:c:m")
REPLIES = 3
KINDS: st.SearchStrategy[FailureKind] = st.sampled_from((
    "auth",
    "quota",
    "rate_limited",
    "rate_limited",
    "overloaded",
    "timeout",
    "transport",
    "server",
    "context_overflow",
    "refused",
    "structural",
    "cancelled",
))
FAULTS: st.SearchStrategy[Given] = st.builds(
    failing,
    KINDS,
    after_s=st.sampled_from((None, None, 0.0, 3.0, 40.0, 1e4, -1.0, float("inf"), float("nan"))),
    retryable=st.sampled_from((True, True, True, False)),
)
GIVEN: st.SearchStrategy[Given] = st.one_of(
    FAULTS, FAULTS, st.just(DONE), st.just(replace(DONE, stop="filter")), st.builds(useless)
)
PATIENCE = st.builds(
    Patience,
    switch_after_s=st.sampled_from((0.0, 5.0, 100.0)),
    call_wait_s=st.sampled_from((0.0, 10.0, 120.0)),
    run_wait_s=st.sampled_from((20.0, 600.0)),
    attempts=st.integers(1, 4),
    same_again=st.integers(0, 2),
)


class Played(Struct, frozen=True):
    place: Place
    chain: tuple[str, ...]
    heard: list[list[Heard]]
    """By run and reply."""


@st.composite
def plays(draw: st.DrawFn) -> Played:
    """Play one to four runs of a few replies each; all models of a run follow random scripts."""
    place = Place(patience=draw(PATIENCE), reply_s=draw(st.sampled_from((0.0, 0.5, 7.0))))
    chain = tuple(draw(st.permutations(NAMES)))[: draw(st.integers(1, 4))]
    dice = Random(draw(st.integers(0, 99))).random
    runs = [f"run {number}" for number in range(draw(st.integers(1, 4)))]
    scripts = st.lists(GIVEN, max_size=4)
    routers = [
        place.router(*(place.member(name, *draw(scripts), run=run) for name in chain), dice=dice)
        for run in runs
    ]
    heard: list[list[Heard]] = [[] for _ in runs]

    async def replies(router: Router, mine: list[Heard]) -> Heard:
        mine.extend([await place.reply(router) for _ in range(REPLIES)])
        return mine[-1]

    place.together([replies(*pair) for pair in zip(routers, heard, strict=True)])
    return Played(place, chain, heard)


def not_before(asked: Asked, patience: Patience) -> float:
    """Return until when nobody may ask again after this."""
    error = asked.gave
    if not isinstance(error, ModelProviderError):
        return 0.0
    named = error.retry_after_s or 0.0
    named = named if named > 0 else 0.0
    if error.kind == "auth":
        return float("inf")
    if error.kind == "quota":
        return asked.ended + (named or patience.probe_after_s)
    is_busy = error.kind in {"rate_limited", "overloaded"} and error.retryable
    return asked.ended + named if is_busy else 0.0


@settings(max_examples=150, deadline=None)
@given(plays())
def test_nobody_is_asked_before_its_time(played: Played) -> None:
    asked = played.place.asked
    for one in asked:
        until = not_before(one, played.place.patience)
        is_of_host = isinstance(one.gave, ModelProviderError) and one.gave.kind == "auth"
        for other in asked:
            same = (
                host_of(other.name) == host_of(one.name) if is_of_host else other.name == one.name
            )
            # What was under way at the same instant could not know.
            early = one.ended < other.began < until - 2 * TOLERANCE_S
            assert not (same and early), (one, other)


@settings(max_examples=150, deadline=None)
@given(plays())
def test_attempts_and_waits_are_bounded_and_every_end_says_all(played: Played) -> None:
    patience, chain = played.place.patience, played.chain
    most = patience.attempts * len(chain) * REPLIES * len(played.heard)
    assert len(played.place.asked) <= most
    for run in played.heard:
        assert sum(sum(heard.waits) for heard in run) <= patience.run_wait_s + 0.001
        for heard in run:
            assert sum(heard.waits) <= patience.call_wait_s + 0.001
            if isinstance(heard.gave, ModelProviderError):
                assert not heard.gave.retryable
                assert all(f"{name}: " in heard.gave.text for name in chain)
            assert all("; " in text for text in heard.texts[: len(heard.waits)])


@settings(max_examples=100, deadline=None)
@given(plays())
def test_one_run_at_a_time_tries_a_model_that_was_ill_twice(played: Played) -> None:
    trials = sorted(
        (one for one in played.place.asked if one.is_trial), key=lambda one: (one.name, one.began)
    )
    for one, other in pairwise(trials):
        assert one.name != other.name or one.ended <= other.began or one.run == other.run


@settings(max_examples=100, deadline=None)
@given(plays())
def test_a_fault_of_the_request_ends_its_reply_and_no_other_fault_is_kept_from_a_backup(
    played: Played,
) -> None:
    structural = [
        one
        for one in played.place.asked
        if isinstance(one.gave, ModelProviderError) and one.gave.kind == "structural"
    ]
    ends = [
        heard
        for run in played.heard
        for heard in run
        if isinstance(heard.gave, ModelProviderError)
        and heard.gave.text.startswith(("the request is at fault", *played.chain))
        and "the request is at fault" in heard.gave.text
    ]
    assert len(structural) == len(ends)


@settings(max_examples=100, deadline=None)
@given(plays())
def test_the_order_returns_once_all_are_well(played: Played) -> None:
    place = played.place
    place.now.s += 1e6
    ill_for_good = {
        name
        for name in played.chain
        if place.board.wait_s(name, place, place.now()) == float("inf")
    }
    well = [name for name in played.chain if name not in ill_for_good]
    router = place.router(*map(place.member, played.chain))
    if well:
        assert router.choose(NEED).candidate.name == well[0]
        assert place.ask(router).gave == DONE


def test_a_fleet_on_a_host_that_fails_often_ends_without_a_lost_run() -> None:
    """Two hundred runs, a tenth of all questions rate-limited, a twentieth a server's error."""
    place = Place(reply_s=1.0)
    luck = Random(7)

    faults: dict[int, FailureKind] = {0: "rate_limited", 1: "rate_limited", 2: "server"}

    def script() -> Iterator[Given]:
        for _ in range(60):
            kind = faults.get(luck.randrange(20))
            yield failing(kind) if kind else DONE

    routers = [place.router(place.member("a:m", *script()), dice=luck.random) for _ in range(200)]

    async def five(router: Router) -> Heard:
        for _ in range(4):
            assert (await place.reply(router)).gave == DONE
        return await place.reply(router)

    heard = place.together([five(router) for router in routers])
    assert [one.gave for one in heard] == [DONE] * 200
    assert len(place.chosen) < 1.5 * len(place.asked)
