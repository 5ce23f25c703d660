"""Errors that correct: what a model is told of a call that could not run.

Pure. Each text names the tool, the argument, what was expected, what came and the next step, in at
most `LIMIT` characters; equal faults give equal text.
"""

import re
from collections.abc import Sequence
from typing import assert_never

from goldseam.kernel.conversation import Malformed, json_kind
from goldseam.kernel.json_text import Json, write_json
from goldseam.tools.problems import (
    Missing,
    OutOfRange,
    Problem,
    Unknown,
    Unsendable,
    WrongType,
    nearest_name,
)
from goldseam.tools.schema import Schema, branches, part, required

LIMIT = 600
"""Characters that one text of guidance may have."""

_QUOTED = 60
_LINE = 180
_EXAMPLE = 200
_PLACE = re.compile(r"line (\d+), column (\d+)")


_NOUNS = {
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "array": "an array",
    "object": "an object",
    "boolean": "true or false",
    "null": "null",
}
_SIMPLEST: dict[str, Json] = {"string": "text", "boolean": True, "integer": 1, "number": 1}


def unknown_tool(name: str, known: Sequence[str]) -> str:
    """Return what to say of a call of a tool that is not there."""
    nearest = nearest_name(name, list(known))
    guess = f" Did you mean {nearest}?" if nearest else ""
    told = f"There is no tool named {_quoted(name)}.{guess} Call one of: {', '.join(known)}."
    return shortened(told, LIMIT)


def malformed_arguments(tool: str, schema: Schema, malformed: Malformed) -> str:
    """Return what to say of arguments that are no JSON object, quoting where they went wrong."""
    why = shortened(malformed.why, _LINE)
    told = f"{tool} did not run, its arguments cannot be read: {why}, {_around(malformed)}."
    return f"{told}\nNext: send them as one JSON object{_such_as_call(schema)}."


def bad_arguments(tool: str, schema: Schema, problems: Sequence[Problem]) -> str:
    """Return what to say of arguments with `problems`: as many of them as `LIMIT` has room for."""
    count = len(problems)
    are = "1 argument is" if count == 1 else f"{count} arguments are"
    head = f"{tool} did not run, {are} wrong:"
    foot = f"Next: send the whole call again, corrected{_such_as_call(schema)}."
    room = LIMIT - len(head) - len(foot) - len("\n- and 9999 more\n")
    lines: list[str] = []
    for problem in problems:
        line = f"- {shortened(_told(problem), _LINE)}"
        room -= len(line) + 1
        if room < 0 and lines:
            lines.append(f"- and {count - len(lines)} more")
            break
        lines.append(line)
    return "\n".join((head, *lines, foot))


def refused_arguments(tool: str, schema: Schema, why: str) -> str:
    """Return what to say of arguments that fit the schema and are refused by their type."""
    told = f"{tool} did not run, its arguments are refused: {shortened(why, _LINE)}."
    return f"{told}\nNext: send the whole call again, corrected{_such_as_call(schema)}."


def example_call(schema: Schema) -> str:
    """Return JSON text of arguments that fit `schema`, or nothing where it would be too long."""
    text = write_json(_example(schema))
    return text if len(text) <= _EXAMPLE else ""


def shortened(text: str, limit: int) -> str:
    """Return `text` in at most `limit` characters, saying so where it was cut."""
    if len(text) <= limit:
        return text
    note = f"… ({len(text)} characters)"
    return text[: limit - len(note)] + note


def _told(problem: Problem) -> str:
    match problem:
        case Missing(where=where, schema=schema):
            return f"{_name(where)} is missing; expected {_expected(schema)}."
        case Unknown(where=where, nearest=nearest):
            guess = f"did you mean `{nearest}`?" if nearest else "leave it out."
            return f"{_name(where)} is no argument of this tool; {guess}"
        case WrongType(where=where, schema=schema, came=came):
            return f"{_name(where)} must be {_expected(schema)}; got {_came(came)}."
        case OutOfRange(where=where, schema=schema, came=came):
            return (
                f"{_name(where)} is out of range: must be {_expected(schema)}; got {_came(came)}."
            )
        case Unsendable(where=where, position=position):
            return (
                f"{_name(where)} holds half a character (a lone surrogate) at position {position}; "
                "write the character itself."
            )
        case _:
            assert_never(problem)


