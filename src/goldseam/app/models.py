"""Choose the model that a person names: `builtin:mender`, or a script that is played."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from goldseam.kernel.errors import UsageError
from goldseam.kernel.ports import ModelAdapter
from goldseam.models.json_text.adapter import JsonTextModelAdapter
from goldseam.models.mender.mender import Mender
from goldseam.models.scripted import load_script

DEFAULT_MODEL = "builtin:mender"

MENDER_BANNER = (
    "builtin:mender is no language model: it is a rule-based repairer that tries small edits to "
    "Python code against failing tests. It reads no meaning, costs nothing, and needs no key."
)


class ChosenModel(Struct, frozen=True, kw_only=True):
    """A model ready to be asked, and what the person should know of it."""

    name: str
    adapter: ModelAdapter
    context_tokens: int
    banner: str = ""


def choose_model(given: str | None, *, folder: Path) -> ChosenModel:
    """Return the model that `given` names as HOST:MODEL, or the default where it names none.

    Raises:
        UsageError: no such host or model; the message lists those there are.
    """
    name = given or DEFAULT_MODEL
    if "," in name:
        raise UsageError(f"one model at a time: {name!r} names several")
    host, _, model = name.partition(":")
    open_model = _HOSTS.get(host)
    if open_model is None or not model:
        raise UsageError(
            f"no model {name!r}; there are {DEFAULT_MODEL}, and scripted:FILE for demonstrations"
        )
    return open_model(model, folder)


def _builtin(model: str, folder: Path) -> ChosenModel:
    del folder
    if model != "mender":
        raise UsageError(f"no model 'builtin:{model}'; the one built in is {DEFAULT_MODEL}")
    return ChosenModel(
        name=DEFAULT_MODEL,
        adapter=JsonTextModelAdapter(Mender()),
        # It reads the whole conversation anew each time and is billed for none of it.
        context_tokens=50_000_000,
        banner=MENDER_BANNER,
    )


def _scripted(model: str, folder: Path) -> ChosenModel:
    try:
        content = (folder / model).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the script {model!r}: {error.strerror}") from error
    return ChosenModel(
        name=f"scripted:{model}",
        adapter=load_script(content),
        context_tokens=50_000_000,
        banner="scripted: the replies are read from a file; no model is asked.",
    )


_HOSTS: dict[str, Callable[[str, Path], ChosenModel]] = {
    "builtin": _builtin,
    "scripted": _scripted,
}
