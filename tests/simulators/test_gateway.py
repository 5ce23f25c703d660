"""The gateway over real sockets: doors, faults on demand, and seals that come back in place."""

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import pytest
from simulators.door import KEY, MODEL
from simulators.gateway import Fault, Gateway, Step
from simulators.saying import Call, Say

SAID = Say(text="Hello there.")
HEADERS = {
    "Authorization": f"Bearer {KEY}",
    "x-goog-api-key": KEY,
    "anthropic-version": "2023-06-01",
}
CHAT: dict[str, Any] = {"model": MODEL, "messages": [{"role": "user", "content": "Hi"}]}
GEMINI: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
PATHS: dict[str, tuple[str, dict[str, Any]]] = {
    "chat": ("/v1/chat/completions", CHAT),
    "responses": ("/v1/responses", {"model": MODEL, "input": "Hi"}),
    "anthropic": ("/v1/messages", {**CHAT, "max_tokens": 9}),
    "gemini": (f"/v1beta/models/{MODEL}:generateContent", GEMINI),
}


def post(
    gateway: Gateway, path: str, body: Any, headers: dict[str, str] = HEADERS
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(urlsplit(gateway.url).netloc, timeout=10)
    try:
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("POST", path, sent, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def said(*script: Step, path: str = "/v1/chat/completions", **more: Any) -> tuple[int, bytes]:
    with Gateway(*script) as gateway:
        return post(gateway, path, {**CHAT, **more})


@pytest.mark.parametrize("vendor", PATHS)
def test_each_vendor_answers_at_its_own_path(vendor: str) -> None:
    path, body = PATHS[vendor]
    with Gateway(SAID) as gateway:
        status, answer = post(gateway, path, body)
    assert (status, b"Hello there." in answer) == (200, True)


DOORS = {  # OAI-29, ANT-34, GEM-40
    "chat": (401, ("error", "code"), "invalid_api_key"),
    "responses": (401, ("error", "code"), "invalid_api_key"),
    "anthropic": (401, ("error", "type"), "authentication_error"),
    "gemini": (400, ("error", "status"), "INVALID_ARGUMENT"),
}


@pytest.mark.parametrize("vendor", PATHS)
def test_a_wrong_key_is_refused_as_the_vendor_does(vendor: str) -> None:
    status, (outer, inner), word = DOORS[vendor]
    with Gateway() as gateway:
        found, answer = post(gateway, *PATHS[vendor], {"anthropic-version": "2023-06-01"})
    assert (found, json.loads(answer)[outer][inner]) == (status, word)


MODELS = {  # OAI-30, ANT-35, GEM-41
    "chat": (404, "The model 'gone' does not exist"),
    "responses": (400, "The model 'gone' does not exist"),
    "anthropic": (404, "model: gone"),
    "gemini": (404, "models/gone is not found for API version v1beta"),
}


@pytest.mark.parametrize("vendor", PATHS)
def test_an_unknown_model_is_refused_as_the_vendor_does(vendor: str) -> None:
    path, body = PATHS[vendor]
    with Gateway() as gateway:
        asked = {**body, "model": "gone"} if "model" in body else body
        found, answer = post(gateway, path.replace(MODEL, "gone"), asked)
    status, words = MODELS[vendor]
    assert (found, json.loads(answer)["error"]["message"][: len(words)]) == (status, words)


def test_a_missing_version_is_refused() -> None:  # ANT-1
    with Gateway() as gateway:
        assert post(gateway, *PATHS["anthropic"], {"x-api-key": KEY})[0] == 400


def test_no_json_and_no_path_are_refused() -> None:
    with Gateway() as gateway:
        assert post(gateway, "/v1/chat/completions", b"{")[0] == 400
        assert post(gateway, "/v1/nothing", {})[0] == 404


def test_a_fault_sends_its_status_and_body_as_they_are() -> None:
    assert said(Fault(status=503, body=b"<html>")) == (503, b"<html>")
    assert said(Fault(body=b"{}", headers=(("X-One", "1"),))) == (200, b"{}")


def test_a_script_that_ended_is_a_server_error() -> None:
    assert said() == (500, b"script ended")


def test_a_slow_drip_gives_the_whole_reply_byte_by_byte() -> None:
    fault = Fault(drip_s=0.0)
    assert said((SAID, fault), stream=True) == said(SAID, stream=True)


def test_a_delay_only_delays() -> None:
    assert said((SAID, Fault(delay_s=0.01))) == said(SAID)


@pytest.mark.parametrize("cut_at", [0, 1, 100])
def test_a_reply_can_be_cut_at_any_byte(cut_at: int) -> None:
    with pytest.raises(http.client.IncompleteRead) as cut:
        said((SAID, Fault(cut_at=cut_at)), stream=True)
    assert cut.value.partial == said(SAID, stream=True)[1][:cut_at]


def test_a_fault_body_can_be_cut_too() -> None:
    with pytest.raises(http.client.IncompleteRead) as cut:
        said(Fault(status=500, body=b"0123456789", cut_at=4))
    assert cut.value.partial == b"0123"


def test_gemini_streams_an_array_without_alt_sse_and_events_with_it() -> None:  # GEM-3
    path = f"/v1beta/models/{MODEL}:streamGenerateContent"
    with Gateway(SAID, SAID) as gateway:
        array = json.loads(post(gateway, path, GEMINI)[1])
        events = post(gateway, f"{path}?alt=sse", GEMINI)[1].decode()
    texts = [chunk["candidates"][0]["content"]["parts"][0]["text"] for chunk in array]
    assert texts == ["Hello ", "there.", ""]
    assert events.count("data: ") == 3
    assert "[DONE]" not in events


def loop(part: dict[str, Any], signature: str) -> dict[str, Any]:
    answer = {"name": part["functionCall"]["name"], "response": {"output": "ok"}}
    return {
        "contents": [
            *GEMINI["contents"],
            {"role": "model", "parts": [{**part, "thoughtSignature": signature}]},
            {"role": "user", "parts": [{"functionResponse": answer}]},
        ]
    }


def test_a_signature_is_taken_back_on_its_own_part_alone() -> None:  # GEM-23, GEM-27
    path = PATHS["gemini"][0]
    steps = [Say(calls=(Call(name="read_file", arguments=f'{{"path":"{n}"}}'),)) for n in "ab"]
    with Gateway(*steps, SAID) as gateway:
        answers = [json.loads(post(gateway, path, GEMINI)[1]) for _ in steps]
        one, other = (a["candidates"][0]["content"]["parts"][0] for a in answers)
        signature, foreign = one.pop("thoughtSignature"), other.pop("thoughtSignature")
        assert post(gateway, path, loop(one, signature))[0] == 200
        for bad in (foreign, signature[:-1], "made up"):
            status, answer = post(gateway, path, loop(one, bad))
            assert (status, json.loads(answer)["error"]["message"]) == (
                400,
                "Corrupted thought signature.",
            )
