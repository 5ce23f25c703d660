"""A run as one HTML page that needs nothing else: no network, no other file.

The page's own style and script stand in `page/` and are named by their hash in its policy, so that
nothing else can run or be fetched, whatever a transcript holds.
"""

import base64
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from string import Template

from msgspec import Struct

from goldseam.journal.changes import lines_of_diff
from goldseam.journal.costs import cost_in_words, fresh_tokens, tokens_in_words, total_of
from goldseam.journal.html_steps import (
    Style,
    change_block,
    folded,
    note_aside,
    size,
    step_article,
)
from goldseam.journal.markup import Markup, plain, shown, tag
from goldseam.journal.phrases import ended
from goldseam.journal.run_view import RunView, StepView
from goldseam.journal.texts import block, room_for
from goldseam.kernel.events import RunStarted

_COLOURS = 6
_MOST_OF_PATCH = 200_000
_HEIGHT = 48
_SAID = {"issue", "model"}
"""Settings that stand on the page in another place."""


class Finding(Struct, frozen=True, kw_only=True):
    """What is known of a run beside its record; empty is unknown."""

    verdict: str = ""
    message: str = ""
    patch: str = ""


def page_of(run: RunView, finding: Finding) -> str:
    """Return the page, which any browser can show; no text of the run can act in it."""
    style, script = _part("page.css"), _part("page.js")
    title = _title(run)
    look = Style(run_id=run.run_id, room=room_for(run), colours=_colours(run))
    return Template(_part("page.html")).substitute(
        style_hash=_hash(style),
        script_hash=_hash(script),
        style=style,
        script=script,
        title=plain(f"{title} · {run.run_id}"),
        heading=shown(title),
        badge=tag(
            "span", finding.verdict or _standing(run), class_=f"badge verdict {_mood(finding)}"
        ),
        message=tag("p", finding.message, class_="message") if finding.message else "",
        facts=tag("dl", *_facts(run), class_="facts"),
        chart=_chart(run, look),
        patch=_patch(finding.patch, run.run_id),
        opening=_opening(run.opening, look),
        story="\n".join(_story(run, look)),
    )


def _story(run: RunView, look: Style) -> Iterator[str]:
    for item in run.items:
        yield step_article(item, look) if isinstance(item, StepView) else note_aside(item, look)


def _part(name: str) -> str:
    return files("goldseam.journal").joinpath("page", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"


def _mood(finding: Finding) -> str:
    return "done" if finding.verdict == "verified" else ""


def _title(run: RunView) -> str:
    settings = {s.name: s.value for s in run.opening.settings} if run.opening else {}
    return settings.get("issue") or f"Run {run.run_id}"


def _standing(run: RunView) -> str:
    if run.outcome is None:
        return "no end on record"
    return next(iter(ended(run.outcome)))


def _colours(run: RunView) -> dict[str, str]:
    return {model: f"m{number % _COLOURS}" for number, model in enumerate(run.models)}


def _facts(run: RunView) -> Iterator[Markup]:
    total = total_of(run.steps)
    calls = sum(len(step.calls) for step in run.steps)
    settings = run.opening.settings if run.opening is not None else ()
    facts = {
        "run": run.run_id,
        "began": f"{run.started[:19].replace('T', ' ')}, took {run.seconds:,.1f} s",
        "steps": f"{total.steps:,}, with {calls:,} tool calls",
        "tokens": tokens_in_words(total),
        "cost": cost_in_words(total),
        "asked": ", ".join(run.models),
        **{setting.name: setting.value for setting in settings if setting.name not in _SAID},
    }
    for name, value in facts.items():
        if value:
            yield tag("div", tag("dt", name), tag("dd", value))


def _patch(patch: str, run_id: str) -> Markup:
    if not patch:
        return Markup("")
    lines = lines_of_diff(patch)
    added = sum(line.sign == "+" for line in lines)
    removed = sum(line.sign == "-" for line in lines)
    inside = change_block(lines, room=_MOST_OF_PATCH, rest=f"patch.diff of {run_id}")
    return folded(f"The patch: +{added:,} -{removed:,} lines", inside, opened=True)


def _opening(opening: RunStarted | None, look: Style) -> Markup:
    if opening is None:
        return Markup("")
    messages = [
        Markup(
            tag("h4", f"{message.role}, {size(message.text)}")
            + block(message.text, room=look.room, rest=f"goldseam show {look.run_id} --step 1")
        )
        for message in opening.history
    ]
    tools = tag("p", f"Tools: {', '.join(tool.name for tool in opening.tools) or 'none'}")
    return folded("What the model was told at first", tag("div", *messages, tools))


def _chart(run: RunView, look: Style) -> Markup:
    """Draw the tokens of each step as bars, and a mark where another model took over."""
    steps = run.steps
    heights = [sum(_parts(step).values()) for step in steps]
    if not any(heights):
        return Markup("")
    most = max(heights)
    paths = [
        tag("path", d="".join(_bars(steps, most, which)), class_=which)
        for which in ("cached", "fresh", "output")
    ]
    marks = tag("path", d="".join(_switches(run)), class_="switch")
    width = max(len(steps), 24)
    drawing = tag(
        "svg",
        *paths,
        marks,
        viewBox=f"0 0 {width} {_HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=f"Tokens of each step; the most are {most:,}",
    )
    words = (
        f"Tokens of each step: the most are {most:,}, in step {steps[heights.index(most)].number}."
    )
    key = [tag("span", word, class_=f"key {word}") for word in ("cached", "fresh", "output")]
    models = [
        tag("span", model, class_=f"model {colour}") for model, colour in look.colours.items()
    ]
    caption = tag("figcaption", words, *key, *models)
    return tag(
        "figure", drawing, caption, id="chart", data_steps=" ".join(f"{s.number}" for s in steps)
    )


def _bars(steps: tuple[StepView, ...], most: int, which: str) -> Iterator[str]:
    for x, step in enumerate(steps):
        parts = _parts(step)
        below = sum(list(parts.values())[list(parts).index(which) + 1 :])
        height, foot = (_HEIGHT * part / most for part in (parts[which], below))
        if height > 0:
            yield f"M{x + 0.1:.1f} {_HEIGHT - foot:.2f}v{-height:.2f}h.8v{height:.2f}z"


def _parts(step: StepView) -> dict[str, int]:
    """Return the tokens of a step by kind, the topmost first."""
    parts = {
        "cached": step.usage.cache_read or 0,
        "fresh": fresh_tokens(step.usage),
        "output": step.usage.output or 0,
    }
    return {kind: max(tokens, 0) for kind, tokens in parts.items()}


def _switches(run: RunView) -> Iterator[str]:
    done = 0
    for item in run.items:
        if isinstance(item, StepView):
            done += 1
        elif item.kind == "model" and done:
            yield f"M{done} 0v{_HEIGHT}"
