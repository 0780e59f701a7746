"""The HTML report as people use it: opened, searched, filtered and stepped through in a browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile_page import ANCHOR, HOSTILE, PATH, hostile_result, page_of

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The page of the hostile source; `page.messages` is what the console says."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright comes with the extra `browser`")
    path = tmp_path_factory.mktemp("report") / "report.html"
    Path(path).write_text(page_of(hostile_result()), encoding="utf-8")
    with api.sync_playwright() as playwright:
        own = next(filter(None, map(shutil.which, _BROWSERS)), None)
        try:
            browser = playwright.chromium.launch(executable_path=own, args=["--no-sandbox"])
        except api.Error as error:
            pytest.skip(f"no browser starts: {error.message.splitlines()[0]}")
        opened = browser.new_page()
        opened.messages = []
        for event in ("console", "pageerror", "dialog", "requestfailed"):
            opened.on(event, lambda found: opened.messages.append(str(found)))
        opened.goto(path.as_uri())
        yield opened
        browser.close()


def test_a_report_is_used(page: Any) -> None:
    # No cell of the table runs over into the next one.
    cells = "[...document.querySelectorAll('.rank td')]"
    assert page.evaluate(f"{cells}.every(cell => cell.scrollWidth <= cell.clientWidth)")

    findings = page.locator("article.f")
    number = findings.count()
    assert number >= 3

    # From one finding to the next, and to the one before.
    focused = []
    for key in ("j", "j", "k"):
        page.keyboard.press(key)
        focused.append(page.evaluate("document.activeElement.id"))
    assert focused[0] == focused[2] != focused[1]
    assert all(anchor.startswith(f"{ANCHOR}-CL") for anchor in focused)

    # A rule that is not wanted, and one that is again.
    box = page.locator("input[name=rule][value=CL201]")
    box.uncheck()
    assert page.locator("article.f[data-code=CL201]:visible").count() == 0
    assert page.locator("article.f[data-code=CL301]:visible").count() > 0
    box.check()
    assert page.locator("article.f:visible").count() == number

    # Search, for what is there and for what is not.
    page.keyboard.press("/")
    page.keyboard.type("threadidx")
    assert page.locator("section.kernel:visible").count() == 1
    page.keyboard.type("zzz")
    assert page.locator("section.kernel:visible").count() == 0
    assert page.locator("#shown").inner_text() == "0 of 1 kernels"
    page.keyboard.press("Escape")
    assert page.locator("section.kernel:visible").count() == 1

    # The keys, in a dialog.
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()

    # The requests of an access, one after the other.
    access = page.locator("details.a", has=page.locator("input[type=range]")).first
    access.locator("summary").click()
    before = access.locator("output").inner_text()
    access.locator("input[type=range]").press("ArrowRight")
    assert access.locator(".picture:visible").count() == 1
    assert access.locator("output").inner_text() == access.locator(".picture:visible").get_attribute("data-caption")
    assert before == access.locator(".picture").first.get_attribute("data-caption")

    # A link to a line.
    page.locator(f"#{ANCHOR}-L7 td.l a").click()
    assert page.url.endswith(f"#{ANCHOR}-L7")

    # A link to what a search hides shows it again.
    page.locator("#search").fill("zzz")
    page.evaluate(f"location.hash = '#{ANCHOR}-L6'")
    page.locator(f"#{ANCHOR}-L6").wait_for(state="visible")

    # The address follows from finding to finding.
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    assert page.url.endswith("#" + page.evaluate("document.activeElement.id"))

    # A gain is that of all findings: without some of them it is not told.
    box.uncheck()
    assert not page.locator(".rank .gain").first.is_visible()
    box.check()
    assert page.locator(".rank .gain").first.is_visible()

    # A change is copied as a patch.
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("button.copy").first.click()
    page.get_by_text("Copied").wait_for()
    patch = page.evaluate("navigator.clipboard.readText()")
    head, *lines = patch.splitlines()
    assert head == f"--- {PATH}"
    assert lines[0] == f"+++ {PATH}"
    # The barrier that the race lacks, as one more line between 6 and 7.
    assert lines[1] == "@@ -6,2 +6,3 @@"
    assert [line[0] for line in lines[2:]] == [" ", "+", " "]

    # Nothing of the form is printed, and on a narrow page nothing runs over.
    page.emulate_media(media="print")
    assert not page.locator("form[role=search]").is_visible()
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("document.querySelector('.rank tbody th').clientWidth") > 300

    # All of that in silence, and what the source says is still text.
    assert HOSTILE in page.locator(f"#{ANCHOR}").inner_text()
    assert page.locator("img").count() == 0
    assert page.messages == []
