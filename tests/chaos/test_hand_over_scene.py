"""The scene that all began with: a vendor is rate-limited in the middle of a parallel tool loop.

OpenAI's form is first in the chain, Gemini's next. All of it is the real program, through its front
door: files, tools, proof and record.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from chaos.faults import KINDS
from e2e.e2e_support import FIXED, MODULE, TESTS, Desk, Ended
from models.endpoints import ENDPOINTS, Endpoint
from simulators.door import KEY, MODEL
from simulators.gateway import Gateway, Step
from simulators.saying import Call, Say

OPENAI, GEMINI = (
    next(one for one in ENDPOINTS if one.name == name) for name in ("OpenAI Chat", "Gemini 3")
)
NAMES = [f"openai:{MODEL}", f"gemini:{MODEL}"]
LOOKS = Say(
    text="I look around.",
    calls=(
        Call(call_id="call_1", name="read_file", arguments='{"path":"shop.py"}'),
        Call(call_id="call_2", name="read_file", arguments='{"path":"test_shop.py"}'),
    ),
)
MENDS = Say(
    thought="the slice",
    calls=(
        Call(name="read_file", arguments='{"path":"shop.py"}'),
        Call(name="edit_file", arguments=json.dumps(FIXED)),
    ),
)
ANSWER = Say(text="The slice dropped the first price.")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(folder=tmp_path)
    made.write({"shop.py": MODULE, "test_shop.py": TESTS})
    made.commit()
    return made


def ill(name: str, endpoint: Endpoint) -> Step:
    return next(kind for kind in KINDS if kind.name == name).step(endpoint, ANSWER)


def fix(desk: Desk, openai: Gateway, gemini: Gateway) -> Ended:
    settings = desk.folder / "settings.toml"
    settings.write_text(f"""
[hosts.openai]
url = "{openai.url}/v1"
[hosts.gemini]
url = "{gemini.url}/v1beta"
[hosts.gemini.models."{MODEL}"]
facts = {{ thinking = true, requires_signatures = true }}
""")
    return desk.goldseam(
        *("fix", "totals are wrong", "--repo", "shop", "--out", "out", "--json"),
        *("--model", ",".join(NAMES)),
        GOLDSEAM_SETTINGS=str(settings),
        OPENAI_API_KEY=KEY,
        GEMINI_API_KEY=KEY,
    )


def calls_and_results(body: Any) -> list[tuple[str, str]]:
    """Return what Gemini is shown of calls and results: each one's tool and path, or words."""
    found = []
    for part in (part for content in body["contents"] for part in content["parts"]):
        match part:
            case {"functionCall": {"name": name, "args": {"path": path}}}:
                found.append((name, path))
            case {"functionResponse": {"name": name, "response": response}}:
                found.append((name, json.dumps(response)))
            case _:
                continue
    return found


def test_gemini_finishes_the_parallel_tool_loop_in_which_openai_was_rate_limited(
    desk: Desk,
) -> None:
    limited = ill("busy, names 600 s", OPENAI)
    with (
        Gateway(LOOKS, ever_after=limited) as openai,
        Gateway(MENDS, ANSWER) as gemini,
    ):
        ended = fix(desk, openai, gemini)
    assert ended.code == 0, ended.err
    assert (openai.refusals, gemini.refusals) == ([], [])
    assert (len(openai.asked), len(gemini.asked)) == (2, 2)
    result = json.loads((desk.folder / "out/result.json").read_bytes())
    assert result["verdict"] == "verified"
    assert [(spent["name"], spent["calls"], spent["failures"]) for spent in result["models"]] == [
        (NAMES[0], 2, 1),
        (NAMES[1], 2, 0),
    ]
    (switch,) = result["switches"]
    assert (switch["before"], switch["after"]) == tuple(NAMES)
    assert "rate limited" in switch["why"]
    first, second, *results = calls_and_results(gemini.asked[0].body)
    assert [first, second] == [("read_file", "shop.py"), ("read_file", "test_shop.py")]
    assert ["prices[1:]" in results[0][1], "test_small" in results[1][1]] == [True, True]
    assert (desk.folder / "out/patch.diff").read_text().count("+    for price in prices:") == 1


def test_two_vendors_that_fail_for_good_end_the_run_with_advice_for_each(desk: Desk) -> None:
    with (
        Gateway(LOOKS, ever_after=ill("quota", OPENAI)) as openai,
        Gateway(ever_after=ill("auth", GEMINI)) as gemini,
    ):
        ended = fix(desk, openai, gemini)
    assert ended.code == 6, ended.err
    result = json.loads((desk.folder / "out/result.json").read_bytes())
    assert result["verdict"] == "model_failed"
    assert [spent["name"] for spent in result["models"]] == NAMES
    _, _, told = result["message"].partition(f"{NAMES[0]}: ")
    first, _, second = told.partition(f"{NAMES[1]}: ")
    assert "add credit" in first
    assert "check the key" in second
