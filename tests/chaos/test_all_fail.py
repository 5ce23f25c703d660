"""Where every model fails for good the run ends in time, with a line for each and exit 6."""

import pytest
from chaos.faults import KINDS
from chaos.house import House
from chaos.leaping import LeapingLoop, in_leaping_time
from chaos.scene import name_of
from chaos.story import as_told_by, breaches, story
from models.endpoints import ENDPOINTS

from goldseam.kernel.events import Waited
from goldseam.kernel.outcome import ModelFailed
from goldseam.models.router.patience import Patience
from goldseam.repair.judgement import judgement_of

LASTING = [kind for kind in KINDS if kind.means not in {"structural", "invalid_output"}]
"""A fault of the request is nobody's illness; useless replies have a limit of their own."""


@pytest.mark.parametrize("shift", range(0, len(LASTING), len(ENDPOINTS) - 1))
def test_seven_models_that_fail_in_seven_ways_end_the_run_with_a_line_for_each(
    shift: int,
) -> None:
    ways = [LASTING[(shift + place) % len(LASTING)] for place in range(len(ENDPOINTS))]
    first, *_ = story()

    async def play(loop: LeapingLoop) -> None:
        async with House(loop).open() as house:
            chain = [
                house.seat(endpoint, ever_after=way.step(endpoint, as_told_by(endpoint, first)))
                for endpoint, way in zip(ENDPOINTS, ways, strict=True)
            ]
            scene = house.scene(*chain)
            state = await scene.play()
        outcome = state.outcome
        assert isinstance(outcome, ModelFailed)
        why, *lines = outcome.text.splitlines()
        assert why.startswith(("no model is left", "gave up after"))
        assert [line.partition(": ")[0] for line in lines] == list(map(name_of, ENDPOINTS))
        # What there is to do stands in brackets.
        assert all("(" in line for line in lines), outcome.text
        waited = sum(event.seconds for event in scene.events if isinstance(event, Waited))
        assert waited <= Patience().call_wait_s
        assert judgement_of(outcome, None, denial=None).code == 6

    in_leaping_time(play)


def test_two_that_keep_silent_longer_than_they_cool_do_not_hide_a_third() -> None:
    said = story()
    silent = next(kind for kind in KINDS if kind.name == "no first byte")
    one, other, third, *_ = ENDPOINTS

    async def play(loop: LeapingLoop) -> None:
        async with House(loop).open() as house:
            scene = house.scene(
                house.seat(one, ever_after=silent.step(one, said[0])),
                house.seat(other, ever_after=silent.step(other, said[0])),
                house.seat(third, *(as_told_by(third, say) for say in said)),
            )
            state = await scene.play()
        assert breaches(state.conversation, scene.tools.ran) == []
        assert scene.chosen[:3] == [name_of(one), name_of(other), name_of(third)]

    in_leaping_time(play)
