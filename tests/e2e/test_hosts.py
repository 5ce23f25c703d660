"""A host over real sockets, through the front door: the run is verified, the key never shows."""

import json
from pathlib import Path

import pytest
from e2e.e2e_support import FIXED, Desk, Ended
from models.strict_chat_server import answer, calls, serving

from goldseam.wire.secret import Secret

KEY = "no-known-shape/of+a=key 42"
DONE = answer("The slice dropped the first price.")
TWO_STEPS = (
    calls(("read_file", {"path": "shop.py"}), ("run_tests", {})),
    calls(("edit_file", FIXED)),
    DONE,
)


def shown_keys(desk: Desk, ended: Ended) -> list[str]:
    """Return where the key stands in any spelling: in what was printed, or in any file of ours."""
    texts = {"out": ended.out.encode(), "err": ended.err.encode()}
    texts |= {str(path): path.read_bytes() for path in desk.folder.rglob("*") if path.is_file()}
    spellings = [form.encode() for form in Secret(KEY).spellings()]
    return [name for name, text in texts.items() if any(form in text for form in spellings)]


def fix(desk: Desk, *words: str, url: str, key: str = KEY) -> Ended:
    return desk.goldseam(
        *("fix", "totals are wrong", "--repo", "shop", "--out", "out", *words),
        CUSTOM_BASE_URL=url,
        CUSTOM_API_KEY=key,
    )


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_tool_loop_over_a_strict_host_is_verified(desk: Desk, form: tuple[str, ...]) -> None:
    with serving(KEY, *TWO_STEPS) as server:
        ended = fix(desk, "--model", "custom:any/model:1", *form, url=server.url)
    assert ended.code == 0, ended.err
    assert server.refusals == []
    result = json.loads((desk.folder / "out/result.json").read_bytes())
    assert result["verdict"] == "verified"
    assert result["model"] == "custom:any/model:1"
    assert result["usage"]["model_calls"] == 3
    roles = [message["role"] for message in server.bodies[-1]["messages"]]
    assert roles[-5:] == ["assistant", "tool", "tool", "assistant", "tool"]
    assert shown_keys(desk, ended) == []


def test_a_key_that_the_host_refuses_and_quotes_shows_nowhere(desk: Desk) -> None:
    with serving("another key") as server:
        ended = fix(desk, "--model", "custom:m", "--json", url=server.url)
    assert ended.code == 6, ended.err
    assert KEY in server.refusals[0]
    assert ended.result["verdict"] == "model_failed"
    assert "Incorrect API key provided" in ended.out
    assert shown_keys(desk, ended) == []


def test_json_text_is_spoken_with_a_plain_chat_model(desk: Desk) -> None:
    def action(**fields: object) -> dict[str, object]:
        return answer(json.dumps(fields))

    edit = action(type="tool_call", call_id="c1", tool_name="edit_file", arguments=FIXED)
    final = action(type="final_answer", content="Mended.")
    with serving(KEY, edit, final) as server:
        ended = fix(desk, "--model", "json:custom:m", url=server.url)
    assert ended.code == 0, ended.err
    assert all("tools" not in body for body in server.bodies)
    assert shown_keys(desk, ended) == []


def test_a_repository_has_no_say_in_where_its_code_is_sent(desk: Desk) -> None:
    desk.write({
        ".env": "CUSTOM_BASE_URL=http://127.0.0.1:9/v1\n",
        "settings.toml": '[hosts.custom]\nurl = "http://127.0.0.1:9/v1"\n',
    })
    desk.git("add", "-A")
    desk.git("commit", "-q", "-m", "tempt")
    ended = desk.goldseam("fix", "x", "--repo", "shop", "--model", "custom:m")
    assert ended.code == 2
    assert "set CUSTOM_BASE_URL" in ended.err


def test_a_host_of_the_persons_settings_is_asked(desk: Desk, tmp_path: Path) -> None:
    with serving(KEY, *TWO_STEPS) as server:
        (tmp_path / "mine.toml").write_text(
            f'model = "mine:m"\n[hosts.mine]\ndialect = "openai_chat"\nurl = "{server.url}"\n'
            'keys = [{ env = "MINE_KEY" }]\nfacts = { streams = false }\n'
        )
        ended = desk.goldseam(
            *("fix", "totals are wrong", "--repo", "shop"),
            GOLDSEAM_SETTINGS=str(tmp_path / "mine.toml"),
            MINE_KEY=KEY,
        )
    assert ended.code == 0, ended.err
    assert "stream" not in server.bodies[0]
    assert shown_keys(desk, ended) == []
