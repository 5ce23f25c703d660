"""A simulated model that tells the story from wherever the run stands that asks it."""

import json
from typing import Any

from chaos.scene import facts_of
from chaos.story import RESULT, as_told_by, story
from models.endpoints import Endpoint
from simulators.gateway import Fault, Gateway
from simulators.saying import Say


class Teller(Gateway):
    """Serves `endpoint`; what to say is read off each request, so that any number may ask."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(facts=facts_of(endpoint))
        self.endpoint = endpoint

    def next_step(self, body: Any) -> tuple[Say | None, Fault]:
        text = json.dumps(body)
        # Two calls a turn, each with its one result.
        say, fault = self.tell(text, text.count(RESULT) // 2)
        return as_told_by(self.endpoint, say) if say else None, fault

    def tell(self, asked: str, turn: int) -> tuple[Say | None, Fault]:
        """Return what is said to the request `asked` at `turn`, and what goes wrong with it."""
        del asked
        return story()[turn], Fault()
