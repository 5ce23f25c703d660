"""Play the whole fault matrix, a run for every cut, and many runs at once; see `make chaos`.

Prints a table of each, and ends with `all complete`, or with exit 1.
"""

import sys

import anyio
from chaos.crowd import growth, play_crowd
from chaos.cuts import PROTOCOLS, Theatre
from chaos.leaping import LeapingLoop, in_leaping_time
from chaos.table import Played, all_cells, drawn, play_all

CROWD = 200
MOST_GROWTH = 500
"""Bytes a run; the record of one has many thousands."""


def main() -> int:
    """Play all of it."""
    wrong = sum(play() for play in (play_faults, play_cuts, play_many))
    print(f"{wrong} not complete" if wrong else "all complete")
    return 1 if wrong else 0


def play_faults() -> int:
    """Play every cell of the matrix; return how many runs did not complete."""
    played: Played = {}

    async def play(loop: LeapingLoop) -> None:
        played.update(await play_all(all_cells(), loop))

    in_leaping_time(play)
    print(drawn(played))
    return sum(bool(found) for found in played.values())


def play_cuts() -> int:
    """Play a run for every byte at which a reply may be cut; return how many left a trace."""
    wrong = 0
    for one, other in PROTOCOLS:
        theatre = Theatre(one, other)
        found = list(theatre.complaints())
        cuts = len(theatre.told) + 1
        print(*found[:3], sep="\n", end="")
        print(f"{one.name} -> {other.name}: {cuts - len(found)} of {cuts} cuts", flush=True)
        wrong += len(found)
    return wrong


def play_many() -> int:
    """Play many runs at once; return how much went wrong, memory that grew among it."""

    async def play() -> int:
        waves = await play_crowd(CROWD, silence_s=6.0)
        for wave in waves:
            print(*wave.wrong[:3], sep="\n", end="")
            failed = sum(wave.failed.values())
            print(
                f"{CROWD} runs at once: {len(wave.wrong)} complaints, {failed} of {wave.calls} "
                f"calls failed, {wave.kept_bytes:,} bytes kept afterwards"
            )
        grew = growth(waves, CROWD) > MOST_GROWTH
        return sum(len(wave.wrong) for wave in waves) + grew

    return anyio.run(play)


if __name__ == "__main__":
    sys.exit(main())
