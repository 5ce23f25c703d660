"""Turn one HTML page into Markdown, as a program of its own that can be ended any time.

A stranger's page is taken apart by two libraries that cannot be interrupted, so this runs as a
child, by path and isolated, within a bounded memory. It reads a line with the page's URL, then the
page in UTF-8, and writes one JSON object: `title` and `text`. Nothing of ours is imported.
"""

import json
import re
import resource
import sys
from collections.abc import Callable
from typing import BinaryIO
from urllib.parse import urljoin

from html_to_markdown import ConversionOptions, convert
from html_to_markdown.exceptions import ConversionError
from selectolax.lexbor import LexborHTMLParser, LexborNode

_MAX_MEMORY = 2 << 30
_SHARE_OF_MAIN = 0.5
"""How much of a page's text its `main` must hold to be taken for the whole."""
_SHARE_OF_TEXT = 0.02
"""A text that is less of the page's than this was lost in conversion."""

_NEVER_SHOWN = (
    *("script", "style", "noscript", "template", "iframe", "object", "embed", "svg", "canvas"),
    *("audio", "video", "dialog", "input", "button", "select", "textarea", "nav", "aside"),
    *("[hidden]", "[aria-hidden=true]", "[role=navigation]", "[role=search]", "[role=dialog]"),
    *("[role=complementary]", "[role=contentinfo]", "img[src^='data:']"),
)
_ROOTS = {"html", "head", "body"}
_INSIDE = {"main", "article", "section"}
_HIDING_STYLE = re.compile(
    r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    r"|opacity\s*:\s*0(?:\.0+)?\s*(?:[;!]|$)|font-size\s*:\s*0[a-z%]*\s*(?:[;!]|$))",
    re.IGNORECASE,
)
_ANCHOR_SIGNS = {"", "¶", "#", "§", "🔗", "\uf0c1"}


def main(question: BinaryIO) -> str:
    """Return the answer to the one question."""
    url = question.readline().decode("ascii").strip()
    title, text = to_markdown(question.read().decode("utf-8", "replace"), url)
    return json.dumps({"title": title, "text": text})


def to_markdown(html: str, url: str) -> tuple[str, str]:
    """Return title and text of a page that came from `url`, links made whole."""
    page = LexborHTMLParser(html)
    found = page.css_first("title")
    title = " ".join(found.text().split()) if found is not None else ""
    body = page.body
    if body is None:
        return title, ""
    beside = _base_of(page, url)
    _prune(page)
    chosen = _main_of(page, body)
    plain = chosen.text(separator="\n")
    options = ConversionOptions(
        extract_metadata=False,
        base_url=beside,
        heading_style="atx",
        bullets="-",
        keep_inline_images_in=["p", "td", "th", "a"],
    )
    try:
        text = convert(chosen.html or "", options).content or ""
    except ConversionError:
        text = ""
    return title, text if len(text) >= _SHARE_OF_TEXT * len(plain) and text else plain


def _base_of(page: LexborHTMLParser, url: str) -> str:
    """Return what the page's links are relative to."""
    named = page.css_first("base[href]")
    try:
        return url if named is None else urljoin(url, named.attributes.get("href") or "")
    except ValueError:
        return url


def _prune(page: LexborHTMLParser) -> None:
    """Take out what a reader of the page does not see, and what only leads elsewhere."""
    for selector, is_taken_out in _TAKEN_OUT:
        for node in _inner_first(page, selector):
            if node.tag not in _ROOTS and is_taken_out(node):
                node.decompose()
    for selector in _OPENED:
        for node in _inner_first(page, selector):
            node.unwrap()


def _inner_first(page: LexborHTMLParser, selector: str) -> list[LexborNode]:
    """Return what fits one selector, so that no node is met after what holds it is gone."""
    return page.css(selector)[::-1]


def _is_any(_: LexborNode) -> bool:
    return True


def _is_hidden(node: LexborNode) -> bool:
    return _HIDING_STYLE.search(node.attributes.get("style") or "") is not None


def _is_of_page(node: LexborNode) -> bool:
    """Whether a header is the page's: that of an article is its title."""
    above = node.parent
    while above is not None and above.tag not in _INSIDE:
        above = above.parent
    return above is None


def _is_anchor(node: LexborNode) -> bool:
    return node.text(strip=True) in _ANCHOR_SIGNS


def _main_of(page: LexborHTMLParser, body: LexborNode) -> LexborNode:
    mains = page.css("main, [role=main]")
    if len(mains) != 1:
        return body
    whole, inner = len(body.text()), len(mains[0].text())
    return mains[0] if inner >= _SHARE_OF_MAIN * whole else body


_TAKEN_OUT: tuple[tuple[str, Callable[[LexborNode], bool]], ...] = (
    *((selector, _is_any) for selector in _NEVER_SHOWN),
    ("[style]", _is_hidden),
    *((selector, _is_of_page) for selector in ("header", "footer", "[role=banner]")),
    ("a[href^='#']", _is_anchor),
    ("a[href^='javascript:' i]", _is_anchor),
)
_OPENED = ("form", "a[href^='javascript:' i]")

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
    sys.stdout.write(main(sys.stdin.buffer))
