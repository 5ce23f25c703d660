"""A repository in memory behind the tools' texts: what a mender meets, without any process."""

import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import CodeType, FrameType, ModuleType
from typing import Any

from goldseam.kernel.conversation import (
    Arguments,
    Conversation,
    Message,
    ResultKind,
    ToolCall,
    ToolResult,
)
from goldseam.kernel.request import ToolSpec
from goldseam.models.json_text.action_parser import parse_json_action
from goldseam.models.json_text.messages import build_provider_messages
from goldseam.models.mender.mender import NEEDED_TOOLS, next_text

MAX_STEPS = 3_000
"""Lines that one test may run: an edited loop may never end."""

TOOLS = tuple(ToolSpec(name=name, description="", parameters="{}") for name in NEEDED_TOOLS)


class TooLongError(Exception):
    """A test ran more lines than any of these needs."""


class World:
    """Files and what the tools would say of them."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = dict(files)
        self.tried = 0
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def answer(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """Return a tool's text, and whether it is an error."""
        self.calls.append((tool, arguments))
        match tool:
            case "run_tests":
                return self._run_tests(arguments.get("names", []))
            case "read_file":
                return self._read_file(arguments["path"], arguments["start_line"])
            case "search":
                return self._search(arguments["pattern"])
            case "edit_file":
                return self._edit_file(arguments)
            case "try_edits":
                return self._try_edits(arguments)
            case _:
                return f"There is no tool named {tool}.", True

    def _run_tests(self, names: Sequence[str]) -> tuple[str, bool]:
        failed = failures(self.files, names)
        passed = len(names_of_tests(self.files)) - len(failed)
        lines = [f"TESTS: {passed} passed, {len(failed)} failed, 0 errors, 0 skipped (exit 1)"]
        lines += ["FAILING:", *failed] if failed else []
        return "\n".join([*lines, "OUTPUT:", *failed.values()]), False

    def _read_file(self, path: str, start: int) -> tuple[str, bool]:
        if path not in self.files:
            return f'"{path}" does not exist', True
        lines = self.files[path].removesuffix("\n").split("\n")
        shown = [f"{n:>6}| {line}" for n, line in enumerate(lines, 1) if n >= start]
        return "\n".join([f"{path}: lines {start}-{len(lines)} of {len(lines)}", *shown]), False

    def _search(self, pattern: str) -> tuple[str, bool]:
        found: list[str] = []
        for path, text in self.files.items():
            numbered = enumerate(text.split("\n"), 1)
            hits = [f"{n:>6}: {line}" for n, line in numbered if re.search(pattern, line)]
            found += [path, *hits] if hits else []
        return "\n".join(["some matches:", *found]), False

    def _edit_file(self, edit: dict[str, Any]) -> tuple[str, bool]:
        text = self.files[edit["path"]]
        if text.count(edit["old_text"]) != 1:
            return "old_text is not there once", True
        self.files[edit["path"]] = text.replace(edit["old_text"], edit["new_text"])
        return f"{edit['path']}: edited", False

    def _try_edits(self, arguments: dict[str, Any]) -> tuple[str, bool]:
        lines = []
        names = arguments.get("names", [])
        chosen = names or names_of_tests(self.files)
        for number, alternative in enumerate(arguments["alternatives"], 1):
            self.tried += 1
            files = dict(self.files)
            for edit in alternative["edits"]:
                files[edit["path"]] = edited(files[edit["path"]], edit)
            failed = failures(files, names)
            lines.append(
                f"#{number} FAIL ({len(chosen) - len(failed)} passed, {len(failed)} failed: …)"
                if failed
                else f"#{number} PASS ({len(chosen)} passed)"
            )
        return "\n".join([f"TRIED: {len(lines)} alternatives", *lines]), False


def edited(text: str, edit: dict[str, Any]) -> str:
    """Return `text` with the edit made at its line."""
    lines = text.split("\n")
    start = sum(len(line) + 1 for line in lines[: edit["line"] - 1])
    old, new = str(edit["old_text"]), str(edit["new_text"])
    assert text.startswith(old, start)
    return text[:start] + new + text[start + len(old) :]


def names_of_tests(files: Mapping[str, str]) -> list[str]:
    """Return the names of all tests."""
    return [
        f"{path}::{name}"
        for path, text in files.items()
        if path.startswith("test")
        for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)
    ]


def failures(files: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Return the tracebacks of the tests that fail, by name."""
    wanted = names or names_of_tests(files)
    try:
        modules = _load(files)
    except Exception:  # noqa: BLE001 - whatever an edit brings about
        return dict.fromkeys(wanted, traceback.format_exc(limit=-1))
    failed = {}
    for name in wanted:
        path, _, test = name.partition("::")
        try:
            _limited(modules[path].__dict__[test])
        except Exception as error:  # noqa: BLE001 - whatever an edit brings about
            frames = traceback.extract_tb(error.__traceback__, limit=-20)
            own = [frame for frame in frames if frame.filename in files]
            shown = "".join(traceback.format_list(own))
            failed[name] = f"{shown}{type(error).__name__}"
    return failed


def _load(files: Mapping[str, str]) -> dict[str, ModuleType]:
    modules: dict[str, ModuleType] = {}
    before = dict(sys.modules)
    try:
        for path, text in sorted(files.items(), key=lambda item: item[0].startswith("test")):
            name = path.removesuffix(".py").replace("/", ".")
            module = modules[path] = ModuleType(name)
            sys.modules[name] = module
            exec(_compiled(path, text), module.__dict__)
    finally:
        for name in sys.modules.keys() - before.keys():
            del sys.modules[name]
    return modules


@lru_cache(maxsize=256)
def _compiled(path: str, text: str) -> CodeType:
    return compile(text, path, "exec")


def _limited(act: Callable[[], object]) -> None:
    steps = 0

    def count(_frame: FrameType, _event: str, _argument: object) -> Any:
        nonlocal steps
        steps += 1
        if steps > MAX_STEPS:
            raise TooLongError
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        act()
    finally:
        sys.settrace(before)


def played(
    world: World, issue: str = "It is wrong.", *, turns: int = 60, doubt: str | None = None
) -> tuple[Conversation, str]:
    """Let the mender play until its answer; return the conversation and the last answer.

    Where there is `doubt`, each answer is met with it, until the same answer comes again.
    """
    history = Conversation([Message(role="system", text="Mend."), Message(role="user", text=issue)])
    answers: list[str] = []
    for _ in range(turns):
        item = said(history)
        history = history.append(item)
        if isinstance(item, Message):
            answers.append(item.text)
            if doubt is None or answers.count(item.text) > 1:
                return history, item.text
            history = history.append(Message(role="user", text=doubt))
            continue
        assert isinstance(item.arguments, Arguments)
        text, is_error = world.answer(item.tool_name, item.arguments.value())
        kind: ResultKind = "failed" if is_error else "done"
        history = history.append(ToolResult(call_id=item.call_id, content=text, kind=kind))
    raise AssertionError("no answer in time")


def said(history: Conversation, tools: tuple[ToolSpec, ...] = TOOLS) -> Message | ToolCall:
    """Return what the mender says next, read by the dialect's own strict parser."""
    messages = build_provider_messages(history, tools)
    (item,) = parse_json_action(next_text(messages)).items
    assert isinstance(item, Message | ToolCall)
    return item
