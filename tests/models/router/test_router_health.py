"""The board: hosts and models, times, trials, and what many runs learn from one another."""

import math
from collections.abc import Callable

import pytest
from models.router.routing import DONE, NEED, REQUEST, Place, failing

from goldseam.models.router.health import (
    LEASE_S,
    TRIAL_S,
    Broken,
    Cooling,
    HealthBoard,
    Healthy,
    host_of,
)
from goldseam.models.router.patience import Patience, named_wait_s


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("openai:gpt", "openai"),
        ("json:openai:gpt:x/y", "openai"),
        ("json:openai", "openai"),
        ("json", "json"),
        ("scripted", "scripted"),
        ("ollama:llama3:8b", "ollama"),
    ],
)
def test_the_host_stands_in_front_of_a_name(name: str, host: str) -> None:
    assert host_of(name) == host


def test_a_bad_key_of_a_host_does_not_touch_a_candidate_that_is_named_as_it() -> None:
    board = HealthBoard()
    board.break_off("a:m", Broken(kind="quota", why="its quota is used up"))
    assert board.wait_s("a:m", board, 0.0) == math.inf
    assert board.wait_s("a", board, 0.0) == 0


def cooling(until: float, *, strikes: int = 1, since: float = 0.0, named: bool = False) -> Cooling:
    return Cooling(kind="overloaded", since=since, until=until, strikes=strikes, is_named=named)


def test_a_longer_time_that_stands_already_holds() -> None:
    board = HealthBoard()
    board.cool("a:m", cooling(9.0))
    board.cool("a:m", cooling(5.0, strikes=2, since=1.0, named=True))
    assert board.standing("a:m") == cooling(9.0, strikes=2, since=1.0, named=True)
    board.break_off("a:m", Broken(kind="quota", why="its quota is used up", until=20.0))
    board.cool("a:m", cooling(6.0))
    assert isinstance(board.standing("a:m"), Broken)


def test_one_failure_among_answers_binds_nobody_else_unless_the_host_named_a_time() -> None:
    board, other = HealthBoard(), object()
    board.cool("a:m", cooling(9.0))
    assert board.wait_s("a:m", other, 1.0) == 0
    board.answered("a:m", other, 2.0)
    assert board.standing("a:m") == Healthy()
    board.cool("a:m", cooling(9.0, named=True))
    assert board.wait_s("a:m", other, 1.0) == 8
    assert board.wait_s("a:m", other, 9.0) == 0


def test_after_a_second_failure_in_a_row_one_run_alone_makes_a_trial() -> None:
    board, one, other = HealthBoard(), object(), object()
    board.cool("a:m", cooling(1.0))
    assert board.strikes("a:m", one, 1.0) == 2
    board.cool("a:m", cooling(3.0, strikes=2))
    board.begin("a:m", one)
    assert (board.wait_s("a:m", one, 3.0), board.wait_s("a:m", other, 3.0)) == (0, TRIAL_S)
    assert board.strikes("a:m", one, -1.0) == 3
    board.answered("a:m", one, 3.5)
    board.let_go(one)
    assert board.standing("a:m") == Healthy()


def test_questions_under_way_at_a_failure_do_not_add_up() -> None:
    board, one = HealthBoard(), object()
    assert board.strikes("a:m", one, 0.0) == 1
    board.cool("a:m", cooling(2.0, since=1.0))
    assert board.strikes("a:m", one, 0.5) == 1
    board.break_off("a:m", Broken(kind="quota", why="its quota is used up", until=2.0))
    assert board.strikes("a:m", one, 3.0) == 1


def test_a_reply_that_was_asked_for_before_shortens_no_named_time_but_lets_all_in_after_it() -> (
    None
):
    board, one = HealthBoard(), object()
    board.cool("a:m", cooling(9.0, strikes=3, named=True))
    board.answered("a:m", one, 1.0)
    assert board.standing("a:m") == cooling(9.0, named=True)
    board.answered("a:m", one, 9.0)
    assert board.standing("a:m") == Healthy()


def test_an_announced_trial_that_never_begins_is_somebody_elses_after_a_while() -> None:
    board, one, other = HealthBoard(), object(), object()
    board.break_off("a:m", Broken(kind="quota", why="its quota is used up", until=5.0))
    board.announce("a:m", one, 5.0)
    assert board.wait_s("a:m", other, 5.0) == TRIAL_S
    assert board.wait_s("a:m", other, 5.0 + LEASE_S) == 0


