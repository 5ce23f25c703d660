"""The result is documented field by field, and each verdict has one exit code."""

import json
import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from goldseam.repair.outputs import result_json, write_outputs
from goldseam.repair.result import ExitCode, Result, plain_result

ROOT = Path(__file__).resolve().parents[2]


def test_every_field_of_the_result_is_documented_and_no_other() -> None:
    page = (ROOT / "docs/result.md").read_text("utf-8")
    documented = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(documented) == sorted(set(Result.__struct_fields__) - {"version"})


def test_each_exit_code_is_one_verdict() -> None:
    assert {int(code): code.verdict for code in ExitCode} == {
        0: "verified",
        1: "defect",
        2: "usage",
        3: "unverified",
        4: "no_patch",
        5: "budget",
        6: "model_failed",
        7: "stopped",
        8: "refused",
    }


@given(message=st.text(st.characters(exclude_categories=())))
def test_any_text_makes_a_result_of_one_line(message: str) -> None:
    line = result_json(plain_result(ExitCode.DEFECT, message))
    assert b"\n" not in line
    read = json.loads(line)
    assert read["type"] == "result"
    assert read["message"] == message.encode("utf-8", "replace").decode()


def test_what_cannot_be_written_where_asked_is_kept_and_said(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (tmp_path / "taken").write_bytes(b"")
    result = write_outputs(
        plain_result(ExitCode.UNVERIFIED, "m"),
        b"diff\n",
        folder=folder,
        out=tmp_path / "taken" / "out",
    )
    assert (folder / "patch.diff").read_bytes() == b"diff\n"
    assert result.patch == str(folder / "patch.diff")
    assert len(result.warnings) == 1
    assert "the files are in" in result.warnings[0]


def test_outputs_go_to_the_run_and_to_where_they_were_asked_for(tmp_path: Path) -> None:
    folder, out = tmp_path / "run", tmp_path / "deep" / "out"
    folder.mkdir()
    result = write_outputs(plain_result(ExitCode.VERIFIED, "m"), b"d\n", folder=folder, out=out)
    for place in (folder, out):
        assert sorted(path.name for path in place.iterdir()) == [
            "patch.diff",
            "report.md",
            "result.json",
        ]
    assert json.loads((out / "result.json").read_bytes())["patch"] == str(out / "patch.diff")
    assert result.patch == str(out / "patch.diff")


def test_an_older_patch_does_not_stand_beside_a_result_without_one(tmp_path: Path) -> None:
    (tmp_path / "patch.diff").write_bytes(b"old")
    write_outputs(plain_result(ExitCode.NO_PATCH, "m"), b"", folder=tmp_path, out=None)
    assert not (tmp_path / "patch.diff").exists()
