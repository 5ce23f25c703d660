"""Each kind of failure: who is asked next, when, and what the person is told."""

import pytest
from kernel.fakes import answer
from models.router.routing import DONE, NEED, REQUEST, Place, failing, useless
from msgspec.structs import replace

from goldseam.kernel.errors import (
    ActualConsumption,
    FailureKind,
    ModelProviderError,
    NoConsumption,
)
from goldseam.kernel.request import TokenUsage
from goldseam.models.router.health import Broken, Cooling, Healthy
from goldseam.models.router.patience import Patience


def error_of(gave: object) -> ModelProviderError:
    assert isinstance(gave, ModelProviderError)
    return gave


def test_a_chain_of_one_that_is_well_is_asked_once_and_says_nothing_of_itself() -> None:
    place = Place()
    heard = place.ask(place.router(place.member("a:m")))
    assert (heard.gave, heard.waits, heard.texts) == (DONE, (), ())
    assert place.names() == ["a:m"]


@pytest.mark.parametrize("kind", ["auth", "quota", "refused", "context_overflow"])
def test_what_waiting_does_not_mend_goes_to_the_next_candidate_at_once(kind: FailureKind) -> None:
    place = Place()
    heard = place.ask(
        place.router(place.member("a:m", failing(kind), window=10_000), place.member("b:m"))
    )
    assert (heard.gave, heard.waits) == (DONE, (0.0,))
    assert heard.texts == ("a:m: the host is ill (wait); going on with b:m",)
    assert place.names() == ["a:m", "b:m"]


def test_a_named_wait_above_the_limit_goes_to_the_next_candidate_now() -> None:
    place = Place()  # 143
    router = place.router(
        place.member("a:m", failing("rate_limited", after_s=600)), place.member("b:m")
    )
    assert place.ask(router).waits == (0.0,)
    assert place.board.standing("a:m") == Cooling(
        kind="rate_limited", since=0.5, until=600.5, is_named=True
    )


@pytest.mark.parametrize("kind", ["rate_limited", "overloaded"])  # 145, 146
def test_a_short_wait_is_kept_and_a_long_one_is_not(kind: FailureKind) -> None:
    place = Place(patience=Patience(switch_after_s=5))
    busy = [failing(kind)] * 9
    heard = place.ask(place.router(place.member("a:m", *busy), place.member("b:m")))
    assert heard.waits == (1.0, 2.0, 0.0)
    assert heard.texts[1:] == (
        "a:m: the host is ill (wait); asking again in 2 s",
        "a:m: the host is ill (wait); going on with b:m",
    )


def test_the_seconds_after_which_the_other_vendor_is_used_are_a_setting() -> None:
    place = Place(patience=Patience(switch_after_s=0))
    heard = place.ask(
        place.router(place.member("a:m", failing("rate_limited")), place.member("b:m"))
    )
    assert heard.waits == (0.0,)


@pytest.mark.parametrize("kind", ["timeout", "transport", "server"])  # 137, 140, 142
def test_a_hiccup_is_asked_again_once_and_then_the_next_candidate(kind: FailureKind) -> None:
    place = Place()
    heard = place.ask(
        place.router(place.member("a:m", failing(kind), failing(kind)), place.member("b:m"))
    )
    assert heard.waits == (1.0, 0.0)
    assert place.names() == ["a:m", "a:m", "b:m"]
    assert place.board.standing("a:m") == Cooling(kind=kind, since=2.0, until=3.0)


def test_a_hiccup_is_asked_again_as_often_as_the_settings_say() -> None:
    place = Place(patience=Patience(same_again=0))
    place.ask(place.router(place.member("a:m", failing("server")), place.member("b:m")))
    assert place.names() == ["a:m", "b:m"]


def test_a_hiccup_with_a_long_named_wait_goes_on_with_the_next() -> None:
    place = Place()
    heard = place.ask(
        place.router(place.member("a:m", failing("server", after_s=60)), place.member("b:m"))
    )
    assert heard.waits == (0.0,)


