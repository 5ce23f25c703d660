"""The kernel's own loop with a chain behind its ports; the kernel does not know of it."""

from collections.abc import Mapping, Sequence
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from kernel.fakes import MOST_EVENTS, Script, ScriptedModel, Turn, World, answer, fold
from kernel.scripts import FAILURES, GOOD_RESPONSES, INVALID, RESPONSES
from kernel.values import LOOK, READ, WRITE, call, opening, reply
from models.router.routing import failing, useless
from msgspec.structs import replace

from goldseam.kernel.budget import Candidate, Limits, Price
from goldseam.kernel.conversation import ToolCall, ToolResult
from goldseam.kernel.errors import ActualConsumption, NoConsumption
from goldseam.kernel.events import (
    ModelCallFailed,
    ModelCallPrepared,
    ModelChosen,
    ModelReplied,
    ReplyRejected,
    Waited,
)
from goldseam.kernel.outcome import Completed, ModelFailed, Outcome
from goldseam.kernel.request import TokenUsage
from goldseam.kernel.state import RunState
from goldseam.models.router.chain import Member
from goldseam.models.router.health import HealthBoard
from goldseam.models.router.patience import Patience
from goldseam.models.router.router import Router

PRICE = Price(input=1, output=2, cache_read=1, cache_write=1)


class Scene:
    """One run of the kernel whose model is a chain: a list of turns for each member."""

    def __init__(
        self,
        script: Script,
        chain: Mapping[str, Sequence[Turn]],
        *,
        patience: Patience | None = None,
        windows: dict[str, int] | None = None,
        until_unverified: str = "",
    ) -> None:
        self.script = script
        self.world = World(script)
        wait = self.world.fake_clock.sleep
        self.models = {
            name: ScriptedModel(turns, self.world.watch, wait) for name, turns in chain.items()
        }
        self.router = Router(
            tuple(
                Member(
                    candidate=Candidate(
                        name=name, context_tokens=(windows or {}).get(name), price=PRICE
                    ),
                    adapter=model,
                    until_unverified=name == until_unverified,
                )
                for name, model in self.models.items()
            ),
            health=HealthBoard(),
            now=self.world.fake_clock.elapsed_s,
            dice=Random(1).random,
            patience=patience,
        )
        self.world.ports = replace(self.world.ports, model=self.router, choose=self.router.choose)

    def play(self, *, limits: Limits | None = None, verifies: bool = False) -> RunState:
        return self.world.play(opening(self.script, limits=limits, verifies=verifies))

    @property
    def chosen(self) -> list[tuple[str, str]]:
        return [
            (event.candidate.name, event.why)
            for event in self.world.events
            if isinstance(event, ModelChosen)
        ]

    def asked(self) -> dict[str, int]:
        return {name: len(model.requests) for name, model in self.models.items()}


def ended(state: RunState) -> Outcome:
    assert state.outcome is not None
    return state.outcome


def test_a_backup_finishes_a_parallel_tool_loop_in_whose_middle_the_first_was_rate_limited() -> (
    None
):
    """The origin's scene."""
    looks = reply(call("look", "a"), call("look", "b"), call("write", "c"))
    limited = failing("rate_limited", after_s=600, text="one answered 429: slow down (wait)")
    limited.consumption = NoConsumption()
    scene = Scene(
        Script(tools=(LOOK, WRITE, READ)),
        {
            "one:m": [Turn(looks), Turn(limited)],
            "two:m": [Turn(reply(call("read", "d"))), Turn(answer("mended"))],
        },
    )
    state = scene.play()
    assert ended(state) == Completed(answer="mended")
    assert scene.chosen == [
        ("one:m", ""),
        ("two:m", "one:m: rate limited, not asked for another 600 s, longer than may be waited"),
    ]
    assert scene.asked() == {"one:m": 2, "two:m": 2}
    assert scene.world.watch.acts_of("tool") == ["a", "b", "c", "d"]
    history = list(state.conversation)
    calls = [item.call_id for item in history if isinstance(item, ToolCall)]
    results = [item.call_id for item in history if isinstance(item, ToolResult)]
    assert calls == results == ["a", "b", "c", "d"]
    assert scene.models["two:m"].seen[0] == scene.models["one:m"].seen[1]
    assert not scene.world.watch.breaches
    (failed,) = (event for event in scene.world.events if isinstance(event, ModelCallFailed))
    assert failed.text == "one:m: one answered 429: slow down (wait); going on with two:m"
    assert (failed.retryable, failed.wait_s) == (True, 0)
    assert fold(scene.world.events) == state


