"""Schemas of tools, fitted to what each target takes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.kernel.json_text import Json
from goldseam.models.schemas import Target, fit_schema, fit_strict

TARGETS: tuple[Target, ...] = ("openai", "anthropic", "gemini_openapi", "gemini_json")
TEXT: dict[str, Any] = {"type": "string"}
NULL: dict[str, Any] = {"type": "null"}


def object_of(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **more}


def fitted(schema: Any, target: Target = "openai") -> Any:
    return fit_schema(json.dumps(schema), target)[0]


def losses_of(schema: Any, target: Target = "openai") -> list[str]:
    remarks = fit_schema(json.dumps(schema), target)[1]
    assert {remark.code for remark in remarks} <= {"schema_simplified"}
    return [remark.text for remark in remarks]


# All targets


@pytest.mark.parametrize(
    ("schema", "same"),
    [
        (object_of({"a": TEXT}, required=["a"]), object_of({"a": TEXT}, required=["a"])),
        ({}, object_of({})),  # OAI-16
        ({"type": "object"}, object_of({})),
        (
            object_of({"a": {"type": "object"}, "b": {"items": {"type": "object"}}}),
            object_of({"a": object_of({}), "b": {"items": object_of({})}}),
        ),
        (object_of({"$defs": TEXT}), object_of({"$defs": TEXT})),
        ({"$schema": "https://x", "$defs": {"A": TEXT}, **object_of({})}, object_of({})),  # 88
    ],
)
def test_a_schema_keeps_what_it_says(schema: Any, same: Any) -> None:
    for target in ("openai", "anthropic", "gemini_json"):
        assert fitted(schema, target) == same
        assert losses_of(schema, target) == []


def test_references_are_inlined_with_what_stands_beside_them() -> None:  # 85, 86
    schema = object_of(
        {
            "a": {"$ref": "#/$defs/A", "title": "Beside"},
            "b": {"anyOf": [{"$ref": "#/definitions/x~1y~0z"}, NULL]},
        },
        **{"$defs": {"A": {"type": "string", "title": "Own"}}, "definitions": {"x/y~z": TEXT}},
    )
    assert fitted(schema) == object_of({
        "a": {"type": "string", "title": "Beside"},
        "b": {"anyOf": [TEXT, NULL]},
    })
    assert losses_of(schema) == []


def test_a_schema_that_holds_itself_is_cut_where_it_comes_round_again() -> None:
    node = object_of({"next": {"$ref": "#/$defs/Node"}}, description="A node", title="N")
    schema = object_of({"first": {"$ref": "#/$defs/Node"}}, **{"$defs": {"Node": node}})
    cut = {"type": "object", "description": "A node"}
    assert fitted(schema, "gemini_json") == object_of({
        "first": object_of({"next": cut | {"properties": {}}}, description="A node", title="N")
    })
    assert losses_of(schema) == ["a schema that holds itself is cut where it comes round again"]


def test_references_are_followed_only_so_deep() -> None:
    names = [f"d{n}" for n in range(12)]
    chain = {name: {"$ref": f"#/$defs/d{n + 1}"} for n, name in enumerate(names)}
    schema = object_of({"a": {"$ref": "#/$defs/d0"}}, **{"$defs": {**chain, "d12": TEXT}})
    assert fitted(schema) == object_of({"a": {}})
    assert len(losses_of(schema)) == 1


@pytest.mark.parametrize("reference", ["https://x/y", "#/$defs/none", "#/properties/a/x"])
def test_a_reference_that_leads_nowhere_takes_any_value(reference: str) -> None:
    schema = object_of({"a": {"$ref": reference, "title": "T"}})
    assert fitted(schema) == object_of({"a": {"title": "T"}})
    assert losses_of(schema) == [f"the reference {reference} leads nowhere and takes any value"]


def test_alternatives_of_the_whole_become_properties_at_choice() -> None:  # ANT-17
    schema = {"anyOf": [object_of({"a": TEXT}, required=["a"]), object_of({"b": NULL}), True]}
    assert fitted(schema, "anthropic") == object_of({"b": NULL, "a": TEXT})
    assert len(losses_of(schema)) == 1


@pytest.mark.parametrize("schema", [[], "text", {"type": "array", "items": TEXT}])
def test_arguments_are_always_told_as_an_object(schema: Any) -> None:
    assert fitted(schema)["type"] == "object"
    assert len(losses_of(schema)) == 1


def test_what_cannot_be_sent_is_replaced() -> None:  # 155
    assert fitted(object_of({"a\ud800": {"title": "\x00"}})) == object_of({
        "a\ufffd": {"title": "\u2400"}
    })


def schemas() -> st.SearchStrategy[Any]:
    names = st.sampled_from(["a", "b", "type", "enum"])
    plain = st.sampled_from([
        *[{}, TEXT, NULL, True, {"type": ["string", "null"]}, {"type": ["object", "array"]}],
        *[{"enum": [1, "a", None]}, {"const": 5}, {"$ref": "#"}, {"$ref": "#/properties/a"}],
        *[{"type": "array"}, {"type": "object"}, {"type": "integer", "enum": [60, 1440]}],
    ])
    return st.recursive(
        plain,
        lambda inner: st.one_of(
            st.dictionaries(names, inner, max_size=2).map(object_of),
            st.lists(inner, min_size=1, max_size=2).map(lambda some: {"anyOf": some}),
            st.lists(inner, min_size=1, max_size=2).map(lambda some: {"allOf": some}),
            inner.map(lambda one: {"type": "array", "items": one}),
            inner.map(lambda one: object_of({}, additionalProperties=one)),
            st.lists(inner, min_size=1, max_size=2).map(lambda some: {"prefixItems": some}),
        ),
        max_leaves=6,
    )


@given(schemas(), st.sampled_from(TARGETS))
def test_a_fitted_schema_is_an_object_without_references_and_fits_as_it_is(
    schema: Any, target: Target
) -> None:
    found = fitted(schema, target)
    assert found["type"] in {"object", "OBJECT"}
    assert isinstance(found["properties"], dict)
    assert "$ref" not in json.dumps(found)
    if target != "gemini_openapi":
        assert fitted(found, target) == found
        assert losses_of(found, target) == []


# Strict


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (
            object_of({"a": object_of({"b": TEXT}, required=["b"])}, required=["a"]),
            object_of(
                {
                    "a": object_of({"b": TEXT}, required=["b"], additionalProperties=False),
                },
                required=["a"],
                additionalProperties=False,
            ),
        ),  # 91
        ({}, object_of({}, required=[], additionalProperties=False)),
        (
            object_of({"a": {"type": ["string", "null"], "default": None}, "b": {"anyOf": [NULL]}}),
            object_of(
                {"a": {"type": ["string", "null"]}, "b": {"anyOf": [NULL]}},
                required=["a", "b"],
                additionalProperties=False,
            ),
        ),
        (
            object_of({"a": {"type": "array", "items": TEXT}}, required=["a"]),
            object_of(
                {"a": {"type": "array", "items": TEXT}}, required=["a"], additionalProperties=False
            ),
        ),
    ],
)
def test_a_schema_is_strict_where_that_says_the_same(schema: Any, strict: Any) -> None:
    assert fit_strict(json.dumps(schema)) == strict


@pytest.mark.parametrize(
    "inner",
    [
        {"type": "object", "additionalProperties": True},  # 92
        {"type": "object", "additionalProperties": TEXT, "properties": {}},
        {"type": "object"},
        object_of({"a": TEXT}),
        object_of({"a": TEXT}, required="a"),
        object_of({"a": True}),
        object_of({"a": {"type": ["string", "null"], "default": "x"}}),
        {"type": ["object", "null"]},
        {"type": "array"},
        {"minLength": 1},
        {},
        {"oneOf": [TEXT]},
        {"$ref": "#"},
        {"$ref": "#/nowhere"},
    ],
)
def test_strict_mode_stays_off_where_it_would_change_the_meaning(inner: Any) -> None:
    assert fit_strict(json.dumps(object_of({"p": inner}, required=["p"]))) is None


@given(schemas())
def test_a_strict_schema_closes_every_object(schema: Any) -> None:  # OAI-15
    for node in objects(fit_strict(json.dumps(schema))):
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert set(node["required"]) == set(node["properties"])


def objects(value: Json) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from objects(inner)
    if isinstance(value, list):
        for inner in value:
            yield from objects(inner)


# Gemini's OpenAPI form (GEM-28, GEM-30)


@pytest.mark.parametrize(
    ("schema", "form"),
    [
        (TEXT, {"type": "STRING"}),
        ({"type": ["string", "null"]}, {"type": "STRING", "nullable": True}),
        ({"anyOf": [{"type": "integer"}, NULL]}, {"type": "INTEGER", "nullable": True}),
        ({"oneOf": [TEXT], "title": "T"}, {"type": "STRING", "title": "T"}),
        (
            {"type": ["string", "integer"], "minimum": 1},
            {"anyOf": [{"type": "STRING", "minimum": 1}, {"type": "INTEGER", "minimum": 1}]},
        ),
        (
            {"anyOf": [TEXT, {"type": "boolean"}, NULL], "description": "d"},
            {
                "anyOf": [
                    {"type": "STRING", "description": "d", "nullable": True},
                    {"type": "BOOLEAN", "description": "d", "nullable": True},
                ]
            },
        ),
        ({"enum": ["a", "b", None]}, {"type": "STRING", "enum": ["a", "b"], "nullable": True}),
        ({"const": "a"}, {"type": "STRING", "enum": ["a"]}),
        ({"type": "integer", "nullable": True}, {"type": "INTEGER", "nullable": True}),
        ({"type": "string", "format": "date-time"}, {"type": "STRING", "format": "date-time"}),
        ({"items": TEXT}, {"type": "ARRAY", "items": {"type": "STRING"}}),
        (
            {"type": "object", "additionalProperties": False, "required": ["x"]},
            {"type": "OBJECT", "properties": {}},
        ),
        (
            {
                "allOf": [object_of({"a": TEXT}, required=["a"]), {"properties": {"b": TEXT}}],
                "required": ["b"],
            },
            {
                "type": "OBJECT",
                "properties": {"b": {"type": "STRING"}, "a": {"type": "STRING"}},
                "required": ["b", "a"],
            },
        ),
        ({"allOf": [TEXT]}, {"type": "STRING"}),
        ({"anyOf": [{"anyOf": [TEXT, NULL]}]}, {"type": "STRING", "nullable": True}),
    ],
)
def test_the_openapi_form_says_the_same(schema: Any, form: Any) -> None:
    assert fitted(object_of({"p": schema}), "gemini_openapi")["properties"]["p"] == form
    assert losses_of(object_of({"p": schema}), "gemini_openapi") == []


@pytest.mark.parametrize(
    ("schema", "form"),
    [
        (
            {"type": "integer", "enum": [60, 1440], "description": "Minutes"},
            {"type": "INTEGER", "description": "Minutes (enum: [60,1440])"},
        ),  # 89
        ({"enum": [True, 1]}, {"type": "BOOLEAN", "description": "(enum: [true,1])"}),
        ({"const": 5}, {"type": "INTEGER", "description": "(const: 5)"}),
        ({"const": 0.5}, {"type": "NUMBER", "description": "(const: 0.5)"}),
        ({"const": {}}, {"type": "OBJECT", "description": "(const: {})", "properties": {}}),
        (
            {"const": []},
            {"type": "ARRAY", "description": "(const: [])", "items": {"type": "STRING"}},
        ),
        ({"const": None}, {"type": "STRING", "description": "(const: null)"}),
        (
            {"type": "string", "format": "uri", "x-y": 1},
            {"type": "STRING", "description": '(format: "uri"; x-y: 1)'},
        ),
        (
            {"additionalProperties": TEXT},
            {
                "type": "OBJECT",
                "description": '(additionalProperties: {"type":"string"})',
                "properties": {},
            },
        ),
        ({}, {"type": "STRING"}),
        (True, {"type": "STRING"}),
        (NULL, {"type": "STRING"}),
        ({"type": "array"}, {"type": "ARRAY", "items": {"type": "STRING"}}),
        (
            {"prefixItems": [TEXT, {"type": "integer"}]},
            {"type": "ARRAY", "items": {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}},
        ),
    ],
)
def test_what_the_openapi_form_cannot_say_is_named(schema: Any, form: Any) -> None:
    assert fitted(object_of({"p": schema}), "gemini_openapi")["properties"]["p"] == form
    assert losses_of(object_of({"p": schema}), "gemini_openapi") != []
