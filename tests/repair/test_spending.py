"""What each model took: sums over a record, the same heard live and read afterwards."""

from hypothesis import given, settings
from kernel.fakes import NativeCancelError, Script, World
from kernel.scripts import limits, scripts
from kernel.values import call, opening, reply, said
from msgspec.structs import replace

from goldseam.kernel.budget import Candidate, Limits, Price, Reservation
from goldseam.kernel.errors import (
    ActualConsumption,
    Consumption,
    JournalError,
    NoConsumption,
    UnknownConsumption,
)
from goldseam.kernel.events import (
    Event,
    ModelCallFailed,
    ModelCallPrepared,
    ModelChosen,
    ModelReplied,
    Noted,
    ReplyRejected,
    Resumed,
    RunFinished,
    Waited,
)
from goldseam.kernel.outcome import Stopped
from goldseam.kernel.request import Remark, TokenUsage
from goldseam.repair.spending import SpendingTap, Spent, Switch, spending_of

DEAR = Candidate(name="a:m", price=Price(input=10, output=100, cache_read=1, cache_write=20))
FREE = Candidate(name="b:m", price=Price(input=0, output=0, cache_read=0, cache_write=0))
UNPRICED = Candidate(name="c:m")
USAGE = TokenUsage(input=5, output=2, cache_read=3, cache_write=1)
LOSS = Remark(code="seal", text="a thought was left out")


def chosen(candidate: Candidate, why: str = "") -> Event:
    return ModelChosen(at_s=1.0, candidate=candidate, why=why)


def asked() -> Event:
    return ModelCallPrepared(
        at_s=1.0, call=1, reservation=Reservation(tokens=9), max_output_tokens=9
    )


def replied(usage: TokenUsage = USAGE) -> Event:
    return ModelReplied(at_s=1.0, call=1, response=reply(said("so"), call("read"), usage=usage))


def failed(consumption: Consumption) -> Event:
    return ModelCallFailed(
        at_s=1.0, call=1, kind="server", text="ill", retryable=True, consumption=consumption
    )


def noted(remark: Remark = LOSS) -> Event:
    return Noted(at_s=1.0, remark=remark)


def test_each_candidate_pays_for_its_own_calls_at_its_own_price() -> None:
    spending = spending_of([
        chosen(DEAR),
        asked(),
        replied(),
        asked(),
        failed(ActualConsumption(usage=USAGE)),
        Waited(at_s=1.0, seconds=4.0),
        chosen(FREE),
        asked(),
        ReplyRejected(at_s=1.0, call=1, why="", excerpt="", feedback="", usage=USAGE),
        chosen(UNPRICED),
        asked(),
        replied(),
        asked(),
        replied(),
    ])
    twice = Spent(name="", calls=2, fresh_tokens=12, cached_tokens=6, output_tokens=4)
    assert spending.candidates == (
        replace(twice, name="a:m", failures=1, cost=2 * 273, waited_s=4.0),
        Spent(
            name="b:m", calls=1, useless=1, fresh_tokens=6, cached_tokens=3, output_tokens=2, cost=0
        ),
        replace(twice, name="c:m", cost=None),
    )
    assert [one.cache_share for one in spending.candidates] == [1 / 3] * 3


def test_a_call_that_cost_nothing_costs_nothing_even_where_no_price_is_known() -> None:
    (spent,) = spending_of([chosen(UNPRICED), asked(), failed(NoConsumption())]).candidates
    assert spent == Spent(name="c:m", calls=1, failures=1, cost=0)
    assert spent.cache_share is None


def test_calls_of_which_nobody_knows_the_cost_are_counted_as_such() -> None:
    cut = Resumed(at_s=1.0, limits=Limits(), why="")
    ended = RunFinished(at_s=1.0, outcome=Stopped(why="enough"))
    (spent,) = spending_of([
        chosen(DEAR),
        asked(),
        failed(UnknownConsumption()),
        asked(),
        replied(TokenUsage(input=5)),
        asked(),
        cut,
        asked(),
        ended,
        ended,
    ]).candidates
    assert spent == Spent(name="a:m", calls=4, failures=1, unknown_calls=4)


def test_a_switch_holds_its_reason_and_what_was_noted_up_to_the_first_reply() -> None:
    spending = spending_of([
        chosen(DEAR, "never shown"),
        noted(),
        asked(),
        replied(),
        chosen(FREE, "a:m: rate limited"),
        asked(),
        failed(NoConsumption()),
        asked(),
        noted(),
        noted(),
        replied(),
        noted(),
        chosen(FREE),
        chosen(DEAR, "it can be asked again"),
    ])
    assert spending.switches == (
        Switch(at_s=1.0, before="a:m", after="b:m", why="a:m: rate limited", remarks=(LOSS, LOSS)),
        Switch(at_s=1.0, before="b:m", after="a:m", why="it can be asked again"),
    )


def test_a_record_that_names_no_model_is_summed_all_the_same() -> None:
    (spent,) = spending_of([asked(), replied()]).candidates
    assert (spent.name, spent.calls, spent.cost) == ("", 1, None)


@settings(max_examples=60, deadline=None)
@given(scripts(), limits())
def test_what_is_heard_live_is_what_the_record_gives_and_adds_up(
    script: Script, within: Limits
) -> None:
    tap = SpendingTap()
    world = World(script, taps=(tap,))
    try:
        ledger = world.play(opening(script, limits=within)).ledger
    except (JournalError, RuntimeError, NativeCancelError):
        # The random world's own; what was heard until then counts.
        assert tap.spending == spending_of(world.events)
    else:
        spent = tap.spending.candidates
        told = sum(one.fresh_tokens + one.cached_tokens + one.output_tokens for one in spent)
        assert told == ledger.spent_tokens
        assert sum(one.calls for one in spent) == ledger.model_calls
        assert tap.spending == spending_of(world.events)