def test_an_adapter_that_says_never_again_is_not_asked_again_in_this_run() -> None:
    place = Place()
    router = place.router(
        place.member("a:m", failing("transport", retryable=False)), place.member("b:m")
    )
    place.ask(router)
    place.ask(router)
    assert place.names() == ["a:m", "b:m", "b:m"]
    assert place.board.standing("a:m") == Healthy()


def test_one_host_waits_for_itself_where_nobody_else_is_there() -> None:
    place = Place()
    heard = place.ask(place.router(place.member("a:m", *[failing("overloaded")] * 5)))
    assert heard.waits == (1.0, 2.0, 4.0, 8.0, 16.0)
    assert heard.gave == DONE


def test_where_all_are_busy_the_one_that_is_ready_first_is_asked() -> None:
    place = Place()
    heard = place.ask(
        place.router(
            place.member("a:m", failing("rate_limited", after_s=60)),
            place.member("b:m", failing("rate_limited", after_s=20)),
        )
    )
    assert heard.waits == (0.0, 20.0)
    assert place.names() == ["a:m", "b:m", "b:m"]


def test_a_busy_backup_hands_back_to_the_first_that_is_ready() -> None:
    place = Place()
    heard = place.ask(
        place.router(
            place.member("a:m", failing("rate_limited", after_s=20)),
            place.member("b:m", failing("rate_limited", after_s=60)),
        )
    )
    assert heard.texts[1] == "b:m: the host is ill (wait); asking a:m in 20 s"
    assert place.names() == ["a:m", "b:m", "a:m"]


def test_a_refusal_is_for_this_reply_alone_and_marks_nobody_ill() -> None:
    place = Place()
    router = place.router(place.member("a:m", failing("refused")), place.member("b:m"))
    place.ask(router)
    place.ask(router)
    assert place.names() == ["a:m", "b:m", "a:m"]


def test_a_reply_that_the_filter_cut_is_a_refusal_that_cost_what_it_cost() -> None:
    place = Place()  # 119
    usage = TokenUsage(input=7, output=1)
    cut = replace(answer("so", usage), stop="filter")
    error = error_of(place.ask(place.router(place.member("a:m", cut))).gave)
    assert (error.kind, error.retryable) == ("refused", False)
    assert error.consumption == ActualConsumption(usage=usage)
    assert error.text == (
        "a:m: its filter withheld the reply (choose another model); it refused; "
        "no model is left that can be asked"
    )


def test_an_overflow_goes_to_a_larger_window_and_past_those_that_are_no_larger() -> None:
    place = Place()
    router = place.router(
        place.member("a:m", failing("context_overflow"), window=20_000),
        place.member("b:m", window=20_000),
        place.member("c:m", window=100_000),
    )
    place.ask(router)
    place.ask(router, replace(NEED, context_tokens=20))
    assert place.names() == ["a:m", "c:m", "c:m"]
    place.ask(router, replace(NEED, context_tokens=9))
    assert place.names()[-1] == "a:m"


def test_an_overflow_of_the_largest_ends_the_run_with_advice() -> None:
    place = Place()
    error = error_of(
        place.ask(
            place.router(place.member("a:m", failing("context_overflow", text="too long")))
        ).gave
    )
    assert not error.retryable
    assert error.text == (
        "a:m: too long (choose a model with a larger window, or give a smaller task); "
        "the conversation is too long for it; no model is left that can be asked"
    )


def test_a_fault_of_the_request_is_never_walked_down_the_chain() -> None:
    place = Place()
    fault = failing("structural", text="b answered 400: messages.[3].content is null")
    error = error_of(place.ask(place.router(place.member("a:m", fault), place.member("b:m"))).gave)
    assert place.names() == ["a:m"]
    assert (error.retryable, error.kind) == (False, "structural")
    assert error.text.splitlines() == [
        "the request is at fault, so no other model is asked",
        f"a:m: {fault.text} (a defect of Goldseam's request, not of the model: please report it)",
        "b:m: not asked",
    ]


