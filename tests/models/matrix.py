"""The matrix: each of seven endpoints takes over, in mid-loop, what any other one has begun.

A cell lets one endpoint's simulated model speak (its replies read by our own reader, its seals
remembered), then hands the run to another endpoint, which goes on for a step, and back again. Each
of the three requests must be accepted by the simulator, by the vendor's own types and by the rules
of order, and must hold no thought of anybody else. Run as a program it prints the table.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace as changed
from typing import Any

from models.endpoints import DOUBTS, ENDPOINTS, PAIRS, Endpoint, strict
from models.shapes import SHAPES, TOOLS, Answers, Shape, Step
from msgspec.structs import replace
from simulators.gateway import Gateway
from simulators.saying import Call, Say

from goldseam.kernel.admission import Usable, admit
from goldseam.kernel.conversation import Conversation, Malformed, Message, ToolCall, ToolResult
from goldseam.kernel.request import ModelRequest, ModelResponse, TokenUsage
from goldseam.models.dialect import WireEvent
from goldseam.models.json_text.action_parser import parse_json_action
from goldseam.models.json_text.messages import build_provider_messages

LIMIT = 8192


class Desk:
    """An endpoint at work in one run: it asks its model, and answers for what it asks."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.profile = endpoint.profiles[0]
        self._dialects = [endpoint.dialect() for _ in endpoint.profiles]
        self._gateway = Gateway(facts=changed(DOUBTS, chat=strict(endpoint.host)))
        self._marks: list[str] = []

    def hear(self, say: Say, history: Conversation) -> Conversation:
        """Return the history after the model's reply `say`, read and admitted as in any run."""
        endpoint = self.endpoint
        mark = f"secretly, as {endpoint.name}"
        if say.thought is not None:
            say = changed(say, thought=f"{mark}: {say.thought}")
            self._marks.append(mark)
        if not endpoint.gives_ids and any(len(c.call_id) < SHORT for c in say.calls):
            say = changed(say, calls=tuple(_bare(call) for call in say.calls))
        bad = {} if endpoint.gives_bad_arguments else _bad_ones(say)
        if bad:
            say = changed(say, calls=tuple(_mended(call) for call in say.calls))
        usable = admit(self._read(say), history)
        assert isinstance(usable, Usable), usable
        items = list(usable.response.items)
        for place, item in enumerate(items):
            if isinstance(item, ToolCall) and item.tool_name in bad:
                # No model of this endpoint writes such arguments: another one did.
                for seal in item.seals:
                    self._gateway.memory.issued.pop(seal.value, None)
                malformed = Malformed(raw=bad[item.tool_name], why="expected a JSON object")
                items[place] = replace(item, arguments=malformed, seals=())
        return history.extend(items)

    def _read(self, say: Say) -> ModelResponse:
        dialect = self._dialects[0]
        if self.endpoint.speaks_json_text:
            parsed = parse_json_action(_as_json_text(say))
            return ModelResponse(items=parsed.items, stop="end", usage=TokenUsage(), model="m")
        reader = dialect.reader(self.profile)
        for name, told in self._gateway.speak(self.endpoint.vendor, say).events:
            reader.feed(WireEvent(data=told, name=name))
        return reader.finish()

    def refusals(self, history: Conversation, strangers: list[str]) -> Iterator[str]:
        """Yield what anybody has against the request that this endpoint makes of `history`."""
        for dialect, profile in zip(self._dialects, self.endpoint.profiles, strict=True):
            request = ModelRequest(history=history, tools=TOOLS, max_output_tokens=LIMIT)
            if self.endpoint.speaks_json_text:
                request = _as_plain_chat(request)
            body: Any = dialect.write(request, profile).body
            text = json.dumps(body, ensure_ascii=False, allow_nan=False)
            try:
                body = json.loads(text.encode())
            except UnicodeEncodeError as error:
                yield f"{self.endpoint.name}: the body is no UTF-8: {error.reason}"
                continue
            refusal = self._gateway.judge(self.endpoint.vendor, body)
            found = [str(refusal.body) if refusal else None, *self.endpoint.judges(body, profile)]
            yield from (f"{self.endpoint.name}: {one[:600]}" for one in found if one)
            lost = [seal for seal in self._gateway.memory.issued if seal not in text]
            yield from (f"{self.endpoint.name}: its own seal {seal} is gone" for seal in lost)
            yield from (
                f"{self.endpoint.name}: shows {mark!r}" for mark in strangers if mark in text
            )

    @property
    def marks(self) -> list[str]:
        """The words by which the thoughts of this endpoint's model are known."""
        return self._marks


