"""Who can be asked now: one board for all runs of a process. Knows names and times, no model.

A model that is busy cools for a while; one without quota, and a host without a valid key, is
broken. One failure binds the run that met it; where the host named the time, or a second failure
came without an answer to anybody in between, it binds all. Of a model that was broken, or failed
twice, one run alone makes a trial once its time is over; the others learn from that run.
"""

import math
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from goldseam.kernel.errors import FailureKind

TOLERANCE_S = 1e-3
"""A sleeper may wake a little early: what is this near counts as over."""

LEASE_S = 30.0
"""How long a run that announced a trial has to begin it, before another one may."""

TRIAL_S = 1.0
"""When to look again whether a trial that another run makes is over."""

_TEXT_DIALECT = "json"


class Healthy(Struct, frozen=True, kw_only=True):
    """Nothing is known against it."""


class Cooling(Struct, frozen=True, kw_only=True):
    """Busy: not asked before `until`, by all runs where it is `binding`."""

    kind: FailureKind
    since: float
    until: float
    strikes: int = 1
    """Failures in a row, each asked for after the one before, and none answered in between."""
    is_named: bool = False
    """Whether the host named the time."""

    @property
    def is_binding(self) -> bool:
        """Whether it holds for all runs: a failure among many answers is one run's own matter."""
        return self.is_named or self.strikes > 1

    @property
    def why(self) -> str:
        """What is wrong, in words."""
        return self.kind.replace("_", " ")


class Broken(Struct, frozen=True, kw_only=True):
    """Not usable before `until`; `None` is not before this process starts again."""

    kind: FailureKind
    why: str
    until: float | None = None


Standing: TypeAlias = Healthy | Cooling | Broken


class _Trial(Struct, frozen=True):
    asker: object
    until: float


def host_of(name: str) -> str:
    """Return the host in a candidate's name: `HOST:MODEL`, `json:HOST:MODEL` or `HOST`."""
    first, _, rest = name.partition(":")
    return rest.partition(":")[0] if first == _TEXT_DIALECT and rest else first


class HealthBoard:
    """What is known against hosts and models. All times are of one monotonic clock, in seconds.

    An asker is any object that stands for one run.
    """

    def __init__(self) -> None:
        self._ill: dict[str, Cooling | Broken] = {}
        self._trials: dict[str, _Trial] = {}

    def standing(self, name: str) -> Standing:
        """Return what is known of the candidate `name`: of its host first, then of itself."""
        host, own = _keys(name)
        return self._ill.get(host) or self._ill.get(own) or Healthy()

    def wait_s(self, name: str, asker: object, now: float) -> float:
        """Return how long `asker` must wait before it asks `name`: 0 is now, infinity is never."""
        if not self._ill:
            return 0.0
        return max(self._wait_s(key, asker, now) for key in _keys(name))

    def _wait_s(self, key: str, asker: object, now: float) -> float:
        ill = self._ill.get(key)
        if ill is None or (isinstance(ill, Cooling) and not ill.is_binding):
            return 0.0
        if ill.until is None:
            return math.inf
        if ill.until - now > TOLERANCE_S:
            return ill.until - now
        trial = self._trials.get(key)
        is_tried = trial is not None and trial.asker is not asker and trial.until > now
        return TRIAL_S if is_tried else 0.0

    def announce(self, name: str, asker: object, now: float) -> None:
        """Keep the trial of `name`, if it needs one, for `asker` until it begins."""
        self._keep(name, _Trial(asker, now + LEASE_S))

    def begin(self, name: str, asker: object) -> None:
        """Keep the trial of `name`, if it needs one, for `asker` until it lets go."""
        self._keep(name, _Trial(asker, math.inf))

    def _keep(self, name: str, trial: _Trial) -> None:
        for key in _keys(name):
            if _needs_trial(self._ill.get(key)):
                self._trials[key] = trial

    def let_go(self, asker: object) -> None:
        """Let another run make the trials that `asker` kept."""
        for key in [key for key, trial in self._trials.items() if trial.asker is asker]:
            del self._trials[key]

    def answered(self, name: str, asker: object, now: float) -> None:
        """Note a whole reply of `name`: it heals what `asker` tried, and what binds nobody now."""
        for key in _keys(name):
            ill = self._ill.get(key)
            if self._is_trial_of(asker, key):
                del self._ill[key]
            elif isinstance(ill, Cooling):
                if ill.is_binding and ill.until - now > TOLERANCE_S:
                    # It was asked for before, yet some are served: no trial is called for.
                    self._ill[key] = replace(ill, strikes=1)
                else:
                    del self._ill[key]

    def _is_trial_of(self, asker: object, key: str) -> bool:
        trial = self._trials.get(key)
        return trial is not None and trial.asker is asker and key in self._ill

    def strikes(self, name: str, asker: object, asked_at: float) -> int:
        """Return the how-many-eth failure in a row it is if what was asked then fails now.

        Questions that were under way at the failure before do not add up.
        """
        _, own = _keys(name)
        ill = self._ill.get(own)
        if not isinstance(ill, Cooling):
            return 1
        return ill.strikes + (self._is_trial_of(asker, own) or asked_at >= ill.since)

    def cool(self, name: str, cooling: Cooling) -> None:
        """Have `name` left alone; a longer time that stands already holds."""
        _, own = _keys(name)
        ill = self._ill.get(own)
        if ill is None or (ill.until is not None and ill.until <= cooling.until):
            self._ill[own] = cooling
        elif isinstance(ill, Cooling):
            is_named = ill.is_named or cooling.is_named
            self._ill[own] = replace(
                ill, since=cooling.since, strikes=cooling.strikes, is_named=is_named
            )

    def break_off(self, name: str, broken: Broken) -> None:
        """Have `name` left alone as broken: a bad key breaks all of its host."""
        host, own = _keys(name)
        self._ill[host if broken.kind == "auth" else own] = broken


def _keys(name: str) -> tuple[str, str]:
    """Return the keys of host and model; the colon keeps a host from a model without one."""
    return f"{host_of(name)}:", name


def _needs_trial(ill: Cooling | Broken | None) -> bool:
    return isinstance(ill, Broken) or (ill is not None and ill.strikes > 1)
