"""A sample of the fault matrix that covers it; `make chaos` plays all of it."""

from chaos.faults import KINDS
from chaos.leaping import LeapingLoop, in_leaping_time
from chaos.story import TURNS
from chaos.table import Cell, Played, all_cells, covering_cells, drawn, play_all
from models.endpoints import ENDPOINTS, PAIRS


def seen(cells: list[Cell], *fields: str) -> set[tuple[str, ...]]:
    return {tuple(str(getattr(cell, field)) for field in fields) for cell in cells}


def test_the_matrix_has_every_pair_kind_and_turn_and_the_sample_all_that_two_of_them_make() -> None:
    everything, sample = list(all_cells()), list(covering_cells())
    assert len(everything) == len(PAIRS) * len(KINDS) * len(TURNS) == 1890
    assert len(sample) == len(ENDPOINTS) * len(KINDS) * len(TURNS) == 315
    for fields in (("one", "kind", "turn"), ("one", "other", "turn"), ("other", "kind", "turn")):
        assert seen(sample, *fields) == seen(everything, *fields)


def test_every_model_may_fail_in_every_way_and_the_run_completes() -> None:
    played: Played = {}

    async def play(loop: LeapingLoop) -> None:
        played.update(await play_all(covering_cells(), loop))

    in_leaping_time(play)
    assert drawn(played).endswith("\n315 of 315 runs complete"), drawn(played)
