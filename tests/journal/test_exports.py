"""A run in the forms of others: the trajectory by its published rules, Markdown by Markdown's."""

import json
from datetime import datetime
from typing import Any, Literal

import msgspec
import pytest
from journal.golden.make import run_events
from journal.sample_runs import HOSTILE, RUN_ID, asked, record_of, story
from msgspec import Struct

from goldseam.journal.export_atif import atif_of, atif_text
from goldseam.journal.export_markdown import markdown_of
from goldseam.journal.run_view import RunView
from goldseam.journal.viewing import view_of
from goldseam.kernel.events import Event, VerificationFinished
from goldseam.kernel.outcome import Proof


class Call(Struct, forbid_unknown_fields=True):
    tool_call_id: str
    function_name: str
    arguments: dict[str, Any]
    extra: dict[str, Any] = {}


class Seen(Struct, forbid_unknown_fields=True):
    source_call_id: str
    content: str
    extra: dict[str, Any] = {}


class Observation(Struct, forbid_unknown_fields=True):
    results: list[Seen]


class Metrics(Struct, forbid_unknown_fields=True):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float = 0.0


class Step(Struct, forbid_unknown_fields=True):
    step_id: int
    source: Literal["system", "user", "agent"]
    message: str
    timestamp: str
    model_name: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[Call] | None = None
    observation: Observation | None = None
    metrics: Metrics | None = None
    extra: dict[str, Any] = {}


class Agent(Struct, forbid_unknown_fields=True):
    name: str
    version: str
    model_name: str | None = None
    tool_definitions: list[dict[str, Any]] | None = None


class Finals(Struct, forbid_unknown_fields=True):
    total_prompt_tokens: int
    total_completion_tokens: int
    total_cached_tokens: int
    total_steps: int
    total_cost_usd: float | None = None
    extra: dict[str, Any] = {}


class Trajectory(Struct, forbid_unknown_fields=True):
    """The published fields of version 1.7 that we write; any other is refused."""

    schema_version: Literal["ATIF-v1.7"]
    session_id: str
    trajectory_id: str
    agent: Agent
    steps: list[Step]
    final_metrics: Finals
    extra: dict[str, Any]


def seen(events: list[Event]) -> RunView:
    return view_of(RUN_ID, record_of(events))


def checked(events: list[Event]) -> Trajectory:
    """Return the trajectory, held to the rules that its fields alone do not say."""
    trajectory = msgspec.convert(json.loads(atif_text(seen(events))), Trajectory)
    assert [step.step_id for step in trajectory.steps] == list(range(1, len(trajectory.steps) + 1))
    assert trajectory.final_metrics.total_steps == len(trajectory.steps)
    for step in trajectory.steps:
        datetime.fromisoformat(step.timestamp)
        own = (step.model_name, step.reasoning_content, step.tool_calls, step.metrics)
        assert step.source == "agent" or own == (None,) * 4
        calls = {call.tool_call_id for call in step.tool_calls or []}
        results = step.observation.results if step.observation is not None else []
        assert {result.source_call_id for result in results} <= calls
    return trajectory


@pytest.mark.parametrize("events", [story(), story(HOSTILE), run_events(), [asked(1, 0.0)]])
def test_a_trajectory_keeps_the_rules_of_its_format(events: list[Event]) -> None:
    checked(events)


def test_a_trajectory_tells_the_run() -> None:
    trajectory = checked(story())
    assert trajectory.agent.model_name == "openai:gpt-6.1-terra"
    assert trajectory.agent.tool_definitions is not None
    assert trajectory.agent.tool_definitions[0]["function"]["name"] == "read_file"
    agent = [step for step in trajectory.steps if step.source == "agent"]
    assert [step.model_name for step in agent] == ["openai:gpt-6.1-terra"] * 3 + [
        "anthropic:claude-nova-5"
    ] * 2
    assert agent[0].reasoning_content == "I should look first. plain"
    assert agent[0].message == "I look at the shop. plain"
    assert agent[1].extra == {"model_call": 2, "rejected": "no JSON plain"}
    assert agent[2].extra["failed"] == "overloaded"
    edit, command, malformed = agent[3].tool_calls or []
    assert edit.arguments["path"] == "shop.py"
    assert command.function_name == "run_command"
    assert (malformed.arguments, malformed.extra["raw"]) == ({}, "plain")
    assert agent[3].metrics == Metrics(
        prompt_tokens=1_900, completion_tokens=210, cached_tokens=1_500, cost_usd=0.0027875
    )
    assert trajectory.final_metrics.total_prompt_tokens == 6_700
    assert trajectory.final_metrics.extra == {"steps_without_usage": 1}
    assert trajectory.extra["outcome"] == "Completed"


def test_what_the_model_was_told_of_a_proof_is_the_users_word() -> None:
    proof = Proof(proven=False, text="1 test fails")
    events: list[Event] = [
        *story()[:-2],
        VerificationFinished(at_s=20.0, proof=proof, go_on=True, seconds=1.0),
    ]
    last = checked(events).steps[-1]
    assert (last.source, last.message) == ("user", "1 test fails")


def test_tools_whose_schema_cannot_be_read_are_named_all_the_same() -> None:
    opening = story()[0]
    spec = msgspec.structs.replace(opening.tools[0], parameters="{")  # type: ignore[union-attr]  # it is the opening
    events = [msgspec.structs.replace(opening, tools=(spec,))]
    agent = atif_of(seen(events))["agent"]
    assert isinstance(agent, dict)
    assert agent["tool_definitions"] == [
        {
            "type": "function",
            "function": {"name": "read_file", "description": "read_file it", "parameters": {}},
        }
    ]


@pytest.mark.parametrize("text", ["plain", HOSTILE, "````\n# no heading\n```text\n~~~\n"])
def test_in_markdown_a_strangers_words_stand_in_fences_alone(text: str) -> None:  # security 46
    fence, outside = "", []
    for line in markdown_of(seen(story(text))).splitlines():
        if fence:
            fence = "" if line == fence else fence
        elif line.startswith("```"):
            fence = line.removesuffix("text")
        else:
            outside.append(line)
    assert fence == ""
    assert not any("<" in line.replace("\\<", "") for line in outside)
    headings = [line for line in outside if line.startswith("#")]
    assert [heading.split(":")[0] for heading in headings] == [
        f"# Run {RUN_ID}",
        *(f"## Step {number}" for number in range(1, 6)),
        "## The end",
    ]


def test_markdown_tells_a_step_without_end_and_a_call_without_result() -> None:
    told = markdown_of(seen(story()[:4])) + markdown_of(seen(story()[:3]))
    assert "**no result is on record**" in told
    assert "**no end of it is on record**" in told