SHORT = 20


def _bare(call: Call) -> Call:
    return Call(name=call.name, arguments=call.arguments)


def _mended(call: Call) -> Call:
    sound = isinstance(_value(call.arguments), dict)
    return call if sound else Call(call_id=call.call_id, name=call.name)


def _bad_ones(say: Say) -> dict[str, str]:
    return {c.name: c.arguments for c in say.calls if not isinstance(_value(c.arguments), dict)}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _as_json_text(say: Say) -> str:
    actions = [
        {
            "type": "tool_call",
            "call_id": call.call_id,
            "tool_name": call.name,
            "arguments": _value(call.arguments),
        }
        for call in say.calls
    ]
    return json.dumps(actions or {"type": "final_answer", "content": say.text})


def _as_plain_chat(request: ModelRequest) -> ModelRequest:
    messages = build_provider_messages(request.history, request.tools)
    told = tuple(Message(role=one.role, text=one.content) for one in messages)
    return ModelRequest(history=told, tools=(), max_output_tokens=request.max_output_tokens)


def answered(history: Conversation, answers: Answers) -> Conversation:
    """Return `history` with a result for each open call, in call order."""
    for call_id, answer in zip(history.open_calls, answers, strict=True):
        history = history.append(
            ToolResult(call_id=call_id, content=answer.content, kind=answer.kind)
        )
    return history


def told(steps: tuple[Step, ...], desk: Desk) -> Conversation:
    """Return the history of a shape as it grows when the model of `desk` speaks in it."""
    history = Conversation()
    for step in steps:
        match step:
            case Say():
                history = desk.hear(step, history)
            case tuple():
                history = answered(history, step)
            case item:
                history = history.append(item)
    return history


def cell(source: Endpoint, target: Endpoint, shape: Shape) -> list[str]:
    """Return what anybody refuses when `source` hands `shape` to `target` and gets it back."""
    giver, taker = Desk(source), Desk(target)
    history = told(shape.steps, giver)
    found = [*taker.refusals(history, giver.marks)]
    history = told_further(history, taker)
    found += taker.refusals(history, giver.marks)
    found += giver.refusals(history, taker.marks)
    return found


def told_further(history: Conversation, desk: Desk) -> Conversation:
    """Return `history` after one more step of the loop, by the model of `desk`."""
    say = Say(text="I go on.", thought="so be it", calls=(Call(call_id="call_1", arguments="{}"),))
    return answered(desk.hear(say, history), Answers.of("done"))


def main() -> int:
    """Print the table and the count of accepted cells; 1 where any is refused."""
    accepted, refused = 0, list[str]()
    names = [endpoint.name for endpoint in ENDPOINTS]
    width = max(map(len, names))
    print("from \\ to".ljust(width), *(name.rjust(width) for name in names))
    for source in ENDPOINTS:
        row = [source.name.ljust(width)]
        for target in ENDPOINTS:
            if source is target:
                row.append("-".rjust(width))
                continue
            broken = {
                shape.name: found for shape in SHAPES if (found := cell(source, target, shape))
            }
            refused += [
                f"{source.name} -> {target.name}, {name}: {found[0]}"
                for name, found in broken.items()
            ]
            accepted += len(SHAPES) - len(broken)
            row.append(f"{len(SHAPES) - len(broken)} of {len(SHAPES)}".rjust(width))
        print(*row)
    print(*refused, f"{accepted} of {len(PAIRS) * len(SHAPES)}", sep="\n")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
