"""The generateContent simulator refuses what the rulebook lists, and takes the rest."""

from typing import Any

import pytest
from simulators import gemini
from simulators.refusal import Handed
from simulators.telling import told


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": [*parts]}


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": [*parts]}


def gem(*contents: Any, **more: Any) -> dict[str, Any]:
    return {"contents": [user({"text": "Hi"}), *contents], **more}


def asks(name: str = "read_file", signature: str | None = "c2ln", **more: Any) -> dict[str, Any]:
    signed = {"thoughtSignature": signature} if signature else {}
    return {"functionCall": {"name": name, "args": {}, **more}, **signed}


def gives(name: str = "read_file", **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"output": "ok"}, **more}}


def declares(**more: Any) -> dict[str, Any]:
    return gem(tools=[{"functionDeclarations": [{"name": "t", **more}]}])


DUMMY = "skip_thought_signature_validator"
UNSIGNED = asks(signature=None)
GEM_KNOWING = gemini.Facts(issued={"c2ln": Handed(number=0, on=gemini.mark_of(asks()))})

GEMINI_REFUSED = [
    (
        "GEM-5",
        declares(parameters={"type": "OBJECT", "additionalProperties": False}),
        '"additionalProperties" at',
    ),
    ("GEM-6", gem(model({"functionCalls": []})), 'Unknown name "functionCalls"'),
    ("GEM-7", gem(model({"thought": True})), "required oneof field 'data'"),
    ("GEM-7", gem(model({**asks(), "text": "x"}), user(gives())), "already set"),
    ("GEM-8", gem(model(asks(args="{}")), user(gives())), "function_call.args"),
    ("GEM-8", gem(model(asks()), user(gives(response="ok"))), "function_response.response"),
    ("GEM-9", gem(model(asks()), user(gives(""))), "Name cannot be empty"),
    ("GEM-9", gem(model(asks()), user(gives("other"))), "does not match"),
    ("GEM-10", gem(model(asks()), user(gives(id="made_up"))), "does not match the id"),
    ("GEM-11", gem(user()), "contents.parts must not be empty."),
    ("GEM-12", gem({"role": "function", "parts": [gives()]}), "Please use a valid role"),
    (
        "GEM-14",
        gem(model(asks(), UNSIGNED), user(gives())),
        "the number of function response parts",
    ),
    (
        "GEM-14",
        gem(model(asks(), UNSIGNED), user(gives()), user(gives())),
        "the number of function",
    ),
    (
        "GEM-15",
        {"contents": [model(asks()), user(gives())]},
        "function call turn comes immediately",
    ),
    ("GEM-15", gem(model({"text": "x"}), model(asks()), user(gives())), "function call turn comes"),
    ("GEM-16", gem(user(gives())), "function response turn comes immediately"),
    (
        "GEM-19",
        gem(model(asks(signature=None, thoughtSignature="x")), user(gives())),
        "thoughtSignature",
    ),
    ("GEM-21", gem(model(UNSIGNED), user(gives())), "default_api:read_file"),
    ("GEM-21", gem(model(UNSIGNED, asks()), user(gives(), gives())), "missing a thought_signature"),
    ("GEM-21", gem(model(asks()), user(gives()), model(UNSIGNED), user(gives())), "position 3"),
    ("GEM-23", gem(model(asks(signature="Zm9v")), user(gives())), "Corrupted thought signature."),
    ("GEM-24", gem(model(asks(), asks(signature=DUMMY)), user(gives(), gives())), "Corrupted"),
    ("GEM-27", gem(model(asks("other")), user(gives("other"))), "Corrupted thought signature."),
    ("GEM-28", declares(parameters={"$ref": "#/x"}), '"$ref"'),
    ("GEM-29", declares(parameters={}, parametersJsonSchema={}), "mutually exclusive"),
    ("GEM-31", gem(tools=[{"functionDeclarations": [{"name": "1"}]}]), "letter or an underscore"),
    ("GEM-32", gem(toolConfig={"functionCallingConfig": {}}), "without function_declarations."),
]

GEMINI_TAKEN = [
    (
        "GEM-4",
        gem(
            model({
                "function_call": {"name": "read_file", "args": {}},
                "thought_signature": "c2ln",
            }),
            user(gives()),
            system_instruction={"parts": [{"text": "x"}]},
        ),
    ),
    ("GEM-7", gem(model({"text": ""}))),
    (
        "GEM-8",
        gem(model({"functionCall": {"name": "x"}, "thoughtSignature": DUMMY}), user(gives("x"))),
    ),
    ("GEM-17", gem(model(asks(), UNSIGNED), user(gives(), gives()))),
    ("GEM-21", gem(model(UNSIGNED), user(gives()), model({"text": "x"}), user({"text": "y"}))),
    (
        "GEM-25",
        gem(model(asks(signature="c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=")), user(gives())),
    ),
    ("GEM-29", declares(parametersJsonSchema={"additionalProperties": False, "$ref": "#/x"})),
    ("GEM-30", declares(parameters={"type": "object", "properties": {"a_b": {"type": "string"}}})),
    (
        "GEM-33",
        gem(generationConfig={"thinkingConfig": {"thinkingBudget": 1, "thinkingLevel": "LOW"}}),
    ),
]


@pytest.mark.parametrize(("rule", "body", "words"), GEMINI_REFUSED)
def test_gemini_refuses_as_the_rule_says(rule: str, body: dict[str, Any], words: str) -> None:
    refusal = gemini.judge(body, GEM_KNOWING)
    assert words in told(refusal), rule
    assert refusal is not None
    assert (refusal.status, refusal.body["error"]["status"]) == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize(("rule", "body"), GEMINI_TAKEN)
def test_gemini_takes_what_the_rule_accepts(rule: str, body: dict[str, Any]) -> None:
    assert told(gemini.judge(body, GEM_KNOWING)) == "", rule


def test_older_models_and_one_serving_side_differ() -> None:  # GEM-24, GEM-26
    unsigned = gem(model(UNSIGNED), user(gives()))
    assert gemini.judge(unsigned, gemini.Facts(checks_signatures=False)) is None
    dummy = gem(model(asks(signature="context_engineering_is_the_way_to_go")), user(gives()))
    assert gemini.judge(dummy) is None
    assert gemini.judge(dummy, gemini.Facts(takes_both_dummies=False)) is not None


def test_budget_and_level_together_are_refused_behind_the_switch() -> None:  # GEM-33
    body = gem(generationConfig={"thinkingConfig": {"thinkingBudget": 1, "thinkingLevel": "LOW"}})
    assert gemini.judge(body, gemini.Facts(doubts=frozenset(["GEM-33"]))) is not None
