"""Ask the person at the terminal about one call. No answer, or an unclear one, is no."""

import sys

from anyio import to_thread

from goldseam.kernel.conversation import ToolCall
from goldseam.kernel.events import MustAsk

_YES = {"y", "yes"}


class TerminalApprover:
    """Implements `kernel.ports.Approver` for somebody who sits at the terminal."""

    async def ask(self, call: ToolCall, question: MustAsk) -> tuple[bool, str]:
        """Show exactly what would run and return the answer; it holds for this one call."""
        del call
        sys.stderr.write(f"\n{question.why}\n{question.shown}\nRun this, once? [y/N] ")
        sys.stderr.flush()
        # The thread may go on waiting for a line after a cancelling; nobody heeds what it gets.
        answer = await to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)
        granted = answer.strip().lower() in _YES
        return granted, "the person agreed" if granted else "the person did not agree"
