"""What sandboxes need to know of their tree: the folder to stand in, where its packages are."""

from pathlib import Path

from goldseam.workspace.errors import WorkspaceError


def folder_in(tree: Path, cwd: str) -> Path:
    """Return the folder `cwd` of `tree`, links followed.

    Raises:
        WorkspaceError: there is none, or it lies outside the tree.
    """
    root = tree.resolve()
    try:
        folder = (root / cwd).resolve()
        if not folder.is_relative_to(root):
            raise WorkspaceError(f"cwd {cwd!r} lies outside the workspace; give a folder in it")
        if not folder.is_dir():
            raise WorkspaceError(f"cwd {cwd!r} is not a folder of the workspace")
    except (OSError, ValueError, RuntimeError) as error:
        raise WorkspaceError(f"cwd {cwd!r} cannot be used: {error.__class__.__name__}") from error
    return folder


def import_paths(tree: Path, *, inside: Path) -> list[str]:
    """Return where, but for its top, the tree that stands at `inside` has packages: in `src`."""
    has_packages = any(path.parent.is_dir() for path in (tree / "src").glob("*/__init__.py"))
    return [str(inside / "src")] if has_packages else []
