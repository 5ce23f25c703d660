"""Fakes that fit the ports of the kernel, and an event loop in which time is a number.

Each fake waits through `wait`: `pause` in the loop below, `anyio.sleep` in a real one. Each one
checks, when it is entered, that the intent of its act is on record and would outlive the machine.
"""

import heapq
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from goldseam.kernel.budget import Candidate, Limits
from goldseam.kernel.conversation import (
    HistoryItem,
    Malformed,
    Message,
    ResultKind,
    ToolCall,
    ToolResult,
)
from goldseam.kernel.errors import JournalError
from goldseam.kernel.events import (
    Allowed,
    ApprovalRequested,
    Event,
    ModelCallPrepared,
    MustAsk,
    Rejected,
    Resumed,
    RunStarted,
    ToolStarted,
    Verdict,
    VerificationStarted,
)
from goldseam.kernel.loop import Tell, resume, run
from goldseam.kernel.outcome import Proof
from goldseam.kernel.ports import (
    Act,
    Choice,
    Clock,
    CutShort,
    Delta,
    Executed,
    Listener,
    Need,
    Ports,
    Tap,
    Tasks,
)
from goldseam.kernel.request import ModelRequest, ModelResponse, TokenUsage, ToolSpec
from goldseam.kernel.state import RunState, begin, evolve

MOST_PAUSES = 20_000
MOST_EVENTS = 2_000
FOREVER = 1e9

Wait: TypeAlias = Callable[[float], Awaitable[None]]


class NativeCancelError(BaseException):
    """What an event loop throws into a task from outside."""


class Pause:
    """The one thing that happens in the loop below: time passes."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __await__(self) -> Generator[float, None, None]:
        yield self.seconds


async def pause(seconds: float) -> None:
    await Pause(seconds)


class FakeClock:
    def __init__(self) -> None:
        self.now = 0.0

    def elapsed_s(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        await pause(seconds)


class FakeTasks:
    """Fits `Tasks`: what is cut short is closed before the method returns."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._stop_reason: str | None = None

    @property
    def stop_reason(self) -> str | None:
        return self._stop_reason

    def stop(self, why: str) -> None:
        self._stop_reason = why

    def _stopped(self) -> CutShort | None:
        return None if self._stop_reason is None else CutShort(by="stop", why=self._stop_reason)

    async def guard(self, act: Act, *, limit_s: float) -> CutShort | None:
        if stopped := self._stopped():
            return stopped
        if limit_s <= 0:
            return CutShort(by="time", why="no time was left")
        deadline = self._clock.now + limit_s
        steps = act().__await__()
        try:
            for seconds in steps:
                left = deadline - self._clock.now
                await pause(min(seconds, left))
                if stopped := self._stopped():
                    return stopped
                if seconds > left:
                    return CutShort(by="time", why="the time ran out")
        finally:
            steps.close()
        return None

    async def together(self, acts: Sequence[Act]) -> None:
        """The act whose wait ends first goes on first."""
        everyone = [act().__await__() for act in acts]
        waiting = [(self._clock.now, order) for order in range(len(everyone))]
        errors: list[Exception] = []
        try:
            while waiting:
                at_s, order = heapq.heappop(waiting)
                await pause(max(at_s - self._clock.now, 0.0))
                try:
                    seconds = next(everyone[order])
                except StopIteration:
                    continue
                except Exception as error:  # noqa: BLE001 - raised below, as the port wants
                    errors.append(error)
                    continue
                heapq.heappush(waiting, (self._clock.now + seconds, order))
        finally:
            for steps in everyone:
                steps.close()
        if errors:
            raise errors[0]

    async def shielded(self, act: Act) -> None:
        for seconds in act().__await__():
            self._clock.now += seconds


class ListJournal:
    """Keeps events in a list; fails at the append number `fails_at` and would do so ever after."""

    def __init__(self, wait: Wait, *, seconds: float = 0.0, fails_at: int | None = None) -> None:
        self.events: list[Event] = []
        self.durable = 0
        self.failed = False
        self.appends_after_failure = 0
        self._wait = wait
        self._seconds = seconds
        self._fails_at = fails_at

    async def append(self, event: Event, *, durable: bool) -> None:
        self.appends_after_failure += self.failed
        await self._wait(self._seconds)
        if len(self.events) == self._fails_at:
            self.failed = True
            raise JournalError("no space left on the device")
        self.events.append(event)
        if len(self.events) > MOST_EVENTS:
            raise AssertionError("the run does not end")
        if durable:
            self.durable = len(self.events)


class Turn(Struct, frozen=True):
    """What the model does when it is asked: give a reply or raise, after so many seconds."""

    gives: ModelResponse | Exception
    seconds: float = 0.0


