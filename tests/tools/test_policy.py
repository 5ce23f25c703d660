from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.tools.policy import (
    Argument,
    Decision,
    Rule,
    Ruling,
    Subject,
    default_rules,
    rule_on,
    subject_of,
)

LINKS = {"alias": ("alias", "secret.env"), "../x": (), "src/../secret.env": ("secret.env",)}


def subject(tool: str, arguments: Any) -> Subject:
    return subject_of(
        tool,
        arguments,
        paths=frozenset({"path"}),
        commands=frozenset({"command"}),
        comes_to=lambda path: LINKS.get(path, (path.removeprefix("./"),)),
    )


def decided(tool: str, arguments: Any, *rules: Rule) -> Decision:
    return rule_on(subject(tool, arguments), rules=rules, defaults=()).decision


def allow(tool: str, argument: str | None = None, glob: str = "*") -> Rule:
    return Rule(decision="allow", tool=tool, argument=argument, glob=glob)


def deny(tool: str, argument: str | None = None, glob: str = "*") -> Rule:
    return Rule(decision="deny", tool=tool, argument=argument, glob=glob)


STRICTNESS: list[Decision] = ["allow", "ask", "deny"]


@given(st.lists(st.sampled_from(STRICTNESS), min_size=1))
def test_the_strictest_rule_wins_in_any_order(decisions: list[Decision]) -> None:
    rules = [Rule(decision=decision) for decision in decisions]
    assert decided("t", {}, *rules) == max(decisions, key=STRICTNESS.index)


def test_what_no_rule_allows_is_denied() -> None:
    # B3.4, invariant 4
    assert rule_on(subject("t", {}), rules=(), defaults=()) == Ruling(
        decision="deny", why="no rule speaks of it, and what is not allowed is denied"
    )


def test_defaults_speak_only_where_the_person_was_silent() -> None:
    defaults = (Rule(decision="ask", tool="run_command", why="no walls"),)
    call = subject("run_command", {"command": "ls"})
    assert rule_on(call, rules=(), defaults=defaults) == Ruling(decision="ask", why="no walls")
    assert rule_on(call, rules=(allow("run_*"),), defaults=defaults) == Ruling(
        decision="allow", why="the rule “allow run_*” says so"
    )


@pytest.mark.parametrize(
    "path", ["secret.env", "./secret.env", "a/../secret.env", "src/../secret.env", "alias"]
)
def test_a_denied_path_is_denied_however_it_is_written(path: str) -> None:
    # security 6
    rules = (allow("*"), deny("read_file", "path", "secret.env"))
    assert decided("read_file", {"path": path}, *rules) == "deny"


def test_a_denied_path_is_denied_at_any_depth_of_the_arguments() -> None:
    rules = (allow("*"), deny("*", "path", "*.env"))
    edits = {"alternatives": [{"edits": [{"path": "a.py"}, {"path": "secret.env"}]}], "n": 1}
    assert decided("try_edits", edits, *rules) == "deny"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/a.py", "allow"),
        ("src/../secret.env", "deny"),
        ("../x", "deny"),
    ],
)
def test_a_path_is_allowed_by_what_it_comes_to(path: str, expected: Decision) -> None:
    assert decided("edit_file", {"path": path}, allow("*", "path", "src/*")) == expected


def test_every_path_of_a_call_needs_its_allowance() -> None:
    rule = allow("*", "path", "src/*")
    assert decided("t", {"edits": [{"path": "src/a"}, {"path": "src/b"}]}, rule) == "allow"
    assert decided("t", {"edits": [{"path": "src/a"}, {"path": "b"}]}, rule) == "deny"
    assert decided("t", {}, rule) == "deny"


@pytest.mark.parametrize(
    "command",
    ["ls -la && id", "ls; id", "ls | id", "ls &\nid", "ls $(id)", "ls `id`", "ls >x", "ls 'a'"],
)
def test_a_command_that_is_not_plain_is_never_allowed_by_its_text(command: str) -> None:
    # security 17-19, 22, 27
    assert decided("run_command", {"command": command}, allow("*", "command", "ls*")) == "deny"


def test_a_plain_command_is_allowed_by_its_text() -> None:
    assert decided("run_command", {"command": "ls -la"}, allow("*", "command", "ls *")) == "allow"


@pytest.mark.parametrize("command", ["rm x", "ls && rm x", "ls\nrm x", "echo $(rm x)"])
def test_a_denied_command_is_denied_as_a_part_too(command: str) -> None:
    rules = (allow("*"), deny("run_command", "command", "rm *"))
    assert decided("run_command", {"command": command}, *rules) == "deny"


def test_other_arguments_are_matched_as_they_stand() -> None:
    assert subject("search", {"pattern": "a/../b", "names": ["x"], "n": 1}) == Subject(
        tool="search",
        arguments=(
            Argument(name="pattern", readings=("a/../b",), certain=("a/../b",)),
            Argument(name="names", readings=("x",), certain=("x",)),
        ),
    )


@pytest.mark.parametrize(
    ("walls_hold", "tool", "expected"),
    [
        (True, "read_file", "allow"),
        (True, "edit_file", "allow"),
        (True, "run_command", "allow"),
        (False, "run_command", "ask"),
        (False, "run_tests", "allow"),
        (False, "repo_map", "allow"),
        (True, "web_fetch", "ask"),
        (True, "unheard_of", "deny"),
    ],
)
def test_what_holds_where_nobody_said_anything(
    walls_hold: bool, tool: str, expected: Decision
) -> None:
    defaults = default_rules(walls_hold=walls_hold)
    assert rule_on(subject(tool, {}), rules=(), defaults=defaults).decision == expected


def test_a_rule_from_settings_is_checked_when_it_is_read() -> None:
    read = msgspec.convert({"decision": "deny", "argument": "path", "glob": "*.env"}, Rule)
    assert str(read) == "deny *(path: *.env)"
    with pytest.raises(msgspec.ValidationError, match="names the argument"):
        msgspec.convert({"decision": "deny", "glob": "*.env"}, Rule)
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        msgspec.convert({"decision": "deny", "paths": "x"}, Rule)
