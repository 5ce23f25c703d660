"""What `goldseam replay` does."""

import sys
from collections.abc import Sequence

from goldseam.app.replaying import Played, Recorded, play_again, recorded_run, verified
from goldseam.app.settings import read_settings
from goldseam.app.sitting import Watch
from goldseam.cli.undoing import access_to, this_world
from goldseam.cli.watching import run_watched
from goldseam.journal.runs import new_run_id
from goldseam.journal.visible import visible
from goldseam.repair.result import ExitCode, Result


def replay(name: str, *, only_verify: bool, as_test: bool) -> int:
    """Decide the run again, play it again, list what differs, and return the exit code.

    Raises:
        GoldseamError: there is no such run, or it cannot be replayed.
    """
    world = this_world()
    access = access_to(world)
    recorded = recorded_run(access, name)
    found = list(_deviations(recorded))
    if not only_verify:
        rules = read_settings(world.environ).rules
        run_id = new_run_id(world.now(), world.dice)
        played: list[Played] = []

        async def play(watch: Watch) -> Result:
            one = await play_again(recorded, access, world, watch=watch, rules=rules, run_id=run_id)
            played.append(one)
            return one.result

        code = run_watched(play, as_json=False, is_attended=False)
        if not played:
            return code
        found += played[0].differences
    _tell(found)
    return int(ExitCode.UNVERIFIED) if found and as_test else 0


def _deviations(recorded: Recorded) -> Sequence[str]:
    deviation = verified(recorded)
    count = len(recorded.record.events)
    if deviation is None:
        sys.stderr.write(f"{count} events: each follows from those before it\n")
        return ()
    told = f"{deviation.found} is recorded, {deviation.expected} is decided"
    return (f"event {deviation.place} does not follow: {told}",)


def _tell(found: Sequence[str]) -> None:
    for line in found:
        sys.stdout.write(f"{visible(line)}\n")
    sys.stdout.write(f"{len(found)} differences\n" if found else "nothing differs\n")