class FakeTool(Struct, frozen=True):
    """A tool: what policy says to its calls, and what a call gives after so many seconds."""

    name: str
    reads_only: bool = False
    seconds: float = 1.0
    verdict: Literal["allow", "ask", "ask_then_reject", "reject"] = "allow"
    kind: ResultKind = "done"
    content: str = "it ran"
    defect: Exception | None = None

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            name=self.name, description="A tool.", parameters="{}", reads_only=self.reads_only
        )


class Answer(Struct, frozen=True):
    """What the person says, after so many seconds."""

    granted: bool
    seconds: float = 1.0


class Proving(Struct, frozen=True):
    """What the verifier says, after so many seconds; or what it raises."""

    gives: Proof | Exception
    go_on: bool = False
    seconds: float = 1.0


class Watch:
    """Who acted, when and on what record; one for all fakes of a run."""

    def __init__(self, clock: Clock, journal: ListJournal) -> None:
        self.clock = clock
        self.journal = journal
        self.entered: list[tuple[str, str, float]] = []
        self.spans: dict[str, tuple[float, float]] = {}
        self.breaches: list[str] = []

    def enter(self, who: str, what: str, is_intent: Callable[[Event], bool]) -> float:
        events = self.journal.events
        durable = events[: self.journal.durable]
        if self.journal.failed:
            self.breaches.append(f"{who} acted after the record had failed")
        if len(durable) < len(events) or not any(is_intent(event) for event in durable):
            self.breaches.append(f"{who} acted on {what!r} before its intent was durable")
        started = self.clock.elapsed_s()
        self.entered.append((who, what, started))
        return started

    def acts_of(self, who: str) -> list[str]:
        return [what for name, what, _ in self.entered if name == who]


class ScriptedModel:
    """Plays its turns, then gives the answer "done"; keeps each request and what it held then."""

    def __init__(self, turns: Sequence[Turn], watch: Watch, wait: Wait) -> None:
        self.requests: list[ModelRequest] = []
        self.seen: list[tuple[HistoryItem, ...]] = []
        self._turns = iter(turns)
        self._watch = watch
        self._wait = wait

    async def complete(self, request: ModelRequest, listener: Listener) -> ModelResponse:
        number = len(self.requests) + 1
        self.requests.append(request)
        self.seen.append(tuple(request.history))
        self._watch.enter(
            "model", str(number), lambda e: isinstance(e, ModelCallPrepared) and e.call >= number
        )
        listener(Delta(kind="text", text="…"))
        turn = next(self._turns, Turn(answer("done")))
        await self._wait(turn.seconds)
        if isinstance(turn.gives, Exception):
            raise turn.gives
        return turn.gives


class FakeToolbox:
    def __init__(self, tools: Sequence[FakeTool], watch: Watch, wait: Wait) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._judged: set[str] = set()
        self._watch = watch
        self._wait = wait

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._tools.values())

    def judge(self, call: ToolCall) -> Verdict:
        tool = self._tools.get(call.tool_name)
        again = call.call_id in self._judged
        self._judged.add(call.call_id)
        if tool is None:
            return rejected(call, "no such tool")
        if isinstance(call.arguments, Malformed):
            return rejected(call, call.arguments.why)
        if tool.verdict == "reject" or (tool.verdict == "ask_then_reject" and again):
            return rejected(call, "the rules forbid it")
        if tool.verdict == "allow":
            return Allowed(why="the rules allow it")
        return MustAsk(why="it changes something", shown=call.arguments.text)

    async def execute(self, call: ToolCall) -> Executed:
        tool = self._tools[call.tool_name]
        started = self._watch.enter(
            "tool", call.call_id, lambda e: isinstance(e, ToolStarted) and e.call_id == call.call_id
        )
        try:
            await self._wait(tool.seconds)
        finally:
            self._watch.spans[call.call_id] = started, self._watch.clock.elapsed_s()
        if tool.defect is not None:
            raise tool.defect
        return Executed(
            result=ToolResult(call_id=call.call_id, kind=tool.kind, content=tool.content),
            full_text="all of it",
        )


class FakeApprover:
    """Says its answers, then never anything again."""

    def __init__(self, answers: Sequence[Answer], watch: Watch, wait: Wait) -> None:
        self._answers: Iterator[Answer] = iter(answers)
        self._watch = watch
        self._wait = wait

    async def ask(self, call: ToolCall, question: MustAsk) -> tuple[bool, str]:
        self._watch.enter(
            "approver",
            call.call_id,
            lambda e: (
                isinstance(e, ApprovalRequested)
                and (e.call_id, e.shown) == (call.call_id, question.shown)
            ),
        )
        said = next(self._answers, Answer(granted=True, seconds=FOREVER))
        await self._wait(said.seconds)
        return said.granted, "the person said so"


