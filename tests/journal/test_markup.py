"""No text becomes HTML: only what was made as markup is."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st
from journal.generated_events import TEXTS

from goldseam.journal.markup import Markup, plain, shown, tag
from goldseam.journal.visible import visible


class Reader(HTMLParser):
    """Reads back what a browser would: tags, and the text between them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@given(TEXTS | st.text("<>&\"'/!-a \n\t\x1b\u202e", max_size=30))
def test_text_comes_back_as_text_with_strange_signs_named(text: str) -> None:  # security 46
    reader = Reader()
    reader.feed(tag("p", text))
    reader.close()
    assert set(reader.tags) <= {"p", "i"}
    assert reader.text == "".join(s if s in "\n\t" else visible(s) for s in text)


def test_what_is_passed_over_quickly_is_plainly_seen() -> None:
    ranges = [(0x3001, 0x303E), (0x3041, 0x3096), (0x30A1, 0x30FA), (0x4E00, 0x9FFF)]
    ranges += [(0xAC00, 0xD7A3), (0xFF01, 0xFF5E)]
    signs = "".join(chr(number) for first, last in ranges for number in range(first, last + 1))
    assert shown(signs) == visible(signs) == signs


def test_elements_hold_elements_and_attributes_hold_one_line() -> None:
    inner = tag("b", "x<y", class_="a", data_of='"q"\n<', title="")
    assert inner == '<b class="a" data-of="&quot;q&quot;\\u{a}&lt;">x&lt;y</b>'
    assert tag("p", inner, " & ") == f"<p>{inner} &amp; </p>"
    assert tag("br") == "<br>"
    assert shown(Markup("<b>")) == "<b>"
    assert plain("a\n<") == "a\\u{a}&lt;"
