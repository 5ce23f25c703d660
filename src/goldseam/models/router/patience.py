"""How long and how often: backoff, and the bounds of waiting. Pure numbers; no clock, no member."""

import math

from msgspec import Struct


class Patience(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of waiting. Seconds, and counts; a reply is what one question ends in."""

    base_s: float = 1.0
    """The first wait; each further one is twice as long, less what the dice take off."""
    longest_s: float = 60.0
    """The longest wait of our own choosing; a host may name a longer one."""
    switch_after_s: float = 5.0
    """How long one reply waits for a busy model while another one could be asked."""
    call_wait_s: float = 120.0
    """How long one reply is waited for at the most, between attempts."""
    run_wait_s: float = 600.0
    """How long a run waits at the most, between attempts, all of them together."""
    attempts: int = 8
    """Attempts at one reply, for each candidate of the chain."""
    same_again: int = 1
    """How often a model that broke off or was too slow is asked again before the next one is."""
    useless_per_candidate: int = 2
    """Useless replies in a row after which a candidate is left for the rest of the run."""
    probe_after_s: float = 900.0
    """When a candidate without quota is tried again, where the host names no time."""

    def __post_init__(self) -> None:
        """Refuse what would make waiting endless or asking a storm."""
        for name in self.__struct_fields__:
            value = getattr(self, name)
            least = 0 if name in {"switch_after_s", "same_again"} or "_wait_s" in name else 1e-3
            if not (math.isfinite(value) and value >= least):
                raise ValueError(f"{name} must be a number of at least {least:g}, not {value!r}")

    def backoff_s(self, number: int, dice: float) -> float:
        """Return the wait before the attempt after `number` failures; `dice` is from 0 to 1."""
        # Beyond 2**40 the longest wait holds anyway, and no power runs over.
        doubled = self.base_s * 2.0 ** min(number - 1, 40)
        return min(doubled, self.longest_s) * (0.5 + dice / 2)


def named_wait_s(retry_after_s: float | None) -> float:
    """Return the wait that a host names, 0 where it names none that can be meant."""
    if retry_after_s is None or math.isnan(retry_after_s):
        return 0.0
    return max(retry_after_s, 0.0)