def test_one_run_tries_a_model_while_the_others_go_on_with_the_backup() -> None:
    place = Place()
    place.board.break_off("a:m", Broken(kind="quota", why="its quota is used up", until=5.0))
    place.now.s = 6.0
    routers = [place.router(place.member("a:m"), place.member("b:m")) for _ in range(3)]
    heard = place.together([place.reply(router) for router in routers])
    assert [one.gave for one in heard] == [DONE] * 3
    assert sorted(place.names()) == ["a:m", "b:m", "b:m"]
    place.together([place.reply(router) for router in routers])
    assert sorted(place.names()[3:]) == ["a:m"] * 3


def test_runs_without_a_backup_wait_for_the_one_that_tries() -> None:
    place = Place(reply_s=4.0)
    place.board.break_off("a:m", Broken(kind="quota", why="its quota is used up", until=5.0))
    place.now.s = 6.0
    routers = [place.router(place.member("a:m")) for _ in range(3)]
    heard = place.together([place.reply(router) for router in routers])
    assert [one.waits for one in heard] == [(), (1.0, 2.0, 4.0), (1.0, 2.0, 4.0)]
    assert all(one.began >= 10 for one in place.asked[1:])


def test_a_cancelled_question_marks_nobody_and_lets_go_of_its_trial() -> None:
    place = Place()
    place.board.break_off("a:m", Broken(kind="quota", why="its quota is used up", until=5.0))
    place.now.s = 6.0
    router, other = (place.router(place.member("a:m"), place.member("b:m")) for _ in range(2))
    router.choose(NEED)
    asking = router.complete(REQUEST, place.heard.append)
    asking.send(None)
    assert other.choose(NEED).candidate.name == "b:m"
    asking.close()
    assert place.board.standing("a:m") == Broken(
        kind="quota", why="its quota is used up", until=5.0
    )
    assert other.choose(NEED).candidate.name == "a:m"


def test_a_choice_that_was_dropped_for_another_lets_go_of_its_trial() -> None:
    place = Place()
    place.board.break_off("b:m", Broken(kind="quota", why="its quota is used up", until=0.0))
    place.board.cool("a:m", cooling(5.0, named=True))
    place.now.s = 1.0
    router = place.router(place.member("a:m"), place.member("b:m"))
    assert router.choose(NEED).candidate.name == "b:m"
    place.now.s = 5.0
    assert router.choose(NEED).candidate.name == "a:m"
    assert place.board.wait_s("b:m", place, 5.0) == 0


def test_the_first_of_the_chain_is_asked_again_once_it_is_well() -> None:
    place = Place()
    router = place.router(
        place.member("a:m", failing("rate_limited", after_s=30)), place.member("b:m")
    )
    for now in (0.0, 10.0, 31.0, 40.0):
        place.now.s = now
        place.ask(router)
    assert place.names() == ["a:m", "b:m", "b:m", "a:m", "a:m"]


@pytest.mark.parametrize(
    ("named", "waits"),
    [(None, 0.0), (math.nan, 0.0), (-1.0, 0.0), (3.0, 3.0), (math.inf, math.inf)],
)
def test_a_named_wait_that_cannot_be_meant_is_none(named: float | None, waits: float) -> None:
    assert named_wait_s(named) == waits


@pytest.mark.parametrize(
    "refused",
    [
        lambda: Patience(base_s=0.0),
        lambda: Patience(attempts=0),
        lambda: Patience(call_wait_s=math.inf),
        lambda: Patience(same_again=-1),
    ],
)
def test_a_patience_without_end_or_without_any_wait_is_refused(
    refused: Callable[[], Patience],
) -> None:
    with pytest.raises(ValueError, match="must be a number"):
        refused()


def test_backoff_doubles_up_to_its_longest_and_the_dice_take_up_to_half() -> None:
    patience = Patience(base_s=1, longest_s=10)
    assert [patience.backoff_s(number, 1.0) for number in (1, 2, 3, 4, 5, 9999)] == [
        1, 2, 4, 8, 10, 10,
    ]  # fmt: skip
    assert patience.backoff_s(3, 0.0) == 2
