"""What every store behind the `Journal` port promises."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from journal.generated_events import EVENTS, HOSTILE_TEXTS, every_event, noted, texts_in
from journal.journal_stores import STORES, Store

from goldseam.kernel.errors import JournalError
from goldseam.kernel.events import Event, Waited
from goldseam.kernel.ports import Journal

NewStore: TypeAlias = Callable[[Path], Store]
every_store = pytest.mark.parametrize("new_store", STORES)


def keep(journal: Journal, *events: Event, durable: bool = False) -> None:
    async def append() -> None:
        for event in events:
            await journal.append(event, durable=durable)

    anyio.run(append)


@every_store
@settings(max_examples=20)
@given(st.lists(st.tuples(EVENTS, st.booleans()), max_size=6), st.integers(0, 6))
def test_what_is_appended_is_what_is_read_in_any_number_of_sittings(
    tmp_path_factory: pytest.TempPathFactory,
    new_store: NewStore,
    appended: list[tuple[Event, bool]],
    cut: int,
) -> None:
    store = new_store(tmp_path_factory.mktemp("store"))
    for sitting in (appended[:cut], appended[cut:]):
        with store.open() as journal:
            for event, durable in sitting:
                keep(journal, event, durable=durable)
    assert store.events() == tuple(event for event, _ in appended)


@every_store
@pytest.mark.parametrize("text", HOSTILE_TEXTS, ids=ascii)
def test_any_text_may_stand_in_any_field_of_any_event(
    tmp_path: Path, new_store: NewStore, text: str
) -> None:
    store, events = new_store(tmp_path), every_event(text)
    with store.open() as journal:
        keep(journal, *events)
        assert store.events() == tuple(events)


@every_store
def test_there_is_one_writer_at_a_time_and_the_others_read(
    tmp_path: Path, new_store: NewStore
) -> None:
    store = new_store(tmp_path)
    with store.open() as journal:
        keep(journal, noted("one"))
        for _ in range(2):
            with pytest.raises(JournalError), store.open():
                pass
        assert store.events() == (noted("one"),)
        keep(journal, noted("two"))
    with store.open() as journal:
        keep(journal, noted("three"))
    assert store.events() == (noted("one"), noted("two"), noted("three"))


@every_store
def test_an_event_that_cannot_be_carried_is_refused_and_harms_nothing(
    tmp_path: Path, new_store: NewStore
) -> None:
    store = new_store(tmp_path)
    with store.open() as journal:
        keep(journal, noted("one"))
        with pytest.raises(JournalError):
            keep(journal, Waited(at_s=0.0, seconds=float("nan")))
        keep(journal, noted("two"))
    assert store.events() == (noted("one"), noted("two"))


@every_store
@pytest.mark.parametrize("length", [10, 100_000, 1_000_000])
@pytest.mark.parametrize("durable", [True, False])
def test_an_event_that_does_not_fit_is_not_there_at_all(
    tmp_path: Path, new_store: NewStore, length: int, durable: bool
) -> None:
    store = new_store(tmp_path)
    kept = [noted("one")]
    with store.open() as journal:
        keep(journal, *kept, durable=True)
        with store.full(), pytest.raises(JournalError):
            keep(journal, noted("x" * length), durable=durable)
        assert store.events() == tuple(kept)
        # Now there is room again: go on as if nothing had been, or refuse for good.
        try:
            keep(journal, noted("two"))
        except JournalError:
            with pytest.raises(JournalError):
                keep(journal, noted("three"))
        else:
            kept.append(noted("two"))
    with store.open() as journal:
        keep(journal, noted("four"))
    assert store.events() == (*kept, noted("four"))


@every_store
def test_secrets_never_enter_it(tmp_path: Path, new_store: NewStore) -> None:
    store = new_store(tmp_path)
    with store.open("correct horse", "hunter2-hunter2") as journal:
        keep(journal, noted("say correct horse and hunter2-hunter2"))
        keep(journal, *every_event("hunter2-hunter2"))
    texts = [text for event in store.events() for text in texts_in(event)]
    assert [text for text in texts if "hunter2" in text or "horse" in text] == []
    assert "say [redacted] and [redacted]" in texts


@every_store
def test_an_append_that_is_cancelled_is_whole_or_not_there(
    tmp_path: Path, new_store: NewStore
) -> None:
    store = new_store(tmp_path)
    done: list[bool] = []

    async def cancelled(journal: Journal) -> None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await journal.append(noted("one"), durable=True)
            done.append(True)

    with store.open() as journal:
        anyio.run(cancelled, journal)
        keep(journal, noted("two"))
    assert store.events() == (*([noted("one")] if done else []), noted("two"))
