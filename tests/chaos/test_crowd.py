"""Runs side by side in one process, on hosts that fail by the dice.

`make chaos` plays 200 at once.
"""

import pytest
from chaos.crowd import growth, play_crowd


@pytest.mark.anyio
async def test_twenty_runs_at_once_complete_and_none_hears_of_another() -> None:
    waves = await play_crowd(20, silence_s=1.0)
    assert [line for wave in waves for line in wave.wrong] == []
    for wave in waves:
        assert sum(wave.failed.values()) > 0
        assert wave.calls >= 60 + sum(wave.failed.values())
        assert wave.kept_runs == 0
    # Caches that fill, and the data of a tool that traces lines; `make chaos` has a tenth of it.
    assert growth(waves, 20) < 5_000
