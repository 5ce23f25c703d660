import io
import random

import pytest
from html_to_markdown.exceptions import ConversionError

from goldseam.tools.web import page_worker
from goldseam.tools.web.addresses import read_url
from goldseam.tools.web.page_worker import to_markdown
from goldseam.tools.web.pages import Page, read_page
from goldseam.tools.web.reply import Fetched

URL = "https://a.example/docs/x.html"


def shown(body: str) -> str:
    return to_markdown(f"<html><body>{body}</body></html>", URL)[1].strip()


CODE = (
    '<pre><code class="language-python">def f(x):\n'
    '    if x &lt; 1:\n        return "a"\n\n    return x\n</code></pre>'
)


def test_code_keeps_its_lines_and_its_language() -> None:
    assert shown(CODE) == (
        '```python\ndef f(x):\n    if x < 1:\n        return "a"\n\n    return x\n```'
    )


def test_coloured_code_is_code() -> None:
    lines = '<span class="k">for</span> <span>i</span> in x:\n    <b>pass</b>\n'
    assert shown(f'<div class="highlight"><pre>{lines}</pre></div>') == (
        "```\nfor i in x:\n    pass\n```"
    )


def test_tables_stay_tables() -> None:
    table = "<table><tr><th>A</th><th>B</th></tr><tr><td>1|2</td><td>two</td></tr></table>"
    cells = [[cell.strip() for cell in line.split(" | ")] for line in shown(table).splitlines()]
    assert [cells[0], cells[2]] == [["| A", "B   |"], ["| 1\\|2", "two |"]]


@pytest.mark.parametrize(
    ("href", "whole"),
    [
        ("y.html#part", "https://a.example/docs/y.html#part"),
        ("/y?a=1&amp;b=2", "https://a.example/y?a=1&b=2"),
        ("//b.example/y", "https://b.example/y"),
        ("http://b.example/y", "http://b.example/y"),
    ],
)
def test_links_are_made_whole(href: str, whole: str) -> None:
    assert shown(f'<p>see <a href="{href}">there</a></p>') == f"see [there]({whole})"


def test_links_are_relative_to_the_pages_own_base() -> None:
    html = '<head><base href="/other/"></head><a href="y">there</a>'
    assert to_markdown(html, URL)[1].strip() == "[there](https://a.example/other/y)"
    broken = '<head><base href="http://[::"></head><a href="y">there</a>'
    assert to_markdown(broken, URL)[1].strip() == "[there](https://a.example/docs/y)"


@pytest.mark.parametrize(
    "unseen",
    [
        "<script>unseen()</script>",
        "<style>.unseen {}</style>",
        "<noscript>unseen</noscript>",
        "<template>unseen</template>",
        "<!-- unseen -->",
        "<svg><text>unseen</text></svg>",
        '<iframe src="/unseen">unseen</iframe>',
        '<nav><a href="/unseen">unseen</a></nav>',
        "<header>unseen</header>",
        "<footer>unseen</footer>",
        "<aside>unseen</aside>",
        "<button>unseen</button>",
        "<select><option>unseen</option></select>",
        '<input value="unseen">',
        "<div hidden>unseen</div>",
        '<div aria-hidden="true">unseen</div>',
        '<div style="color: red; DISPLAY : none">unseen</div>',
        '<div style="visibility:hidden">unseen</div>',
        '<div style="opacity:0">unseen</div>',
        '<div style="font-size:0px">unseen</div>',
        '<div role="navigation">unseen</div>',
        "<div hidden><div hidden><nav>unseen<nav>unseen</nav></nav></div></div>",
        '<img alt="unseen" src="data:image/png;base64,unseen">',
        '<a href="javascript:unseen()"></a>',
        '<h2>Part</h2><a class="headerlink" href="#unseen">¶</a>',
    ],
)
def test_what_a_reader_does_not_see_is_left_out(unseen: str) -> None:
    text = shown(f"<p>before</p>{unseen}<p>after</p>")
    assert "unseen" not in text
    assert text.startswith("before")
    assert text.endswith("after")


def test_what_a_reader_sees_stays() -> None:
    text = shown(
        "<article><header><h1>The title</h1></header><form><p>in a form</p></form>"
        '<div style="opacity: 0.9">faint</div><img src="a.png" alt="a picture"></article>'
        '<a href="javascript:x()">a word</a>'
    )
    assert text.splitlines()[::2] == [
        "# The title",
        "in a form",
        "faint",
        "![a picture](https://a.example/docs/a.png)",
        "a word",
    ]


def test_the_main_part_stands_for_the_page_where_it_is_most_of_it() -> None:
    main = f"<main><p>{'main words ' * 20}</p></main>"
    assert "beside" not in shown(f"<div>beside</div>{main}")
    assert "beside" in shown(f"<div>{'beside ' * 100}</div>{main}")
    assert "beside" in shown(f"<div>beside</div>{main}{main}")


def test_a_page_too_deep_for_conversion_still_gives_its_text() -> None:
    depth = 5_000
    assert shown(f"{'<div>' * depth}deep words{'</div>' * depth}") == "deep words"


def test_a_page_that_cannot_be_converted_still_gives_its_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise ConversionError("too deep")

    # The library's own failure, which no page is known to bring about.
    monkeypatch.setattr(page_worker, "convert", fail)
    assert shown("<p>words</p>") == "words"


def test_a_title_is_one_line() -> None:
    assert to_markdown("<title>\n The\n title &amp; more</title><p>x", URL)[0] == "The title & more"
    assert to_markdown("", URL) == ("", "")
    assert to_markdown("<frameset></frameset>", URL) == ("", "")


def test_a_hidden_body_is_shown() -> None:
    # such pages show themselves by a script
    assert (
        to_markdown('<html hidden><body style="display:none">words</body>', URL)[1].strip()
        == "words"
    )


PIECES = [
    *("<div>", "</div>", "<p hidden>", "<nav>", "</nav>", "<table>", "<td>", "<form>", "<pre>"),
    *("<main>", "</main>", "<body hidden>", "<html style='display:none'>", "<svg>", "<math>"),
    *("<a href='#'>", "</a>", "<base href='//['>", "<template>", "<header>", "<title>", "<select>"),
    *("<!--", "-->", "<![CDATA[", "\0", "&#xD800;", "&lt;", "<", "words ", "é", "¶", "'"),
]


def test_any_page_can_be_read() -> None:
    dice = random.Random(5)
    for _ in range(500):
        title, text = to_markdown("".join(dice.choices(PIECES, k=dice.randrange(80))), URL)
        assert isinstance(title + text, str)


def reply(body: bytes, content_type: str = "text/html") -> Fetched:
    return Fetched(target=read_url(URL), status=200, content_type=content_type, body=body)


@pytest.mark.anyio
async def test_a_page_is_read_by_a_program_of_its_own() -> None:
    html = "<title>T\u200b</title><p>caf\xe9 <a href=y>there</a></p>".encode("latin-1", "ignore")
    assert await read_page(reply(html, "text/html; charset=latin-1"), limit_s=60) == Page(
        title="T", text="café [there](https://a.example/docs/y)"
    )


@pytest.mark.anyio
async def test_a_page_that_takes_too_long_is_given_up() -> None:
    assert await read_page(reply(b"<p>words"), limit_s=0.001) is None


def test_the_program_answers_in_plain_json() -> None:
    question = io.BytesIO(b"https://a.example/\n<title>T</title><p>\xc3\xa9")
    assert page_worker.main(question) == '{"title": "T", "text": "\\u00e9\\n"}'