class Refitting:
    """An adapter that has another way of writing a request, if `can`."""

    def __init__(self, place: Place, *, can: bool, script: tuple[ModelProviderError, ...]) -> None:
        self.complete = place.member("a:m", *script).adapter.complete
        self.refits = 0
        self._can = can

    def refit(self, error: ModelProviderError) -> bool:
        assert error.kind == "structural"
        self.refits += 1
        return self._can


@pytest.mark.parametrize(("can", "faults", "asked"), [(True, 1, 2), (True, 2, 2), (False, 1, 1)])
def test_a_fault_of_the_request_is_mended_once_where_the_adapter_can(
    can: bool, faults: int, asked: int
) -> None:
    place = Place()
    adapter = Refitting(place, can=can, script=(failing("structural"),) * faults)
    heard = place.ask(place.router(replace(place.member("a:m"), adapter=adapter)))
    assert adapter.refits == 1
    assert place.names() == ["a:m"] * asked
    assert (heard.gave == DONE) == (can and faults == 1)


def test_a_bad_key_breaks_all_models_of_its_host_until_a_restart() -> None:
    place = Place()
    members = [place.member("a:x", failing("auth")), place.member("a:y"), place.member("b:m")]
    place.ask(place.router(*members))
    place.now.s += 1e9
    other = place.router(place.member("json:a:z"), place.member("b:m"))
    place.ask(other)
    assert place.names() == ["a:x", "b:m", "b:m"]
    assert place.board.standing("a:y") == Broken(kind="auth", why="its key was refused")


def test_a_used_up_quota_breaks_one_model_until_its_time() -> None:
    place = Place()
    router = place.router(place.member("a:x", failing("quota", after_s=100)), place.member("a:y"))
    place.ask(router)
    place.ask(router)
    place.now.s = 101.0
    place.ask(router)
    assert place.names() == ["a:x", "a:y", "a:y", "a:x"]
    assert place.board.standing("a:x") == Healthy()


def test_a_used_up_quota_without_a_time_is_tried_again_by_and_by() -> None:
    place = Place()
    place.ask(place.router(place.member("a:x", failing("quota")), place.member("a:y")))
    assert place.board.standing("a:x") == Broken(
        kind="quota", why="its quota is used up", until=900.5
    )


def test_the_end_of_all_says_for_each_what_happened_and_what_to_do() -> None:
    place = Place()
    error = error_of(
        place.ask(
            place.router(
                place.member("a:m", failing("auth", text="no (check it)")),
                place.member("b:m", failing("rate_limited", after_s=3600, text="slow (wait)")),
                place.member("c:m", failing("transport", retryable=False, text="c: no such host")),
            )
        ).gave
    )
    assert not error.retryable
    assert error.text.splitlines() == [
        "no model is left that can be asked",
        "a:m: no (check it); its key was refused, not asked before a restart",
        "b:m: slow (wait); rate limited, not asked for another 3600 s, longer than may be waited",
        "c:m: c: no such host (check the network and the host's address); asking again is no use",
    ]


def test_attempts_at_one_reply_are_bounded() -> None:
    place = Place(patience=Patience(attempts=3))
    heard = place.ask(place.router(place.member("a:m", *[failing("cancelled")] * 9)))
    assert place.names() == ["a:m"] * 3
    assert error_of(heard.gave).text.endswith("; gave up after 3 attempts")


def test_a_run_waits_no_longer_in_all_than_it_may() -> None:
    place = Place(patience=Patience(run_wait_s=30))
    busy = failing("rate_limited", after_s=20)
    router = place.router(place.member("a:m", busy, DONE, busy))
    assert place.ask(router).waits == (20.0,)
    assert place.ask(router).waits == ()
    assert place.names() == ["a:m"] * 3


