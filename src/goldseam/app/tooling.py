"""The tools of a sitting, and the policy over them."""

import hashlib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import Struct

from goldseam.app.place import Place
from goldseam.app.world import World, home_of
from goldseam.tools.builtin import builtin_tools
from goldseam.tools.builtin.repo_map import repo_map_of
from goldseam.tools.builtin.web_fetch import WEB_FETCH
from goldseam.tools.context import ToolContext
from goldseam.tools.map.repository import RepositoryMap
from goldseam.tools.policy import Rule, default_rules
from goldseam.tools.tool import AnyTool
from goldseam.tools.toolbox import Policy, Toolbox
from goldseam.workspace.files import Files
from goldseam.workspace.jobs import Jobs


class Doors(Struct, frozen=True, kw_only=True):
    """The doors into the workspace that are open as long as a sitting lasts."""

    files: Files
    jobs: Jobs


def toolbox_of(
    place: Place, doors: Doors, world: World, *, rules: tuple[Rule, ...], task: str
) -> Toolbox:
    """Return the tools of a sitting about `task`, under the person's `rules`."""
    site = place.site
    context = ToolContext(
        workspace=site.workspace,
        files=doors.files,
        sandbox=place.sandbox,
        sandbox_for=place.sandbox.on,
        tests=site.tests,
        environ=world.environ,
        jobs=doors.jobs,
    )
    policy = Policy(
        rules=rules,
        defaults=default_rules(walls_hold=place.sandbox.level == "A"),
        somebody_is_there=world.is_attended,
    )
    repository = RepositoryMap(
        site.workspace, task=task, cache=_sketches(site.workspace.origin, world)
    )
    tools: list[AnyTool] = [*builtin_tools(), repo_map_of(lambda _: repository)]
    if world.is_attended or _allows(rules, WEB_FETCH):
        tools.append(WEB_FETCH)
    return Toolbox(tools, context=context, policy=policy)


def _allows(rules: Iterable[Rule], tool: AnyTool) -> bool:
    """Whether a rule allows some call of `tool`: without one it could only be denied."""
    return any(rule.decision == "allow" and fnmatchcase(tool.name, rule.tool) for rule in rules)


def _sketches(origin: Path, world: World) -> Path:
    name = hashlib.sha256(str(origin).encode("utf-8", "surrogateescape")).hexdigest()
    return home_of(world.environ) / "cache" / "maps" / name
