"""Open the models that a person names, one after another, as the one model of a run."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from goldseam.app.models import ChosenModel, choose_model
from goldseam.app.world import World
from goldseam.kernel.budget import Candidate, Limits, Price
from goldseam.kernel.errors import UsageError
from goldseam.models.catalog import Catalog
from goldseam.models.router.chain import Member
from goldseam.models.router.health import HealthBoard
from goldseam.models.router.patience import Patience
from goldseam.models.router.router import Router
from goldseam.models.router.spec import Entry, parse_chain
from goldseam.wire.secret import Secret


class Routing(Struct, frozen=True, kw_only=True):
    """What a person settled about models: hosts, named chains, patience, prices not known."""

    hosts: Catalog
    chains: Mapping[str, Sequence[str]] = {}
    patience: Patience = Patience()
    price: Price | None = None
    """Stands in where a model's own price is unknown."""


class ChosenChain(Struct, frozen=True, kw_only=True):
    """The models of one run, ready to be asked as one. Close it in the end."""

    models: tuple[ChosenModel, ...]
    router: Router

    @property
    def name(self) -> str:
        """What they are called, in their order."""
        return ", ".join(model.name for model in self.models)

    @property
    def banners(self) -> tuple[str, ...]:
        """What the person should know of them."""
        return tuple(dict.fromkeys(model.banner for model in self.models if model.banner))

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """What must never show."""
        return tuple(secret for model in self.models for secret in model.secrets)

    async def aclose(self) -> None:
        """Close all connections, whatever closing one of them raises."""
        async with AsyncExitStack() as stack:
            for model in self.models:
                stack.push_async_callback(model.aclose)


def choose_chain(
    given: str | None, routing: Routing, world: World, *, limits: Limits, health: HealthBoard
) -> ChosenChain:
    """Return the chain that `given` names; see `models.router.spec` and `choose_model`.

    Raises:
        UsageError: something in it cannot be asked, or a limit of money has no price to count by.
    """
    entries = parse_chain(given, routing.chains) if given is not None else (None,)
    models = tuple(_priced(_open(entry, routing.hosts, world), routing.price) for entry in entries)
    _refuse_twice([model.name for model in models])
    if limits.money is not None:
        _refuse_unpriced([model.candidate for model in models])
    members = tuple(
        Member(
            candidate=model.candidate,
            adapter=model.adapter,
            until_unverified=entry is not None and entry.until_unverified,
        )
        for model, entry in zip(models, entries, strict=True)
    )
    router = Router(
        members,
        health=health,
        now=monotonic,
        dice=world.dice.random,
        patience=routing.patience,
        limits=limits,
    )
    return ChosenChain(models=models, router=router)


def _open(entry: Entry | None, hosts: Catalog, world: World) -> ChosenModel:
    name = entry.name if entry is not None else None
    return choose_model(name, folder=world.folder, environ=world.environ, catalog=hosts)


def _priced(model: ChosenModel, price: Price | None) -> ChosenModel:
    if model.candidate.price is not None or price is None:
        return model
    return replace(model, candidate=replace(model.candidate, price=price))


def _refuse_twice(names: Sequence[str]) -> None:
    """A host alone and its default model by name are the same."""
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"--model names {name} twice; leave one of them out")


def _refuse_unpriced(candidates: Sequence[Candidate]) -> None:
    for candidate in candidates:
        if candidate.price is None:
            raise UsageError(
                f"the price of {candidate.name} is not known, so money cannot be limited: give "
                "--price IN/OUT in dollars a million tokens, or limit --max-tokens instead"
            )
