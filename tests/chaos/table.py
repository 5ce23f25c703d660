"""The fault matrix: every model fails in every way at every turn, and every other one goes on.

A cell is a run of the kernel through real sockets: one endpoint plays the story up to a turn of
its parallel tool loop, is ill from there on, and another endpoint stands behind it in the chain.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from chaos.faults import KINDS, Kind
from chaos.house import House
from chaos.leaping import LeapingLoop
from chaos.scene import Scene, name_of
from chaos.story import TOKENS, TURNS, as_told_by, breaches, story
from kernel.fakes import fold
from models.endpoints import ENDPOINTS, PAIRS, Endpoint
from msgspec import Struct
from simulators.gateway import Asked

from goldseam.kernel.errors import ActualConsumption, UnknownConsumption
from goldseam.kernel.events import (
    Event,
    ModelCallFailed,
    ModelCallPrepared,
    ModelReplied,
    ReplyRejected,
)
from goldseam.kernel.outcome import Completed, ModelFailed
from goldseam.kernel.state import RunState


class Cell(Struct, frozen=True):
    """What `one` fails by, at which of its turns; `other` is its backup."""

    one: Endpoint
    other: Endpoint
    kind: Kind
    turn: int

    def __str__(self) -> str:
        return f"{self.one.name} -> {self.other.name}, {self.kind.name}, {TURNS[self.turn]} turn"


Played: TypeAlias = dict[Cell, list[str]]
"""What is wrong with each run."""


def all_cells() -> Iterator[Cell]:
    """Yield every cell there is."""
    for one, other in PAIRS:
        yield from (Cell(one, other, kind, turn) for kind in KINDS for turn in range(len(TURNS)))


def covering_cells() -> Iterator[Cell]:
    """Yield cells in which each endpoint fails in each way at each turn, and each pair stands.

    So does each pair with each turn, and each backup with each kind.
    """
    places = range(len(ENDPOINTS))
    for kind_at, kind in enumerate(KINDS):
        for turn in range(len(TURNS)):
            step = 1 + (kind_at + 2 * turn) % (len(places) - 1)
            for place in places:
                one, other = ENDPOINTS[place], ENDPOINTS[(place + step) % len(places)]
                yield Cell(one, other, kind, turn)


async def play_cell(cell: Cell, house: House) -> list[str]:
    """Return what is wrong with the run of `cell`."""
    said = story()
    own = [as_told_by(cell.one, say) for say in said]
    ill = cell.kind.step(cell.one, own[cell.turn])
    scene = house.scene(
        house.seat(cell.one, *own[: cell.turn], ever_after=ill),
        house.seat(cell.other, *(as_told_by(cell.other, say) for say in said[cell.turn :])),
    )
    state = await scene.play()
    asked = house.asked_of(cell.one, cell.other)
    found = [
        *_ending(cell, state, scene),
        *(str(one.refusal.body) for one in asked if one.refusal),
        *_counting(scene.events, state, asked),
        *_failing(cell, scene.events),
    ]
    return [f"{cell}: {what}" for what in found]


def _ending(cell: Cell, state: RunState, scene: Scene) -> Iterator[str]:
    names = [name_of(cell.one), name_of(cell.other)]
    match state.outcome:
        case Completed() if cell.kind.means != "structural":
            yield from breaches(state.conversation, scene.tools.ran)
            if scene.chosen[:2] != names:
                yield f"chosen were {scene.chosen}"
        case ModelFailed(kind="structural") if cell.kind.means == "structural":
            if scene.chosen != names[:1]:
                yield f"walked down the chain: {scene.chosen}"
        case outcome:
            yield f"ended as {outcome}"


def _counting(events: list[Event], state: RunState, asked: list[Asked]) -> Iterator[str]:
    """Yield where the record, the ledger and what the simulators saw do not add up."""
    prepared = [event for event in events if isinstance(event, ModelCallPrepared)]
    reserved = {event.call: event.reservation.tokens for event in prepared}
    failed = [event for event in events if isinstance(event, ModelCallFailed)]
    paid = [event.consumption for event in failed]
    replies = [event for event in events if isinstance(event, ModelReplied | ReplyRejected)]
    spent = TOKENS * (
        len(replies) + sum(isinstance(consumption, ActualConsumption) for consumption in paid)
    )
    held = sum(
        reserved[event.call]
        for event in failed
        if isinstance(event.consumption, UnknownConsumption)
    )
    ledger = state.ledger
    pairs = {
        "tokens spent": (ledger.spent_tokens, spent),
        "tokens by class": (ledger.usage.total, spent),
        "tokens held": (ledger.held_tokens, held),
        "calls": (ledger.model_calls, len(prepared)),
        "requests": (len(asked), len(prepared)),
        "reserved": (ledger.reservation, None),
        "the record": (fold(events), state),
    }
    yield from (
        f"{what}: {found}, not {right}" for what, (found, right) in pairs.items() if found != right
    )


def _failing(cell: Cell, events: list[Event]) -> Iterator[str]:
    """Yield what was taken for another failure than it is."""
    kinds = {event.kind for event in events if isinstance(event, ModelCallFailed)}
    useless = any(isinstance(event, ReplyRejected) for event in events)
    expected = set() if cell.kind.means == "invalid_output" else {cell.kind.means}
    if kinds != expected or useless != (not expected):
        yield f"failed as {kinds or 'useless'}"


async def play_all(cells: Iterable[Cell], loop: LeapingLoop) -> Played:
    """Play `cells` one after another, and return what is wrong with each."""
    async with House(loop).open() as house:
        return {cell: await play_cell(cell, house) for cell in cells}


def drawn(played: Played) -> str:
    """Return the table: how many runs of each pair, and of each kind at each turn, completed."""
    names = [endpoint.name for endpoint in ENDPOINTS]
    pairs = _table(
        "from \\ to",
        names,
        names,
        place={cell: (cell.one.name, cell.other.name) for cell in played},
        played=played,
    )
    kinds = _table(
        "kind \\ turn",
        [kind.name for kind in KINDS],
        list(TURNS),
        place={cell: (cell.kind.name, TURNS[cell.turn]) for cell in played},
        played=played,
    )
    wrong = [line for found in played.values() for line in found]
    complete = sum(not found for found in played.values())
    return "\n".join([pairs, "", kinds, "", *wrong, f"{complete} of {len(played)} runs complete"])


def _table(
    corner: str,
    rows: list[str],
    columns: list[str],
    *,
    place: dict[Cell, tuple[str, str]],
    played: Played,
) -> str:
    width = max(map(len, [corner, *rows, *columns]))
    lines = [" ".join(word.rjust(width) for word in (corner, *columns))]
    for row in rows:
        counts = []
        for column in columns:
            cells = [cell for cell, at in place.items() if at == (row, column)]
            complete = sum(not played[cell] for cell in cells)
            counts.append(f"{complete} of {len(cells)}" if cells else "-")
        lines.append(" ".join(word.rjust(width) for word in (row, *counts)))
    return "\n".join(lines)
