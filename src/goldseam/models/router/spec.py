"""What `--model` and named chains say: names in their order, each with its options. Pure.

A chain is `a,b,c`; an entry is `NAME` or `NAME?until=unverified`; a name is `HOST`, `HOST:MODEL` or
the name of a chain in the settings, in whose place its entries stand.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from goldseam.kernel.errors import UsageError

OPTION = "until=unverified"


class Entry(Struct, frozen=True, kw_only=True):
    """One candidate as a person named it."""

    name: str
    until_unverified: bool = False


def parse_chain(text: str, chains: Mapping[str, Sequence[str]]) -> tuple[Entry, ...]:
    """Return the entries of `text`, named chains among them spelled out.

    Raises:
        UsageError: an entry is empty, unknown in its option, there twice, or never reached.
    """
    entries = tuple(_spelled_out(text.split(","), chains))
    names = [entry.name for entry in entries]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"--model names {name} twice; leave one of them out")
    if entries[-1].until_unverified:
        raise UsageError(
            f"{names[-1]}?{OPTION}: nobody comes after it; add a model, or leave ?{OPTION} out"
        )
    return entries


def _spelled_out(words: Sequence[str], chains: Mapping[str, Sequence[str]]) -> Iterator[Entry]:
    for word in words:
        entry = _entry(word)
        if entry.name not in chains:
            yield entry
            continue
        if entry.until_unverified:
            raise UsageError(f"{entry.name} is a chain; write ?{OPTION} at the models in it")
        yield from _of_chain(entry.name, chains)


def _of_chain(name: str, chains: Mapping[str, Sequence[str]]) -> Iterator[Entry]:
    if not chains[name]:
        raise UsageError(f"the chain {name} is empty; name a model in it")
    for word in chains[name]:
        entry = _entry(word)
        if entry.name in chains:
            raise UsageError(f"the chain {name} names the chain {entry.name}; name its models")
        yield entry


def _entry(word: str) -> Entry:
    name, mark, option = (part.strip() for part in word.partition("?"))
    if not name or "," in name:
        raise UsageError(f"{word!r} names no model; write HOST:MODEL, several with commas between")
    if mark and option != OPTION:
        raise UsageError(f"{word!r}: {option or 'nothing'} is no option; the one is ?{OPTION}")
    return Entry(name=name, until_unverified=bool(mark))
