from typing import Annotated, Literal

import pytest
from msgspec import Meta, Struct

from goldseam.tools.schema import schema_of


class Point(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    title: str
    line: Annotated[int, Meta(ge=1)] | None = None


class Drawing(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    points: Annotated[tuple[Point, ...], Meta(min_length=1, description="Where.")]
    colour: Literal["gold", "red"] = "gold"


class Loose(Struct, frozen=True, kw_only=True):
    path: str


class Tree(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    branches: tuple["Tree", ...] = ()


def test_a_schema_stands_on_its_own_and_says_all_that_the_type_says() -> None:
    # M17: what the model is shown and what is checked are one thing.
    assert schema_of(Drawing) == {
        "type": "object",
        "properties": {
            "points": {
                "description": "Where.",
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {
                        "title": {"type": "string"},
                        "line": {
                            "anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}],
                            "default": None,
                        },
                    },
                    "required": ["title"],
                    "additionalProperties": False,
                },
            },
            "colour": {"enum": ["gold", "red"], "default": "gold"},
        },
        "required": ["points"],
        "additionalProperties": False,
    }


def test_a_type_that_takes_unknown_fields_is_our_defect() -> None:
    with pytest.raises(ValueError, match="Loose must forbid unknown fields"):
        schema_of(Loose)


def test_a_type_that_holds_itself_is_our_defect() -> None:
    with pytest.raises(ValueError, match="Tree holds itself"):
        schema_of(Tree)