def _name(where: str) -> str:
    return f"`{_quoted(where)[1:-1]}`"


def _quoted(text: str) -> str:
    written = write_json(text if len(text) <= _QUOTED else f"{text[:_QUOTED]}...")
    # Escapes may make a short text long.
    return written if len(written) <= _QUOTED * 2 else f'{written[: _QUOTED * 2]}..."'


def _came(value: Json) -> str:
    match value:
        case str():
            size = f" ({len(value)} characters)" if len(value) > _QUOTED else ""
            return f"the string {_quoted(value)}{size}"
        case list():
            return f"an array of {len(value)}"
        case dict() | None:
            return json_kind(value)
        case bool() | int() | float():
            return shortened(write_json(value), _QUOTED)
        case _:
            assert_never(value)


def _expected(schema: Schema) -> str:
    example = _given_example(schema)
    such_as = "" if example is None else f", such as {shortened(write_json(example), _QUOTED)}"
    return " or ".join(_form(branch) for branch in branches(schema)) + such_as


def _form(schema: Schema) -> str:
    choices = schema.get("enum")
    if isinstance(choices, list):
        return f"one of {', '.join(write_json(choice) for choice in choices)}"
    noun = _NOUNS.get(str(schema.get("type")), "any value")
    sizes = _sizes(schema, "Length", "characters") + _sizes(schema, "Items", "items")
    return f"{noun}{_contents(schema)}{_numbers(schema)}{sizes}"


def _contents(schema: Schema) -> str:
    members = part(schema, "properties")
    if members:
        return f" with {', '.join(members)}"
    kind = part(schema, "items").get("type")
    return f" of {kind}s" if isinstance(kind, str) else ""


def _numbers(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    words = (("minimum", "at least"), ("exclusiveMinimum", "above"), ("maximum", "at most"))
    said = [f"{word} {schema[key]}" for key, word in words if key in schema]
    return f" {' and '.join(said)}" if said else ""


def _sizes(schema: Schema, of: str, unit: str) -> str:
    if schema.get(f"min{of}") == 1 and f"max{of}" not in schema:
        return " that is not empty"
    words = ((f"min{of}", "at least"), (f"max{of}", "at most"))
    said = [f"{word} {schema[key]}" for key, word in words if key in schema]
    return f" of {' and '.join(said)} {unit}" if said else ""


def _such_as_call(schema: Schema) -> str:
    example = example_call(schema)
    return f", such as {example}" if example else ""


def _given_example(schema: Schema) -> Json:
    examples = schema.get("examples")
    return examples[0] if isinstance(examples, list) and examples else None


def _example(schema: Schema) -> Json:
    given = _given_example(schema)
    if given is not None:
        return given
    match branches(schema)[0]:
        case {"type": "object"} as node:
            members = part(node, "properties")
            return {name: _example(part(members, name)) for name in required(node)}
        case {"type": "array", "items": dict() as items}:
            return [_example(items)]
        case {"enum": [first, *_]} | {"minimum": first}:
            return first
        case node:
            return _SIMPLEST.get(str(node.get("type")))


def _around(malformed: Malformed) -> str:
    place = _PLACE.search(malformed.why)
    if place is None:
        return f"in {_quoted(malformed.raw)}"
    lines = malformed.raw.split("\n")
    line = lines[min(int(place[1]), len(lines)) - 1]
    start = max(0, int(place[2]) - 1 - _QUOTED // 3)
    return f"near {_quoted(line[start : start + _QUOTED * 2 // 3])}"
