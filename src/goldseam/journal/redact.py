"""Take secrets out of text on its way into the record. Pure; knows no event and no file.

A secret is known by its value or by the shape of a well-known key, never by the name it stands
under: a harmless argument called `token` stays as it is (M14).
"""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

from goldseam.kernel.json_text import BadJsonError, read_json

MARK = "[redacted]"

LEAST_LENGTH = 8
"""Shorter secrets are not looked for: they would blot out half of any text."""

_KEY_SHAPES = (
    r"sk-(?:ant|proj|svcacct|admin|or)-[\w-]{20,}",  # Anthropic, OpenAI, OpenRouter
    r"sk-(?=[a-z]*[A-Z0-9])[A-Za-z0-9]{32,}",  # OpenAI's older keys, DeepSeek
    r"AIza[\w-]{35}",  # Google
    r"GOCSPX-[\w-]{20,}",
    r"ya29\.[\w-]{20,}",
    r"(?:AKIA|ASIA)[A-Z2-7]{16}\b",  # Amazon
    r"gh[opsur]_[A-Za-z0-9]{36,}",  # GitHub
    r"github_pat_[A-Za-z0-9_]{40,}",
    r"glpat-[\w-]{20,}",  # GitLab
    r"hf_[A-Za-z0-9]{30,}",  # Hugging Face
    r"gsk_[A-Za-z0-9]{40,}",  # Groq
    r"xai-[A-Za-z0-9]{60,}",  # xAI
    r"pplx-[A-Za-z0-9]{40,}",  # Perplexity
    r"r8_[A-Za-z0-9]{36,}",  # Replicate
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-AgE[\w-]{50,}",
    r"xox[abeoprs]-[\w-]{10,}",  # Slack
    r"xapp-\d-[\w-]{20,}",
    r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",  # Stripe
    r"SG\.[\w-]{22}\.[\w-]{43}",  # SendGrid
    r"do[opr]_v1_[a-f0-9]{64}",  # DigitalOcean
    r"AGE-SECRET-KEY-1[0-9A-Z]{58}",
    r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}",  # a signed JSON Web Token
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?-----END [A-Z ]{0,30}PRIVATE KEY-----",
)
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4}))"
"""Not within a word (`task-or-…`); the escapes of JSON text end in letters that are none."""

_KEYS = re.compile(rf"{_START}(?:{'|'.join(_KEY_SHAPES)})", re.ASCII | re.DOTALL)
_SHORTEST_KEY = 15
_HINTS = (
    *("sk-", "AIza", "GOCSPX-", "ya29.", "AKIA", "ASIA", "gho_", "ghp_", "ghs_", "ghu_", "ghr_"),
    *("github_pat_", "glpat-", "hf_", "gsk_", "xai-", "pplx-", "r8_", "npm_", "pypi-", "xox"),
    *("xapp-", "k_live_", "k_test_", "SG.", "_v1_", "AGE-SECRET", "eyJ", "PRIVATE KEY"),
)
"""Each shape holds one of these. Looking for them is far quicker than the expression."""
_HINTS_IN_BYTES = tuple(hint.encode() for hint in _HINTS)

_LETTERS = bytes(ord("a" if re.match(rb"[\w.-]", bytes([code])) else " ") for code in range(256))
_LONG_WORD = b"a" * 20
"""Most key shapes hold a word so long, and so do most forms of secrets; few lines do."""
_OTHER_HINTS_IN_BYTES = (b"PRIVATE KEY", b"xox")
"""The hints of those that need not."""


class Redactor:
    """Replaces the secrets it was given, in every form they are likely to take, and known keys."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret)}
        self._forms = tuple(sorted(forms, key=lambda form: (-len(form), form)))
        self._in_json = tuple(json.dumps(form)[1:-1].encode() for form in self._forms)
        phrases = [form for form in self._in_json if not _has_word(form)]
        self._sought_always = (*phrases, *_OTHER_HINTS_IN_BYTES)
        self._sought_with_words = (*self._in_json, *_HINTS_IN_BYTES)

    def __call__(self, text: str) -> str:
        """Return `text` with `MARK` in the place of each secret."""
        if len(text) < LEAST_LENGTH:
            return text
        for form in self._forms:
            if form in text:
                text = text.replace(form, MARK)
        if len(text) >= _SHORTEST_KEY and any(hint in text for hint in _HINTS):
            text = _KEYS.sub(MARK, text)
        return text

    def may_find(self, written: bytes) -> bool:
        """Return whether strings in `written`, JSON in ASCII, may hold a secret; never a wrong no.

        JSON writes each character by itself: a secret in a string stands there as JSON writes it.
        """
        sought = self._sought_with_words if _has_word(written) else self._sought_always
        for part in sought:
            if part in written:
                is_known = any(form in written for form in self._in_json)
                return is_known or bool(_KEYS.search(written.decode("ascii")))
        return False

    def json_object(self, text: str) -> str:
        """As a call, for `text` that is a JSON object and must stay one.

        A secret of bare digits may stand outside any string; then the object is replaced whole.
        """
        cleaned = self(text)
        if cleaned == text or _is_json(cleaned):
            return cleaned
        return json.dumps({"redacted": MARK})


def _has_word(written: bytes) -> bool:
    return _LONG_WORD in written.translate(_LETTERS)


def _is_json(text: str) -> bool:
    try:
        read_json(text)
    except BadJsonError:
        return False
    return True


def _forms(secret: str) -> Iterator[str]:
    if len(secret) < LEAST_LENGTH:
        return
    yield secret
    once = json.dumps(secret)[1:-1]
    yield from (once, json.dumps(secret, ensure_ascii=False)[1:-1], json.dumps(once)[1:-1])
    raw = secret.encode("utf-8", "surrogatepass")
    for quoted in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        yield quoted
        yield re.sub(r"%..", lambda escape: escape[0].lower(), quoted)
    yield raw.hex()
    for offset in range(3):
        yield _within_base64(raw, offset)
        yield _within_base64(raw, offset).translate(_URL_SAFE)


def _within_base64(raw: bytes, offset: int) -> str:
    """Return what `raw` always looks like in Base64 where it begins `offset` bytes into a group.

    Left out are the letters at both ends that its neighbours also have a part in.
    """
    text = base64.b64encode(bytes(offset) + raw).decode()
    first = -(-offset * 8 // 6)
    last = (offset + len(raw)) * 8 // 6
    return text[first:last]


_URL_SAFE = str.maketrans("+/", "-_")
