"""What a person is shown before agreeing to a call, and who answers where nobody is there.

Pure, but for the one method that a port makes asynchronous.
"""

import re
import unicodedata

from goldseam.kernel.conversation import Malformed, ToolCall
from goldseam.kernel.events import MustAsk
from goldseam.kernel.json_text import Json, write_json

SHOWN_CHARACTERS = 2_000
"""Of one argument; a longer one shows its head and its tail, and says so."""

# Shown as nothing, as a space that is none, or over other text (security 46).
_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_UNSEEN_LETTERS = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
# Long runs push what follows out of sight.
_LONG_RUN = re.compile(r" {40,}|\n{10,}")


class HeadlessApprover:
    """Stands where nobody can be asked: an `Approver` that never grants."""

    async def ask(self, call: ToolCall, question: MustAsk) -> tuple[bool, str]:
        """Return a refusal that tells the model what is so."""
        return (
            False,
            f"{call.tool_name} needs a person's agreement ({question.why}), and nobody is there",
        )


def shown_for_approval(call: ToolCall) -> str:
    """Return `call` as a person must see it: each argument, nothing hidden, nothing cut unsaid."""
    lines = [_seen(call.tool_name)]
    if isinstance(call.arguments, Malformed):
        return "\n".join((*lines, f"  (unreadable) {_clipped(call.arguments.raw)}"))
    lines += [
        f"  {_seen(name)}: {_clipped(_text(value))}"
        for name, value in call.arguments.value().items()
    ]
    shown = "\n".join(lines)
    return (
        f"{shown}\n  (characters that cannot be seen are written \\u{{…}})"
        if "\\u{" in shown
        else shown
    )


def _text(value: Json) -> str:
    return value if isinstance(value, str) else write_json(value)


def _clipped(text: str) -> str:
    if len(text) <= SHOWN_CHARACTERS:
        return _seen(text)
    half = SHOWN_CHARACTERS // 2
    left_out = len(text) - 2 * half
    return (
        f"{_seen(text[:half])}\n"
        f"    [… {left_out} of {len(text)} characters are not shown here …]\n"
        f"    {_seen(text[-half:])}"
    )


def _seen(text: str) -> str:
    shown: list[str] = []
    at = 0
    for run in _LONG_RUN.finditer(text):
        shown += map(_written, text[at : run.start()])
        shown.append(f" \\u{{{ord(run[0][0]):x}}} {len(run[0])} times ")
        at = run.end()
    shown += map(_written, text[at:])
    return "".join(shown)


def _written(character: str) -> str:
    if character == "\n":
        return "\n    "
    odd_space = character != " " and unicodedata.category(character) == "Zs"
    unseen = unicodedata.category(character) in _UNSEEN_CATEGORIES
    if odd_space or unseen or character in _UNSEEN_LETTERS:
        return f"\\u{{{ord(character):x}}}"
    return character
