import base64
import json
import re
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.journal.redact import LEAST_LENGTH, MARK, Redactor

SECRETS = st.text(st.sampled_from('aZ09-_.+/=&é"\\ '), min_size=LEAST_LENGTH, max_size=40)
AROUND = st.text(st.sampled_from("xyz ,:\n"), max_size=12)


@given(SECRETS, AROUND, AROUND)
def test_a_secret_is_found_in_every_form_it_takes(secret: str, before: str, behind: str) -> None:
    clean = Redactor((secret,))
    forms = [
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(json.dumps(secret))[3:-3],
        quote(secret),
        quote(secret, safe=""),
        quote_plus(secret),
        re.sub("%..", lambda found: found[0].lower(), quote_plus(secret)),
        secret.encode().hex(),
    ]
    for form in forms:
        cleaned = clean(before + form + behind)
        assert form not in cleaned
        assert cleaned.startswith(before)
        assert cleaned.endswith(behind)


@given(SECRETS, AROUND, AROUND, st.booleans())
def test_a_secret_within_base64_is_found_at_any_offset(
    secret: str, before: str, behind: str, url_safe: bool
) -> None:
    encode = base64.urlsafe_b64encode if url_safe else base64.b64encode
    text = encode((before + secret + behind).encode()).decode()
    cleaned = Redactor((secret,))(text)
    assert MARK in cleaned
    left = len(cleaned) - len(MARK)
    assert left <= -(-(len((before + behind).encode()) + 4) * 4 // 3) + 4


@given(st.text(st.characters(), max_size=50))
def test_text_without_a_secret_stays(text: str) -> None:
    assert Redactor(("correct horse battery",))(text) == text


def test_a_secret_too_short_to_tell_apart_is_left_alone() -> None:
    assert Redactor(("EMPTY", ""))("EMPTY drawers") == "EMPTY drawers"


def made(shape: str) -> str:
    """Return a key of the shape; put together here, so that no scanner takes it for a real one."""
    return "".join(
        part if count == "" else (part * int(count))[: int(count)]
        for part, count in re.findall(r"([^{}]+)(?:\{(\d+)\})?", shape)
    )


KEYS = [
    "sk-ant-api03-|aB3_{80}",
    "sk-proj-|aB3-{60}",
    "sk-or-v1-|0a9f{64}",
    "sk-|aB3d{48}",
    "AIza|aB3_{35}",
    "GOCSPX-|aB3_{28}",
    "ya29.|aB3_{60}",
    "AKIA|A2B7{16}",
    "ghp_|aB3d{36}",
    "github_pat_|aB3_{82}",
    "glpat-|aB3-{20}",
    "hf_|aBcd{34}",
    "gsk_|aB3d{52}",
    "xai-|aB3d{80}",
    "pplx-|aB3d{48}",
    "r8_|aB3d{37}",
    "npm_|aB3d{36}",
    "pypi-AgE|aB3_{150}",
    "xoxb-|123-{40}",
    "xapp-1-|AB12{40}",
    "sk_live_|aB3d{24}",
    "SG.|aB3_{22}|.|aB3_{43}",
    "dop_v1_|0a9f{64}",
    "AGE-SECRET-KEY-1|AB12{58}",
    "eyJ|aB3_{20}|.eyJ|aB3_{30}|.|aB3_{40}",
    "-----BEGIN RSA PRIVATE |KEY-----\n|aB3d{64}|\n-----END RSA PRIVATE |KEY-----",
]


def key_of(shape: str) -> str:
    return "".join(made(part) for part in shape.split("|"))


@pytest.mark.parametrize("shape", KEYS)
@pytest.mark.parametrize("frame", ["{}", "key={} ", '"{}"', "\\n{}\\n", "\\u000a{}"])
def test_well_known_keys_are_taken_out(shape: str, frame: str) -> None:
    text = frame.format(key_of(shape))
    assert Redactor()(text) == frame.format(MARK)
    assert Redactor().may_find(json.dumps(text).encode())


@pytest.mark.parametrize(
    "harmless",
    [
        "3bfeb14d2c4a9e0f1b2c3d4e5f60718293a4b5c6",
        "123e4567-e89b-12d3-a456-426614174000",
        "token = next(tokens)",
        "task-proj-a-long-name-for-a-branch",
        "risk-or-a-very-careful-approach-to-it",
        "sk-loading-indicator-of-the-page",
        "sk-" + "abcdefgh" * 5,
        "password='hello world'",
        "https://example.org/AKIAetc",
    ],
)
def test_harmless_text_stays(harmless: str) -> None:  # M14
    assert Redactor()(harmless) == harmless
    assert not Redactor().may_find(json.dumps(harmless).encode())