def test_the_kernel_waits_as_the_router_says_and_the_order_returns() -> None:
    limited = failing("rate_limited", after_s=3)
    scene = Scene(
        Script(tools=(READ,)),
        {
            "one:m": [
                Turn(limited),
                Turn(reply(call("read", "a"))),
                Turn(failing("quota", after_s=1)),
            ],
            "two:m": [Turn(reply(call("read", "b")), seconds=5.0)],
        },
    )
    assert ended(scene.play()) == Completed(answer="done")
    waits = [event.seconds for event in scene.world.events if isinstance(event, Waited)]
    assert waits == [3.0]
    assert [name for name, _ in scene.chosen] == ["one:m", "two:m", "one:m"]
    assert scene.chosen[-1][1] == "it can be asked again"


def test_each_attempt_is_on_record_before_it_is_made_and_pays_its_own_price() -> None:
    cut = failing("transport")
    cut.consumption = ActualConsumption(usage=TokenUsage(input=5, output=1))
    scene = Scene(Script(), {"one:m": [Turn(cut), Turn(cut)], "two:m": []})
    state = scene.play()
    prepared = [event.call for event in scene.world.events if isinstance(event, ModelCallPrepared)]
    assert prepared == [1, 2, 3]
    assert scene.asked() == {"one:m": 2, "two:m": 1}
    assert state.ledger.spent_money == 2 * 7 + 30


def test_useless_replies_are_fed_back_twice_and_then_the_backup_begins_without_them() -> None:
    scene = Scene(Script(), {"one:m": [Turn(useless())] * 9, "two:m": [Turn(answer("done"))]})
    assert ended(scene.play()) == Completed(answer="done")
    assert scene.asked() == {"one:m": 2, "two:m": 1}
    assert scene.models["two:m"].seen[0] == scene.models["one:m"].seen[0]


def test_where_all_are_useless_the_kernel_ends_the_run() -> None:
    bad = [Turn(useless())] * 9
    scene = Scene(Script(), {"one:m": bad, "two:m": bad})
    outcome = ended(scene.play(limits=Limits(invalid_retries=2)))
    assert isinstance(outcome, ModelFailed)
    assert scene.asked() == {"one:m": 2, "two:m": 3}


def test_a_run_whose_models_all_fail_for_good_ends_with_a_line_for_each() -> None:
    scene = Scene(
        Script(),
        {"one:m": [Turn(failing("auth"))], "two:m": [Turn(failing("quota", after_s=1e6))]},
    )
    outcome = ended(scene.play())
    assert isinstance(outcome, ModelFailed)
    assert [line.partition(": ")[0] for line in outcome.text.splitlines()[1:]] == ["one:m", "two:m"]


def test_a_growing_conversation_moves_to_a_larger_window_and_the_kernel_does_not_stop() -> None:
    scene = Scene(
        Script(tools=(replace(READ, content="x" * 9000),)),
        {
            "small:m": [Turn(reply(call("read", "a"))), Turn(reply(call("read", "b")))],
            "large:m": [],
        },
        windows={"small:m": 10_500},
    )
    assert ended(scene.play()) == Completed(answer="done")
    assert [name for name, _ in scene.chosen] == ["small:m", "large:m"]
    assert "does not hold" in scene.chosen[-1][1]


TURNS = st.builds(Turn, st.one_of(GOOD_RESPONSES, RESPONSES, FAILURES, FAILURES, INVALID))


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(("one:m", "two:m", "three:m")),
        st.lists(TURNS, max_size=8),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from((Limits(), Limits(invalid_retries=0), Limits(model_calls=5))),
)
def test_any_chain_of_faults_ends_with_an_outcome_and_a_record_that_gives_it(
    chain: dict[str, list[Turn]], limits: Limits
) -> None:
    scene = Scene(Script(tools=(READ, WRITE)), chain)
    state = scene.play(limits=limits)
    events = scene.world.events
    assert state.outcome is not None
    assert len(events) < MOST_EVENTS
    assert not scene.world.watch.breaches
    made = sum(scene.asked().values())
    told = sum(
        isinstance(event, ModelReplied | ReplyRejected | ModelCallFailed) for event in events
    )
    assert made <= told == sum(isinstance(event, ModelCallPrepared) for event in events)
    assert fold(events) == state
