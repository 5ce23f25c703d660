import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldseam.tools.web.reading import kind_of, seen, text_of


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/html; charset=utf-8", b"x", "page"),
        ("application/xhtml+xml", b"x", "page"),
        ("TEXT/HTML", b"", "page"),
        ("", b"  <!DOCTYPE html><p>x", "page"),
        ("text/plain", b"<!-- x --><HTML lang=en>", "page"),
        ("text/plain", b"<htmlx>", "text"),
        ("text/plain", b"words", "text"),
        ("text/markdown", b"<html>", "text"),
        ("application/json", b"{}", "text"),
        ("application/ld+json", b"{}", "text"),
        ("application/octet-stream", b"words", "text"),
        ("application/octet-stream", b"PK\0", "binary"),
        ("application/pdf", b"%PDF", "binary"),
        ("image/png", b"PNG", "binary"),
        ("text/plain", b"a\0b", "binary"),
        ("text/plain; charset=utf-16le", b"a\0b\0", "text"),
        ("text/plain", b"\xff\xfea\0", "text"),
    ],
)
def test_a_body_is_what_its_host_says_and_else_what_it_looks_like(
    content_type: str, body: bytes, kind: str
) -> None:
    assert kind_of(content_type, body) == kind


@pytest.mark.parametrize(
    ("content_type", "body", "text"),
    [
        ("text/plain", "é".encode(), "é"),
        ("text/plain; charset=iso-8859-1", b"\xe9", "é"),
        ('text/plain; charset="windows-1252"', b"\x80", "€"),
        ("text/html", b"<meta charset='latin-1'>\xe9", "<meta charset='latin-1'>é"),
        ("text/plain; charset=latin-1", b"\xef\xbb\xbf\xc3\xa9", "\ufeffé"),
        ("text/plain", b"\xff\xfee\0", "e"),
        ("text/plain", b"\xe9", "\ufffd"),
        ("text/plain; charset=zlib", b"x", "x"),
        ("text/plain; charset=punycode", b"x", "x"),
        ("text/plain; charset=unicode_escape", b"\\x41", "\\x41"),
        ("text/plain; charset=iso-8859-99", b"x", "x"),
        ("text/plain; charset=shift_jis", b"\x82\xa0", "あ"),
    ],
)
def test_text_is_read_in_its_charset(content_type: str, body: bytes, text: str) -> None:
    assert text_of(content_type, body) == text


@given(st.text(max_size=40), st.binary(max_size=200))
def test_any_reply_can_be_read(content_type: str, body: bytes) -> None:
    assert kind_of(content_type, body) in {"page", "text", "binary"}
    shown = seen(text_of(content_type, body))
    assert "\n\n\n" not in shown
    assert not set(shown) & set("\0\x1b\r\u200b\u202e\ufeff\U000e0041")


def test_what_is_not_seen_is_gone() -> None:
    hidden = "a\u200bb\U000e0041\U000e0042c\x1b[31m\u202ed\r\ne\rf\n \n\t\n\n\ng\n"
    assert seen(hidden) == "abc[31md\ne\nf\n\ng"
