"""Calls that leaked into a model's words: the markup of its own training, which no host read.

Lifted by a table of forms, only for tools on offer, only outside code fences (case 109): an answer
may show markup as an example. What cannot be read is refused aloud, never shown as an answer (case
107), so that no markup enters the history (case 106). Pure.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from goldseam.kernel.conversation import Message, ToolCall, arguments_from_text
from goldseam.kernel.json_text import BadJsonError, Json, read_json, write_json
from goldseam.kernel.request import ModelResponse, Remark, ReplyItem, ToolSpec
from goldseam.models.json_paths import inner_text

_Call: TypeAlias = tuple[str, str]
"""A tool's name and the text of its arguments."""

_Parse: TypeAlias = Callable[[str], list[_Call]]

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
_SEP = "<\uff5ctool▁sep\uff5c>"
_NAMED = re.compile(
    rf'\s*(?:[\[{{].{{0,200}}?"name"\s*:\s*"([^"]+)"|(?:<function=|function{_SEP})?([\w.-]+))',
    re.DOTALL,
)
_TAG = re.compile(r"<parameter(?:=| name=\")([\w.-]+)\"?>\n?(.*?)\n?</parameter>", re.DOTALL)
_WRAPPERS = re.compile(
    r"</?(?:tool_calls|function_calls)>|<\|tool_calls_section_(?:begin|end)\|>"
    r"|<\uff5ctool▁calls▁(?:begin|end)\uff5c>|<\|eom_id\|>"
)


class _Form(Struct, frozen=True):
    """One way of writing a call; without a `closer` it goes on to the end of the text."""

    opener: str
    closer: str
    parse: _Parse


def lift_leaked_calls(reply: ModelResponse, tools: Sequence[ToolSpec]) -> ModelResponse:
    """Return `reply` with the calls to `tools` that stand in its words as calls.

    A reply that has calls, or did not end by itself, stays as it is. Where a call is there but
    cannot be read the reply ends as `malformed_call`.
    """
    has_calls = any(isinstance(item, ToolCall) for item in reply.items)
    if has_calls or reply.stop not in {"end", "tool_calls"}:
        return reply
    offered = {tool.name: tool for tool in tools}
    lifted = [_lift(item, offered) for item in reply.items]
    if any(found is None for found in lifted):
        remark = Remark(code="leaked_call", text="a call stands in the words and cannot be read")
        return replace(reply, stop="malformed_call", remarks=(*reply.remarks, remark))
    items = tuple(item for found in lifted if found for item in found)
    calls = [item for item in items if isinstance(item, ToolCall)]
    if not calls:
        return reply
    names = ", ".join(call.tool_name for call in calls)
    remark = Remark(code="leaked_call", text=f"calls were found in the words: {names}")
    return replace(reply, items=items, stop="tool_calls", remarks=(*reply.remarks, remark))


def _lift(item: ReplyItem, offered: dict[str, ToolSpec]) -> list[ReplyItem] | None:
    """Return what `item` comes to, `None` where a call in it cannot be read."""
    if not isinstance(item, Message):
        return [item]
    calls, kept, end = list[ReplyItem](), list[str](), 0
    for start, stop, form in _blocks(item.text):
        inner = item.text[start + len(form.opener) : stop or len(item.text)]
        if start < end:
            continue
        found = form.parse(inner) if stop or not form.closer else []
        known = [name in offered for name, _ in found] or [_begins_with_one_of(offered, inner)]
        if not any(known):
            continue
        if not found or not all(known):
            return None
        calls += [_call(name, raw, offered[name]) for name, raw in found]
        kept.append(item.text[end:start])
        end = len(item.text) if stop is None else stop + len(form.closer)
    if not calls:
        return [item]
    text = _WRAPPERS.sub("", "".join((*kept, item.text[end:]))).strip()
    return [*([replace(item, text=text)] if text else []), *calls]


