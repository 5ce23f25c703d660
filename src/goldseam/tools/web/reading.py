"""What a reply's body is: a page, text or neither, and the text of it. Pure."""

import codecs
import re
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["page", "text", "binary"]

_SNIFFED = 8192
_TEXT_TYPES = re.compile(
    r"text/.*|application/(?:.*\+)?(?:json|json5|ndjson|jsonl|xml|yaml|toml|sql|graphql|x-sh|x-yaml"
    r"|x-toml|x-python|javascript|x-javascript|ecmascript|typescript|rtf|x-httpd-php|x-ruby|x-perl)"
)
_PAGE_TYPES = {"text/html", "application/xhtml+xml"}
_UNTOLD_TYPES = {"", "application/octet-stream", "text/plain"}
_LOOKS_LIKE_PAGE = re.compile(
    rb"\s*(?:<!--.{0,1000}?-->\s*)*<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE | re.DOTALL
)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_META_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE
)
# Python knows encodings that are no charsets: some of them turn a small text into a large one.
_CHARSETS = re.compile(
    r"utf-?8|utf-?16(?:-?[lb]e)?|utf-?32(?:-?[lb]e)?|(?:us-)?ascii|latin-?\d+|iso-?8859-?\d+"
    r"|(?:windows|cp)-?\d{3,4}|koi8-[ru]|gbk?|gb2312|gb18030|big5(?:-hkscs)?|shift[_-]?jis|sjis"
    r"|euc[_-](?:jp|kr)|iso-2022-jp|mac-?roman|tis-620",
    re.IGNORECASE,
)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
    "\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")


def kind_of(content_type: str, body: bytes) -> Kind:
    """Return what `body` is, by what its host says of it and, where that is nothing, by itself."""
    named = media_type(content_type)
    start = body[:_SNIFFED]
    if named in _PAGE_TYPES or (named in _UNTOLD_TYPES and _LOOKS_LIKE_PAGE.match(start)):
        return "page"
    if named not in _UNTOLD_TYPES and not _TEXT_TYPES.fullmatch(named):
        return "binary"
    wide = any(start.startswith(mark) for mark, _ in _MARKS) or "utf-16" in content_type.lower()
    return "binary" if b"\0" in start and not wide else "text"


def media_type(content_type: str) -> str:
    """Return the type that a `Content-Type` names, without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def text_of(content_type: str, body: bytes) -> str:
    """Return `body` as text: by its mark, its host's word, its own word, else as UTF-8."""
    told = _CHARSET.search(content_type)
    own = _META_CHARSET.search(body[:2048])
    named = told[1] if told else own[1].decode("ascii") if own else "utf-8"
    marked = next((charset for mark, charset in _MARKS if body.startswith(mark)), named)
    try:
        charset = codecs.lookup(marked).name if _CHARSETS.fullmatch(marked) else "utf-8"
    except LookupError:
        charset = "utf-8"
    return body.decode(charset, "replace")


def seen(text: str) -> str:
    """Return `text` as a reader sees it: nothing hidden in it, no rows of blank lines."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _BLANK_LINES.sub("\n\n", _UNSEEN.sub("", lines)).strip("\n")
