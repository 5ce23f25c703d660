"""The page of a run in a real browser: read, searched and gone through by keyboard alone."""

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from journal.sample_runs import CHINESE, HOSTILE, RUN_ID, long_story, record_of, story
from msgspec import Struct
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from goldseam.journal.html import Finding, page_of
from goldseam.journal.viewing import view_of
from goldseam.kernel.events import Event

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None, reason="chromium and chromedriver are not installed"
)

PATCH = "diff --git a/shop.py b/shop.py\n--- a/shop.py\n+++ b/shop.py\n@@ -1 +1 @@\n-b[1:]\n+b\n"


def logged(browser: Any, name: str) -> list[dict[str, Any]]:
    """Return what the browser has logged since it was asked last; selenium tells no types."""
    entries: list[dict[str, Any]] = browser.get_log(name)
    return entries


class Reader(Struct, frozen=True):
    """Somebody with a browser and a keyboard."""

    browser: Chrome
    folder: Path

    def open(self, events: Iterable[Event], *, finding: Finding | None = None) -> None:
        run = view_of(RUN_ID, record_of(list(events)))
        page = self.folder / "run.html"
        page.write_text(page_of(run, finding or Finding()), encoding="utf-8")
        self.browser.get(page.as_uri())

    def press(self, *keys: str) -> None:
        for key in keys:
            ActionChains(self.browser).send_keys(key).perform()

    def all(self, selector: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> WebElement:
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def run(self, script: str) -> object:
        """Return what `script` gives; the page's own policy does not bind the test."""
        value: object = self.browser.execute_script(script)
        return value

    def focused(self) -> object:
        return self.run("return document.activeElement.id")

    def shown_steps(self) -> list[str | None]:
        return [step.get_attribute("id") for step in self.all(".step") if step.is_displayed()]

    def await_found(self, words: str) -> None:
        WebDriverWait(self.browser, 10).until(lambda _: self.one("#found").text == words)

    def check(self) -> None:
        """Hold that no error stands in the console and that nothing but the page was asked for."""
        errors = [entry for entry in logged(self.browser, "browser") if entry["level"] != "DEBUG"]
        assert errors == []
        sent = [
            json.loads(entry["message"])["message"] for entry in logged(self.browser, "performance")
        ]
        asked = {
            message["params"]["request"]["url"].partition("#")[0]
            for message in sent
            if message["method"] == "Network.requestWillBeSent"
            # The browser's own first tab loads parts of the browser.
            and not message["params"]["documentURL"].startswith("chrome://")
        }
        assert asked == {(self.folder / "run.html").as_uri()}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    options = ChromeOptions()
    options.binary_location = BROWSER or ""
    profile = tmp_path_factory.mktemp("profile")
    words = ["--headless=new", "--disable-gpu", "--window-size=1200,900", "--no-first-run"]
    words += [
        f"--user-data-dir={profile}",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
    ]
    # Chromium's own sandbox does not start for root.
    words += ["--no-sandbox"] if os.geteuid() == 0 else []
    for word in words:
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    made = Chrome(options=options, service=Service(DRIVER or ""))
    try:
        yield made
    finally:
        made.quit()


@pytest.fixture
def reader(browser: Chrome, tmp_path: Path) -> Iterator[Reader]:
    for log in ("browser", "performance"):
        logged(browser, log)
    reader = Reader(browser, tmp_path)
    yield reader
    reader.check()


def test_a_run_is_gone_through_by_keyboard_alone(reader: Reader) -> None:
    reader.open(story(), finding=Finding(verdict="verified", patch=PATCH))
    assert reader.browser.title == f"Sum is off plain · {RUN_ID}"
    assert reader.one(".verdict").text == "verified"
    assert [line.text for line in reader.all(".whole .diff .add, .whole .diff .del")] == [
        "-b[1:]",
        "+b",
    ]
    reader.press(Keys.TAB)
    assert reader.run("return document.activeElement.className") == "skip"
    reader.press(Keys.ENTER, "j", "j", "j", "j")
    assert reader.focused() == "s4"
    reader.press("k")
    assert reader.focused() == "s3"
    reader.press("j", "o")
    folds = reader.all("#s4 details")
    assert folds
    assert all(fold.get_attribute("open") for fold in folds)
    assert "the person was shown" in reader.one("#s4").text
    reader.press("o")
    assert not any(fold.get_attribute("open") for fold in folds)
    reader.press("k", "k", "k", "k", "k")
    assert reader.focused() == "s1"
    # From a step, Tab leads into it: the link to itself, then what is folded.
    reader.press(Keys.TAB, Keys.TAB, Keys.ENTER)
    assert "I should look first. plain" in reader.one("#s1 details[open]").text


def test_a_search_shows_what_fits_and_opens_what_hides_it(reader: Reader) -> None:
    reader.open(story())
    assert not any("whole plain" in block.text for block in reader.all("#s1 pre"))
    reader.press("/")
    assert reader.focused() == "search"
    reader.press("WHOLE plain")
    reader.await_found("1 of 5 steps")
    assert reader.shown_steps() == ["s1"]
    assert any("whole plain" in block.text for block in reader.all("#s1 details[open] pre"))
    assert reader.run("return CSS.highlights.get('found').size") == 1
    reader.press(Keys.ENTER)
    assert reader.focused() == "s1"
    reader.press(Keys.ESCAPE)
    assert len(reader.shown_steps()) == 5
    assert reader.one("#found").text == ""
    assert not reader.all("#s1 details[open]")
    reader.press("/", "nowhere at all")
    reader.await_found("0 of 5 steps")
    reader.press(Keys.ESCAPE)
    assert len(reader.shown_steps()) == 5


def test_buttons_and_the_chart_do_what_they_say(reader: Reader) -> None:
    reader.open(story())
    reader.one("#open-all").click()
    assert not reader.all("main details:not([open])")
    reader.one("#close-all").click()
    assert not reader.all("main details[open]")
    ActionChains(reader.browser).move_to_element_with_offset(
        reader.one("#chart svg"), -round(reader.one("#chart svg").size["width"] / 2) + 60, 0
    ).click().perform()
    assert reader.focused() == "s2"


def test_a_hostile_transcript_is_text_and_nothing_else(reader: Reader) -> None:  # security 46
    reader.open(story(HOSTILE), finding=Finding(verdict=HOSTILE, message=HOSTILE, patch=HOSTILE))
    reader.one("#open-all").click()
    assert reader.run("return typeof window.hacked") == "undefined"
    assert reader.all("main script, main img, main iframe, main a:not([href^='#'])") == []
    text = reader.one("#s1").text
    for words in (
        '<script>window.hacked = true</script></pre></details><img src=x onerror="hacked=1">',
        '<a href="javascript:hacked=1">',
        "&lt;b&gt; $title ${story}",
        r"\u{1b}[31mred",
        r"\u{202e}evil\u{2066}",
        r"a\u{2028}b\u{2029}c \u{d800} \u{0}",
        CHINESE,
    ):
        assert words in text, words
    reader.press("/", "</script>")
    reader.await_found("5 of 5 steps")
    reader.press(Keys.ENTER, Keys.ESCAPE)


def test_the_page_needs_no_script_of_its_own_to_be_read(reader: Reader) -> None:
    reader.open(story())
    reader.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        reader.browser.refresh()
        assert len(reader.shown_steps()) == 5
        reader.one("#s1 summary").click()
        assert "I should look first." in reader.one("#s1").text
    finally:
        reader.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground_in_light_and_dark(reader: Reader, scheme: str) -> None:
    reader.browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    reader.open(story(HOSTILE), finding=Finding(verdict="verified", patch=PATCH))
    reader.one("#open-all").click()
    poor = reader.run(CONTRAST)
    assert poor == []


def test_a_long_run_is_searched_and_read(reader: Reader) -> None:
    reader.open(long_story(2_000, "output\n" * 100))
    reader.press("/", "make part-1999")
    reader.await_found("1 of 2000 steps")
    reader.press(Keys.ENTER)
    assert reader.focused() == "s1999"


CONTRAST = """
const light = (colour) => {
  const parts = colour.match(/[\\d.]+/g).map(Number);
  const [r, g, b] = parts.slice(0, 3).map((part) => {
    const share = part / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (!/, 0\\)$/.test(colour)) return colour;
  }
  return "rgb(255, 255, 255)";
};
const poor = [];
for (const element of document.querySelectorAll("body *")) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!own || element.closest("svg, script")) continue;
  const [a, b] = [light(getComputedStyle(element).color), light(ground(element))].sort();
  const [low, high] = [Math.min(a, b), Math.max(a, b)];
  const contrast = (high + 0.05) / (low + 0.05);
  if (contrast < 4.5) poor.push(`${element.tagName}.${element.className}: ${contrast.toFixed(2)}`);
}
return [...new Set(poor)];
"""
