"""The environment that commands get: an allow-list, the same in every sandbox. Pure but for `stat`.

Nothing of the caller's environment passes unless it is named here, so that no secret can.
"""

import os
from collections.abc import Mapping
from pathlib import Path

DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"

_PASSED = ("TZ", "LD_LIBRARY_PATH", "PYENV_VERSION", "CONDA_PREFIX", "JAVA_HOME", "GOROOT")

# Where programs look for themselves beneath the home folder; inside, the home is an empty one.
_BENEATH_HOME = {
    "PYTHONUSERBASE": ".local",
    "PYENV_ROOT": ".pyenv",
    "RUSTUP_HOME": ".rustup",
    "NVM_DIR": ".nvm",
    "GOMODCACHE": "go/pkg/mod",
}

_FIXED = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TERM": "dumb",
    "CI": "1",
    # Nobody is there to answer an editor, a pager or a question.
    "EDITOR": "true",
    "VISUAL": "true",
    "PAGER": "cat",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    # There is no network, and the project's environment is not to be changed.
    "UV_OFFLINE": "1",
    "UV_NO_SYNC": "1",
    # No litter in the tree; and byte code is found stale by size and whole seconds of time alone,
    # so that a quick edit of one character would not be seen.
    "PYTHONDONTWRITEBYTECODE": "1",
}


def command_environment(
    environ: Mapping[str, str], *, origin: Path, folders: tuple[str, ...], home: str
) -> dict[str, str]:
    """Return what commands get of `environ`, with `home` and its `tmp` as the places to write.

    `folders` are the environment folders of the repository at `origin`: their programs come first.
    """
    passed = {name: environ[name] for name in _PASSED if name in environ}
    for name, folder in _BENEATH_HOME.items():
        place = environ.get(name) or str(Path(environ.get("HOME", "/")) / folder)
        if Path(place).is_dir():
            passed[name] = place
    virtual = next((place for place in _places(origin, folders) if _is_virtual(place)), None)
    if virtual is not None:
        passed["VIRTUAL_ENV"] = str(virtual)
    path = os.pathsep.join([*_programs(origin, folders), *search_path(environ)])
    return {**passed, **_FIXED, "PATH": path, "HOME": home}


def search_path(environ: Mapping[str, str]) -> list[str]:
    """Return the absolute entries of the search path: a relative one would look into the tree."""
    entries = environ.get("PATH", "").split(os.pathsep)
    return [entry for entry in entries if entry.startswith("/")] or DEFAULT_PATH.split(os.pathsep)


def with_additions(environment: dict[str, str], additions: Mapping[str, str]) -> dict[str, str]:
    """Add a command's own variables; its PYTHONPATH goes behind ours, others win."""
    paths = [
        part
        for part in (environment.get("PYTHONPATH"), additions.get("PYTHONPATH"))
        if part is not None
    ]
    joined = {"PYTHONPATH": os.pathsep.join(paths)} if paths else {}
    return {**environment, **additions, **joined}


def interpreter_folders(python: str) -> tuple[str, ...]:
    """Return the folders that the interpreter at the absolute path `python` needs to read."""
    if not python.startswith("/"):
        return ()
    programs = {Path(python).parent, Path(os.path.realpath(python)).parent}
    return tuple(sorted(str(folder.parent) for folder in programs))


def _places(origin: Path, folders: tuple[str, ...]) -> list[Path]:
    return [origin / folder for folder in folders]


def _is_virtual(place: Path) -> bool:
    return (place / "pyvenv.cfg").is_file()


def _programs(origin: Path, folders: tuple[str, ...]) -> list[str]:
    """Return the folders of programs that the project's own environment has."""
    found = [place / "bin" for place in _places(origin, folders) if _is_virtual(place)]
    found += [place / ".bin" for place in _places(origin, folders) if place.name == "node_modules"]
    return [str(folder) for folder in found if folder.is_dir()]
