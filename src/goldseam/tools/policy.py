"""Whether a call may run: deny, ask or allow, the strictest wins, and nothing is allowed unsaid.

Pure: sees the call and the rules, never the workspace. Rules come from the person's settings and
from this file, never from a repository. They decide whether to ask; what *can* happen is decided
by the sandbox and the resolver, for no reading of a command is a wall.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from msgspec import Struct

from goldseam.kernel.json_text import Json

Decision: TypeAlias = Literal["deny", "ask", "allow"]

_READING = ("glob", "list_dir", "read_file", "repo_map", "search")
_EDITING = ("apply_patch", "edit_file", "write_file")
_TESTING = ("run_tests", "try_edits")

_STRICTEST_FIRST: tuple[Decision, ...] = ("deny", "ask", "allow")
_PLAIN_COMMAND = re.compile(r"[A-Za-z0-9_./:@%+,= -]*")
_COMMAND_JOINTS = re.compile(r"[;&|<>(){}$`\n\r]+")


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of policy.

    `tool` is a glob on the tool's name. With `argument`, the rule speaks only of calls that have
    an argument of that name, at any depth, whose text matches `glob`; `*` matches any text at all.
    """

    decision: Decision
    tool: str = "*"
    argument: str | None = None
    glob: str = "*"
    why: str = ""

    def __post_init__(self) -> None:
        if self.argument is None and self.glob != "*":
            raise ValueError("a rule with a glob names the argument that it is about")

    def __str__(self) -> str:
        about = "" if self.argument is None else f"({self.argument}: {self.glob})"
        return f"{self.decision} {self.tool}{about}"


class Argument(Struct, frozen=True, kw_only=True):
    """One text of a call, and what it may come to.

    A deny or ask rule matches where any of `readings` does; an allow rule only where all of
    `certain` do, and never where there is none: what cannot be read for certain is not allowed.
    """

    name: str
    readings: tuple[str, ...]
    certain: tuple[str, ...]


class Subject(Struct, frozen=True, kw_only=True):
    """A call as policy sees it."""

    tool: str
    arguments: tuple[Argument, ...]


class Ruling(Struct, frozen=True, kw_only=True):
    """What policy says, and why."""

    decision: Decision
    why: str


def rule_on(subject: Subject, *, rules: Iterable[Rule], defaults: Iterable[Rule]) -> Ruling:
    """Return the strictest word of the person's `rules`; where none speaks, that of `defaults`."""
    for group in (rules, defaults):
        speaking = [rule for rule in group if _speaks_of(rule, subject)]
        for decision in _STRICTEST_FIRST:
            for rule in speaking:
                if rule.decision == decision:
                    return Ruling(decision=decision, why=rule.why or f"the rule “{rule}” says so")
    return Ruling(decision="deny", why="no rule speaks of it, and what is not allowed is denied")


def default_rules(*, walls_hold: bool) -> tuple[Rule, ...]:
    """Return what holds where the person said nothing; `walls_hold` is a proved sandbox."""
    reading = (
        Rule(decision="allow", tool=name, why="it only reads the workspace") for name in _READING
    )
    editing = (
        Rule(decision="allow", tool=name, why="it changes nothing but the run's own clone")
        for name in _EDITING
    )
    testing = (
        Rule(decision="allow", tool=name, why="the repository's own tests are the run's proof")
        for name in _TESTING
    )
    command = (
        Rule(decision="allow", tool="run_command", why="the sandbox holds it")
        if walls_hold
        else Rule(
            decision="ask", tool="run_command", why="no sandbox holds commands on this machine"
        )
    )
    jobs = Rule(decision="allow", tool="jobs", why="it reaches only what run_command started")
    web = Rule(decision="ask", tool="web_fetch", why="it reaches out to the web")
    return (*reading, *editing, *testing, command, jobs, web)


def _speaks_of(rule: Rule, subject: Subject) -> bool:
    if not fnmatchcase(subject.tool, rule.tool):
        return False
    if rule.argument is None:
        return True
    about = [argument for argument in subject.arguments if argument.name == rule.argument]
    if rule.decision == "allow":
        return bool(about) and all(_certainly_matches(rule.glob, argument) for argument in about)
    return any(fnmatchcase(text, rule.glob) for argument in about for text in argument.readings)


def _certainly_matches(glob: str, argument: Argument) -> bool:
    return bool(argument.certain) and all(fnmatchcase(text, glob) for text in argument.certain)


def subject_of(
    tool: str,
    arguments: Mapping[str, Json],
    *,
    paths: frozenset[str],
    commands: frozenset[str],
    comes_to: Callable[[str], tuple[str, ...]],
) -> Subject:
    """Return how policy sees a call.

    `paths` and `commands` name the arguments that are such; `comes_to` gives the paths, relative
    to the workspace, that a path comes to once it is normalised and once links are followed: none
    where that is outside or unknown.
    """

    def read(name: str, text: str) -> Argument:
        if name in paths:
            return _path_argument(name, text, comes_to(text))
        if name in commands:
            return _command_argument(name, text)
        return Argument(name=name, readings=(text,), certain=(text,))

    return Subject(tool=tool, arguments=tuple(read(name, text) for name, text in _texts(arguments)))


def _texts(value: Json | Mapping[str, Json], name: str = "") -> Iterator[tuple[str, str]]:
    match value:
        case str():
            yield name, value
        case list():
            for item in value:
                yield from _texts(item, name)
        case Mapping():
            for key, member in value.items():
                yield from _texts(member, key)
        case _:
            return


def _path_argument(name: str, text: str, comes_to: tuple[str, ...]) -> Argument:
    readings = (text, posixpath.normpath(text), *comes_to)
    return Argument(name=name, readings=readings, certain=comes_to)


def _command_argument(name: str, text: str) -> Argument:
    parts = tuple(part.strip() for part in _COMMAND_JOINTS.split(text))
    plain = _PLAIN_COMMAND.fullmatch(text) is not None
    return Argument(name=name, readings=(text, *parts), certain=(text,) if plain else ())
