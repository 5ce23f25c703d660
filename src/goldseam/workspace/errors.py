"""What the workspace says when it will not or cannot do something.

WorkspaceError
├── MissingFileError          there is no such file; a caller may offer to make it
├── UncommittedChangesError   the user's tree has changes that were not asked for
├── EditRefusedError          an edit cannot be made as it is asked for
│   └── TextNotFoundError     the text to replace is not there
└── PatchTooLargeError        the patch is larger than its limit
"""


class WorkspaceError(Exception):
    """The one sentence says what is wrong and what to do: one line, no path of the machine."""

    def __init__(self, message: str) -> None:
        self.message = one_line(message)
        super().__init__(self.message)


class MissingFileError(WorkspaceError):
    """Nothing stands at this path."""


class UncommittedChangesError(WorkspaceError):
    """The repository has changes that no commit holds."""


class PatchTooLargeError(WorkspaceError):
    """The patch, or a file in it, is larger than its limit."""


class EditRefusedError(WorkspaceError):
    """No edit was made; `lines` names the places (1-based) that the message speaks of."""

    def __init__(self, message: str, *, lines: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.lines = lines


class TextNotFoundError(EditRefusedError):
    """The text to replace is not there; what comes nearest is named."""


def one_line(text: str) -> str:
    """Return `text` with every character that cannot be printed written as an escape."""
    return "".join(
        character if character.isprintable() else _escape(character) for character in text
    )


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