class FakeVerifier:
    """Says its proofs, then that all is proved."""

    def __init__(self, provings: Sequence[Proving], watch: Watch, wait: Wait) -> None:
        self._provings = iter(provings)
        self._watch = watch
        self._wait = wait

    async def verify(self, answer: str) -> tuple[Proof, bool]:
        self._watch.enter("verifier", answer, lambda e: isinstance(e, VerificationStarted))
        proving = next(self._provings, Proving(Proof(proven=True, text="all tests pass")))
        await self._wait(proving.seconds)
        if isinstance(proving.gives, Exception):
            raise proving.gives
        return proving.gives, proving.go_on


class Script(Struct, frozen=True):
    """All that the world does in a run."""

    candidates: tuple[Candidate, ...] = (Candidate(name="scripted"),)
    """Who is asked: one after another, call by call."""

    turns: tuple[Turn, ...] = ()
    tools: tuple[FakeTool, ...] = ()
    answers: tuple[Answer, ...] = ()
    provings: tuple[Proving, ...] = ()
    append_s: float = 0.0
    journal_fails_at: int | None = None
    stop_at: int | None = None
    """At which wait somebody wishes that the run stop."""
    cancel_at: int | None = None
    """At which wait, counted from 1, the task is cancelled from outside."""


class World:
    """The ports of one run. Without `tasks` and `clock`, those of the loop below."""

    def __init__(
        self,
        script: Script,
        *,
        wait: Wait = pause,
        clock: Clock | None = None,
        tasks: Tasks | None = None,
        taps: tuple[Tap, ...] = (),
    ) -> None:
        self.script = script
        self.fake_clock = FakeClock()
        self.fake_tasks = FakeTasks(self.fake_clock)
        self.journal = ListJournal(wait, seconds=script.append_s, fails_at=script.journal_fails_at)
        self.watch = Watch(clock or self.fake_clock, self.journal)
        self.model = ScriptedModel(script.turns, self.watch, wait)
        self.heard: list[Delta] = []
        self.needs: list[Need] = []
        self.ports = Ports(
            model=self.model,
            choose=self._choose,
            toolbox=FakeToolbox(script.tools, self.watch, wait),
            approver=FakeApprover(script.answers, self.watch, wait),
            verifier=FakeVerifier(script.provings, self.watch, wait),
            journal=self.journal,
            clock=clock or self.fake_clock,
            tasks=tasks or self.fake_tasks,
            listener=self.heard.append,
            taps=taps,
        )

    def _choose(self, need: Need) -> Choice:
        self.needs.append(need)
        turn = len(self.model.requests) % len(self.script.candidates)
        return Choice(candidate=self.script.candidates[turn], why="its turn")

    @property
    def events(self) -> list[Event]:
        return self.journal.events

    def play(self, opening: RunStarted) -> RunState:
        """Run in the loop of this module; what the run raises is raised."""
        return self._play(run(opening, self.ports))

    def go_on(self, events: Sequence[Event], limits: Limits, *, tell: Tell) -> RunState:
        """Go on from the record `events` in this world, which begins where they end."""
        state = fold(events)
        self.journal.events += events
        self.fake_clock.now = state.elapsed_s
        resumed = Resumed(at_s=state.elapsed_s, limits=limits, why="asked to")
        return self._play(resume(state, self.ports, resumed, tell=tell))

    def _play(self, running: Coroutine[float, None, RunState]) -> RunState:
        cancelled = False
        for number in range(MOST_PAUSES):
            try:
                if number == self.script.cancel_at:
                    cancelled = True
                    seconds = running.throw(NativeCancelError())
                else:
                    seconds = running.send(None)
            except StopIteration as end:
                state: RunState = end.value
                return state
            assert not cancelled, "a cancelled run went on waiting where the next cancel may strike"
            self.fake_clock.now += seconds
            if number == self.script.stop_at:
                self.fake_tasks.stop("enough")
        raise AssertionError("the run does not end")


def fold(events: Sequence[Event]) -> RunState:
    """Return the state that the record alone gives."""
    first, *others = events
    assert isinstance(first, RunStarted)
    state = begin(first)
    for event in others:
        state = evolve(state, event)
    return state


def answer(text: str, usage: TokenUsage | None = None) -> ModelResponse:
    return ModelResponse(
        items=(Message(role="assistant", text=text),),
        stop="end",
        usage=usage or TokenUsage(input=10, output=10),
        model="scripted",
    )


def rejected(call: ToolCall, why: str) -> Rejected:
    result = ToolResult(call_id=call.call_id, kind="denied", content=f"Not run: {why}.")
    return Rejected(why=why, result=result)