def _blocks(text: str) -> Iterator[tuple[int, int | None, _Form]]:
    """Yield where each block outside code fences begins and where its closer stands, in order."""
    found = list[tuple[int, int | None, _Form]]()
    for form in _FORMS:
        start = text.find(form.opener)
        while start >= 0:
            stop = text.find(form.closer, start) if form.closer else -1
            found.append((start, stop if stop >= 0 else None, form))
            start = text.find(form.opener, stop) if stop >= 0 else -1
    if not found:
        return
    fences = [match.span() for match in _FENCE.finditer(text)]
    for block in sorted(found, key=lambda block: block[0]):
        if not any(first <= block[0] < last for first, last in fences):
            yield block


def _begins_with_one_of(offered: dict[str, ToolSpec], inner: str) -> bool:
    """Whether `inner`, which cannot be read, begins with the name of a tool on offer."""
    named = _NAMED.match(inner)
    return named is not None and _bare(named[1] or named[2]) in offered


def _bare(name: str) -> str:
    return name.strip().removeprefix("functions.").partition(":")[0]


def _call(name: str, raw: str, tool: ToolSpec) -> ToolCall:
    if raw.startswith("<"):
        raw = write_json({key: _typed(tool, key, text) for key, text in _TAG.findall(raw)})
    return ToolCall(call_id="", tool_name=name, arguments=arguments_from_text(raw))


def _typed(tool: ToolSpec, key: str, text: str) -> Json:
    """Return an argument that came between tags: text, unless the tool's schema says otherwise."""
    if inner_text(read_json(tool.parameters), "properties", key, "type") in {"string", ""}:
        return text
    try:
        return read_json(text)
    except BadJsonError:
        return text


def _json_calls(inner: str) -> list[_Call]:
    if inner.lstrip().startswith("<function="):
        return _tagged(inner.strip().removeprefix("<function=").removesuffix("</function>"))
    if "[ARGS]" in inner and not inner.lstrip().startswith(("[", "{")):
        return _parted("[ARGS]")(inner)
    try:
        value = read_json(_WRAPPERS.sub("", inner).strip())
    except BadJsonError:
        return []
    objects = value if isinstance(value, list) else [value]
    return [call for each in objects for call in _json_call(each)]


def _json_call(value: Json) -> list[_Call]:
    match value:
        case {"name": str(name), "arguments": given} | {"name": str(name), "parameters": given}:
            return [(name, given if isinstance(given, str) else write_json(given))]
        case _:
            return []


def _tagged(inner: str) -> list[_Call]:
    """Read a name, then arguments as JSON or one by one between tags."""
    name, _, rest = inner.partition(">")
    rest = rest.strip()
    return [(name.strip().strip('"'), rest if rest.startswith("{") else f"<{rest}")]


def _parted(mark: str) -> _Parse:
    """Return what reads the name in front of `mark`, and the arguments behind it."""

    def parse(inner: str) -> list[_Call]:
        name, _, rest = inner.removeprefix(f"function{mark}").partition(mark)
        if not rest:  # the name on a line of its own, the arguments in a fence
            name, _, rest = name.partition("\n")
        return [(_bare(name), re.sub(r"^```\w*|```$", "", rest.strip()).strip())]

    return parse


_FORMS = (
    _Form("<tool_call>", "</tool_call>", _json_calls),
    _Form("<function=", "</function>", _tagged),
    _Form('<invoke name="', "</invoke>", _tagged),
    _Form("[TOOL_CALLS]", "", _json_calls),
    _Form("<|python_tag|>", "", _json_calls),
    _Form("<|tool_call_begin|>", "<|tool_call_end|>", _parted("<|tool_call_argument_begin|>")),
    _Form("<\uff5ctool▁call▁begin\uff5c>", "<\uff5ctool▁call▁end\uff5c>", _parted(_SEP)),
)
"""Hermes and Qwen; Llama and Qwen Coder; Claude; Mistral; Llama; Kimi; DeepSeek."""
