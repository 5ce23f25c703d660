"""What the plain text of a reply may hide."""

import pytest

from goldseam.models.leaks import is_unclosed, split_thought


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<think>so</think>\n\nAnswer", ("so", "Answer")),
        ("\n<think>\nso\n</think>Answer", ("so", "Answer")),
        ("<think>never closed", ("never closed", "")),
        ("Answer <think>so</think>", ("", "Answer <think>so</think>")),
        (" plain", ("", " plain")),
    ],
)
def test_a_thought_in_tags_stands_at_the_very_start_or_is_none(
    text: str, found: tuple[str, str]
) -> None:
    assert split_thought(text) == found


@pytest.mark.parametrize(
    ("text", "unclosed"),
    [
        ('{"a": 1', True),  # 116
        ('{"a": "}', True),
        ('{"a": [1, 2}', True),
        ('{"a": "}"}', False),
        ('{"a": "\\""}', False),
        ("", False),
        ("not json", False),
        ("}{", False),
    ],
)
def test_arguments_are_unclosed_where_a_bracket_waits(text: str, *, unclosed: bool) -> None:
    assert is_unclosed(text) is unclosed
