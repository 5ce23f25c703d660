"""A run that a defect breaks off leaves its result, its patch and its record."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from goldseam.app.broken import RunBrokenError
from goldseam.app.chain import Routing
from goldseam.app.fix import FixRequest, fix
from goldseam.app.settings import Settings, hosts_of
from goldseam.app.sitting import Watch
from goldseam.app.tasks import AnyioTasks
from goldseam.app.world import World
from goldseam.kernel.budget import Limits
from goldseam.kernel.ports import Act, Delta
from goldseam.models.router.health import HealthBoard
from goldseam.repair.result import Result
from goldseam.repair.task import read_issue
from goldseam.tools.approval import HeadlessApprover

CALL = {"tool": "write_file", "arguments": {"path": "new.py", "content": "NEW = 1\n"}}


class BrokenTasks(AnyioTasks):
    """Does what it is asked, then fails as no code should."""

    async def together(self, acts: Sequence[Act]) -> None:
        await super().together(acts)
        raise RuntimeError("no code\nshould")


def heard(delta: Delta) -> None:
    del delta


def request_in(folder: Path) -> FixRequest:
    repository = folder / "shop"
    repository.mkdir()
    (repository / "test_shop.py").write_text(
        "import unittest\n\nclass T(unittest.TestCase):\n    def test(self): pass\n"
    )
    subprocess.run(["git", "init", "-q"], cwd=repository, check=True)
    subprocess.run(["git", "add", "-A"], cwd=repository, check=True)
    person = ["-c", "user.name=n", "-c", "user.email=e@example.invalid"]
    subprocess.run(["git", *person, "commit", "-qm", "begin"], cwd=repository, check=True)
    replies = {"replies": [{"type": "calls", "calls": [CALL]}]}
    (folder / "script.json").write_text(json.dumps(replies))
    return FixRequest(
        issue=read_issue("totals are wrong", folder=folder, read_stdin=bytes),
        repository=repository,
        model="scripted:script.json",
        test=f"{sys.executable} -m unittest",
        out=folder / "out",
        include_dirty=False,
        require_sandbox=False,
        test_limit_s=60.0,
        limits=Limits(),
        rules=(),
        routing=Routing(hosts=hosts_of(Settings())),
    )


@pytest.mark.anyio
async def test_a_defect_leaves_the_result_the_patch_and_the_record(tmp_path: Path) -> None:
    home = tmp_path / "home"
    world = World(
        environ={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GOLDSEAM_HOME": str(home)},
        folder=tmp_path,
        now=lambda: datetime(2026, 11, 30, 10, 15, 2, tzinfo=UTC),
        dice=random.Random(1),
        health=HealthBoard(),
        read_stdin=bytes,
        is_attended=False,
    )
    said: list[str] = []
    watch = Watch(
        say=said.append,
        tap=lambda _: None,
        listener=heard,
        approver=HeadlessApprover(),
        tasks=BrokenTasks(),
    )
    with pytest.raises(RunBrokenError) as caught:
        await fix(request_in(tmp_path), world, watch)
    assert isinstance(caught.value.__cause__, RuntimeError)
    result = caught.value.result
    (run,) = (home / "runs").iterdir()
    assert (result.verdict, result.exit_code) == ("defect", 1)
    assert result.message.endswith("please report it: RuntimeError: no code should")
    assert (result.run_id, result.record) == (run.name, str(run))
    written = (tmp_path / "out" / "result.json").read_bytes()
    assert msgspec.json.decode(written, type=Result) == result
    assert b"+NEW = 1" in (tmp_path / "out" / "patch.diff").read_bytes()
    assert (run / "report.md").is_file()
    assert list((home / "work").iterdir()) == []
