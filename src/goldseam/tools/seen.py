"""What a run's model knows of files: so that no edit is made to what it has not seen (K3)."""

from hashlib import blake2b

from goldseam.workspace.errors import WorkspaceError


class Seen:
    """The files as they were last read or written by this run's tools, by their true paths."""

    def __init__(self) -> None:
        self._digests: dict[str, bytes] = {}

    def note(self, path: str, content: bytes) -> None:
        """Take `content` as what the model knows of `path`."""
        self._digests[path] = _digest(content)

    def forget(self, path: str) -> None:
        """Know nothing of `path` any more."""
        self._digests.pop(path, None)

    def refuse_stale(self, path: str, content: bytes) -> None:
        """Return if `content` is what was last seen of `path`, or nothing of it was.

        Raises:
            WorkspaceError: something else has written the file since.
        """
        seen = self._digests.get(path)
        if seen is not None and seen != _digest(content):
            raise WorkspaceError(
                f"{path} is unchanged: it is not as it was when it was last read or edited here; "
                "a command or a test has written it since. "
                "Next: read it again with read_file, then make the change."
            )


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()
