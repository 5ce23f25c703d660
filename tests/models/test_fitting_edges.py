"""Corners of what every dialect fits alike, each found by a change that no other test noticed."""

import pytest

from goldseam.kernel.conversation import Message
from goldseam.models.dialect import IdRule
from goldseam.models.fitting import WireIds, cache_key, fit_id, write_json_text

TASK = Message(role="user", text="Mend it.")


def test_an_id_that_is_the_hash_of_another_one_is_hashed_in_its_turn() -> None:  # 43
    rule = IdRule()
    made = fit_id("no legal id", rule)
    wire = WireIds(rule)
    assert wire.of("no legal id") == made
    assert wire.of(made) != made


def test_the_cache_key_is_of_what_a_run_was_told_and_not_of_what_the_model_said() -> None:
    def said(text: str) -> Message:
        return Message(role="assistant", text=text)

    assert cache_key([said("one"), TASK]) == cache_key([said("other"), TASK])
    assert cache_key([TASK, said("one")]) == cache_key([TASK])


def test_the_cache_key_stays_what_it_is_when_more_is_told() -> None:
    more = Message(role="user", text="And the other one.")
    assert cache_key([TASK, more]) == cache_key([TASK])
    assert cache_key([more, TASK]) != cache_key([TASK])


def test_the_cache_key_takes_any_text() -> None:
    assert cache_key([Message(role="system", text="\ud800"), TASK]) != cache_key([TASK])


def test_what_json_has_no_word_for_never_goes_out() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        write_json_text({"n": [float("nan")]})