def test_useless_replies_go_back_to_the_kernel_and_then_the_next_candidate_for_good() -> None:
    place = Place()
    bad = useless()
    router = place.router(place.member("a:m", bad, bad), place.member("b:m", bad, bad, bad))
    for count in (0, 1):
        assert place.ask(router, replace(NEED, useless_replies=count)).gave is bad
    place.ask(router, replace(NEED, useless_replies=2))
    place.ask(router, replace(NEED, useless_replies=1))
    place.ask(router, replace(NEED, useless_replies=2))
    assert place.names() == ["a:m", "a:m", "b:m", "b:m", "b:m"]


def test_a_trial_candidate_is_left_once_its_answer_was_not_proved() -> None:
    place = Place()
    router = place.router(place.member("a:m", until_unverified=True), place.member("b:m"))
    escalates = [router.escalates]
    place.ask(router)
    escalates.append(router.escalates)
    choice = router.choose(replace(NEED, refuted=1))
    escalates.append(router.escalates)
    assert escalates == [False, True, False]
    assert (choice.candidate.name, choice.why) == ("b:m", "a:m: its answer was not proved")


def test_trial_candidates_are_left_one_after_another_and_the_last_one_stays() -> None:
    place = Place()
    names = ("a:m", "b:m")
    router = place.router(*(place.member(name, until_unverified=True) for name in names))
    chosen = [router.choose(replace(NEED, refuted=count)).candidate.name for count in range(4)]
    assert chosen == ["a:m", "b:m", "b:m", "b:m"]
    assert not router.escalates


def test_a_candidate_that_cannot_hold_the_conversation_is_passed_over_aloud() -> None:
    place = Place()
    router = place.router(place.member("a:m", window=10_000), place.member("b:m", window=100_000))
    choice = router.choose(replace(NEED, context_tokens=5_000))
    assert choice.why == "a:m: its window of 10,000 tokens does not hold 5,000 and a reply"
    assert router.choose(replace(NEED, context_tokens=200_000)).candidate.name == "b:m"
    assert router.choose(NEED).why == "it can be asked again"


def test_without_a_choice_the_router_chooses_by_itself_at_each_question() -> None:
    place = Place()
    router = place.router(place.member("a:m", failing("auth")), place.member("b:m"))
    for _ in range(2):
        steps = router.complete(REQUEST, place.heard.append)
        steps.send(None)
        with pytest.raises((ModelProviderError, StopIteration)):
            steps.send(None)
    assert place.names() == ["a:m", "b:m"]


def test_a_model_that_fell_ill_elsewhere_after_it_was_chosen_is_not_asked() -> None:
    place = Place()
    router = place.router(place.member("a:m"), place.member("b:m"))
    router.choose(NEED)
    place.board.cool("a:m", Cooling(kind="overloaded", since=0.0, until=10.0, is_named=True))
    with pytest.raises(ModelProviderError) as caught:
        router.complete(REQUEST, place.heard.append).send(None)
    error = caught.value
    assert (error.kind, error.consumption, error.retry_after_s) == (
        "overloaded",
        NoConsumption(),
        0,
    )
    assert error.text == "a:m: overloaded, not asked for another 10 s; going on with b:m"
    assert place.asked == []


def test_after_the_end_of_all_nobody_is_asked_again() -> None:
    place = Place()
    router = place.router(place.member("a:m", failing("transport", retryable=False)))
    place.ask(router)
    error = error_of(place.ask(router).gave)
    assert (error.kind, error.retryable) == ("transport", False)
    assert place.names() == ["a:m"]


@pytest.mark.parametrize("names", [(), ("a:m", "a:m")])
def test_a_chain_without_members_or_with_a_name_twice_is_no_chain(names: tuple[str, ...]) -> None:
    place = Place()
    with pytest.raises(ValueError, match="a chain has members"):
        place.router(*map(place.member, names))
