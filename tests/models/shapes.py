"""The twelve shapes of history that the matrix hands from one endpoint to another."""

from dataclasses import dataclass
from typing import Self, TypeAlias

from simulators.saying import Call, Say

from goldseam.kernel.conversation import Feedback, Message, ResultKind
from goldseam.kernel.request import ToolSpec


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The result of one call."""

    content: str
    kind: ResultKind = "done"


class Answers(tuple[Answer, ...]):
    """The results of all open calls, in call order."""

    __slots__ = ()

    @classmethod
    def of(cls, *contents: str, kind: ResultKind = "done") -> Self:
        """Return one result for each of `contents`."""
        return cls(Answer(content=content, kind=kind) for content in contents)


Step: TypeAlias = Message | Feedback | Say | Answers


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A history up to the place where another model takes over."""

    name: str
    steps: tuple[Step, ...]


def _user(text: str) -> Message:
    return Message(role="user", text=text)


def _reads(path: str, call_id: str = "call_1", name: str = "read_file") -> Call:
    return Call(call_id=call_id, name=name, arguments=f'{{"path":"{path}"}}')


SYSTEM = Message(role="system", text="You mend code.")
ASK = _user("What do notes.txt and todo.txt say?")
OPENING = (SYSTEM, ASK)
NOTES, TODO = _reads("notes.txt"), _reads("todo.txt", "call_2")

MEGABYTE = "0123456789abcdé\n" * (1_000_000 // 17)
HOSTILE = ("a\ud800b\udc00", "\ud83d\ude00 \ud83d", "nul \x00 byte", "", " \n\t ", MEGABYTE)
EXOTIC = ("c" * 80, "call:é/ñ #1 \U0001f600", "functions.read_file:0|x", "0", "-_-")

TOOLS = (
    ToolSpec(
        name="read_file",
        description="Reads a file.",
        parameters='{"additionalProperties":false,"properties":{"path":{"type":"string"}},'
        '"required":["path"],"type":"object"}',
        reads_only=True,
    ),
    ToolSpec(name="list_dir", description="Lists.", parameters='{"type":"object"}'),
    ToolSpec(
        name="search",
        description="Searches.",
        parameters='{"$defs":{"Glob":{"anyOf":[{"type":"string"},{"type":"null"}]}},'
        '"properties":{"context":{"enum":[1,2],"type":"integer"},"glob":{"$ref":"#/$defs/Glob"}},'
        '"required":["glob"],"type":"object"}',
    ),
)

SHAPES = (
    Shape(
        name="plain",
        steps=(*OPENING, Say(text="Which folder?"), _user("This one."), Feedback(text="Go on.")),
    ),
    Shape(name="one call", steps=(*OPENING, Say(calls=(NOTES,)), Answers.of("buy milk"))),
    Shape(
        name="parallel calls",
        steps=(
            *OPENING,
            Say(
                text="I look around.",
                calls=(
                    NOTES,
                    Call(call_id="call_2", name="list_dir"),
                    _reads("a", "call_3", "search"),
                ),
            ),
            Answers.of("buy milk", "notes.txt\ntodo.txt", "no match"),
        ),
    ),
    Shape(
        name="same-name calls",
        steps=(*OPENING, Say(calls=(NOTES, TODO)), Answers.of("buy milk", "sleep")),
    ),
    Shape(
        name="error result",
        steps=(
            *OPENING,
            Say(calls=(NOTES,)),
            Answers.of("no such file", kind="failed"),
            Say(calls=(TODO,)),
            Answers.of("", kind="denied"),
        ),
    ),
    Shape(
        name="malformed arguments",
        steps=(
            *OPENING,
            Say(
                calls=(
                    Call(call_id="call_1", name="read_file", arguments='["notes.txt"]'),
                    Call(call_id="call_2", name="search", arguments='{"path": notes.txt}'),
                )
            ),
            Answers.of("expected an object", "not JSON", kind="denied"),
        ),
    ),
    Shape(
        name="thinking with seals mid-loop",
        steps=(
            *OPENING,
            Say(thought="first the notes", text="The notes.", calls=(NOTES,)),
            Answers.of("buy milk"),
            Say(thought="then both", calls=(_reads("a", "call_2"), _reads("b", "call_3"))),
            Answers.of("a", "b"),
            Say(thought="", calls=(_reads("c", "call_4"),)),
            Answers.of("c"),
        ),
    ),
    Shape(
        name="redacted thinking",
        steps=(
            *OPENING,
            Say(redacted=True, calls=(NOTES,)),
            Answers.of("buy milk"),
            Say(redacted=True, text="It says: buy milk."),
            _user("And todo.txt?"),
            Say(redacted=True, text="I look.", calls=(TODO,)),
            Answers.of("sleep"),
        ),
    ),
    Shape(
        name="ids reused across turns",
        steps=(
            *OPENING,
            Say(thought="once", calls=(NOTES,)),
            Answers.of("buy milk"),
            Say(thought="twice", calls=(_reads("todo.txt"), TODO)),
            Answers.of("sleep", "sleep"),
            Say(text="Milk, then sleep."),
            _user("And now?"),
            Say(thought="again", calls=(NOTES, TODO)),
            Answers.of("buy bread", "sleep"),
        ),
    ),
    Shape(
        name="80-character and exotic ids",
        steps=(
            *OPENING,
            Say(calls=tuple(_reads(f"{n}.txt", call_id) for n, call_id in enumerate(EXOTIC))),
            Answers.of(*"abcde"),
        ),
    ),
    Shape(
        name="interrupted call",
        steps=(
            *OPENING,
            Say(thought="both at once", calls=(NOTES, TODO)),
            Answers((Answer(content="", kind="unknown"), Answer(content="", kind="cut_off"))),
            _user("I stopped you. Go on."),
            Message(role="system", text="Be brief."),
            Say(calls=(_reads("notes.txt", "call_3"),)),
            Answers.of("stopped", kind="interrupted"),
            _user("Try once more."),
        ),
    ),
    Shape(
        name="hostile text",
        steps=(
            Message(role="system", text="\x00 \ud800"),
            *map(_user, HOSTILE),
            Say(
                text="\x00 ok ",
                calls=(*(_reads(f"{n}\\u0000\\ud800", f"call_{n}") for n in range(len(HOSTILE))),),
            ),
            Answers.of(*HOSTILE),
            Message(role="assistant", text=" "),
            Message(role="assistant", text="trailing \n"),
            Message(role="system", text=""),
        ),
    ),
)
