"""The HTML report as people use it: opened, searched, filtered and stepped through in a browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile_page import ANCHOR, HOSTILE, PATH, hostile_result, page_of
from msgspec.structs import replace

from cudalint.report.findings.results import CheckResult

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright comes with the extra `browser`")
    with api.sync_playwright() as playwright:
        own = next(filter(None, map(shutil.which, _BROWSERS)), None)
        try:
            started = playwright.chromium.launch(executable_path=own, args=["--no-sandbox"])
        except api.Error as error:
            pytest.skip(f"no browser starts: {error.message.splitlines()[0]}")
        yield started
        started.close()


def _opened(browser: Any, path: Path, result: CheckResult, **options: Any) -> Any:
    """A report in a page; `messages` of it is what the console says."""
    path.write_text(page_of(result), encoding="utf-8")
    opened = browser.new_context(**options).new_page()
    opened.messages = []
    for event in ("console", "pageerror", "dialog", "requestfailed"):
        opened.on(event, lambda found: opened.messages.append(str(found)))
    opened.goto(path.as_uri())
    return opened


def _many(kernels: int) -> CheckResult:
    """The kernel of the hostile source under so many names, each of which has the findings and another time."""
    result = hostile_result()
    (shown,) = result.kernels
    named, found = [], []
    for number in range(1, kernels + 1):
        name = f"transpose{number}"
        costs = tuple(replace(cost, time_us=(cost.time_us or 0.0) * number) for cost in shown.facts.costs or ())
        named.append(replace(shown, facts=replace(shown.facts, name=name, costs=costs)))
        found += [
            replace(each, kernel=name, also=tuple(replace(other, kernel=name) for other in each.also))
            for each in result.diagnostics
        ]
    return replace(result, kernels=tuple(named), diagnostics=tuple(found))


def test_a_report_of_many_kernels(browser: Any, tmp_path: Path) -> None:
    """Kernels are made ready when somebody opens them, follows a link into them, or steps through findings."""
    page = _opened(browser, tmp_path / "many.html", _many(60))
    rows = page.locator("section.kernel")
    assert rows.count() == 60
    assert page.evaluate("document.querySelectorAll('*').length") < 6000
    assert page.locator(".body").count() == 0
    assert page.evaluate("document.documentElement.scrollHeight") < 8000

    # The first change leads to its finding.
    page.locator(".changes a").first.click()
    focused = page.url.partition("#")[2]
    page.locator(f"[id='{focused}']").wait_for(state="visible")
    assert page.locator(".body").count() == 1

    # A kernel is opened, and by keys.
    rows.nth(5).locator("summary").first.click()
    rows.nth(5).locator(".lead").wait_for(state="visible")
    assert rows.nth(5).locator("button.copy").count() > 0
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    rows.nth(6).locator(".lead").wait_for(state="visible")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.closest('section').id") == rows.nth(6).get_attribute("id")
    assert page.evaluate("document.activeElement.matches('article.f')")
    page.evaluate("document.querySelectorAll('section.kernel')[8].querySelector('summary').focus()")
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.closest('section').id") == rows.nth(7).get_attribute("id")

    # What is not there yet is searched all the same, and filtered: the text of the source, not its markup.
    page.locator("#search").fill("transpose59 threadidx")
    assert page.locator("section.kernel:visible").count() == 1
    page.locator("#search").fill("blockIdx.x * 32 + threadIdx.x, y")
    assert page.locator("section.kernel:visible").count() == 60
    page.locator("#search").fill("colspan")
    assert page.locator("section.kernel:visible").count() == 0
    page.keyboard.press("Escape")
    page.locator("input[name=severity][value=error]").uncheck()
    assert page.locator("section.kernel:visible").count() == 60
    page.locator("input[name=severity][value=warning]").uncheck()
    assert page.locator("section.kernel:visible").count() == page.locator("[data-has*='/info']").count()
    page.locator("input[name=severity]").first.check()
    rows.nth(20).locator("summary").first.click()
    rows.nth(20).locator(".lead").wait_for(state="visible")
    assert rows.nth(20).locator("article.error:visible").count() > 0
    assert rows.nth(20).locator("article.warning:visible").count() == 0

    # Another order, of the whole list.
    names = "[...document.querySelectorAll('section.kernel')].map(each => each.dataset.name)"
    page.locator("#sort").select_option("name")
    assert page.evaluate(names) == sorted(page.evaluate(names))
    page.locator("#sort").select_option("time")
    times = page.evaluate("[...document.querySelectorAll('section.kernel')].map(each => +each.dataset.time)")
    assert times == sorted(times, reverse=True)

    # The map has the kernels that take most, as links to them.
    assert page.locator(".map a").count() == 40
    assert page.locator(".map a").first.text_content().count("transpose60") > 0
    assert page.messages == []
    page.context.close()


def test_a_report_without_scripts(browser: Any, tmp_path: Path) -> None:
    """All of it is there, folded."""
    page = _opened(browser, tmp_path / "plain.html", _many(60), java_script_enabled=False)
    assert page.locator("section.kernel .body").count() == 60
    assert page.locator("section.kernel .lead:visible").count() == 0
    page.locator("section.kernel summary").first.click()
    assert page.locator("section.kernel .lead:visible").count() == 1
    assert page.locator("section.kernel article.f:visible").count() > 0
    page.context.close()


@pytest.mark.parametrize("width", [400, 800, 1400])
def test_nothing_runs_over(browser: Any, tmp_path: Path, width: int) -> None:
    page = _opened(browser, tmp_path / "wide.html", _many(3), viewport={"width": width, "height": 900})
    page.locator("#fold").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # No cell of a row runs over into the next one.
    cells = "[...document.querySelectorAll('.k > summary > *')]"
    assert page.evaluate(f"{cells}.every(cell => cell.scrollWidth <= cell.clientWidth + 1)")
    page.context.close()


def test_a_report_is_used(browser: Any, tmp_path: Path) -> None:
    page = _opened(browser, tmp_path / "report.html", hostile_result())

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
    page.locator("details.pick summary", has_text="Rules").click()
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
    assert not page.locator("summary .gain").first.is_visible()
    box.check()
    assert page.locator("summary .gain").first.is_visible()

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
    assert page.evaluate("document.querySelector('.kernel h3').clientWidth") > 300

    # All of that in silence, and what the source says is still text.
    assert HOSTILE in page.locator(f"#{ANCHOR}").inner_text()
    assert page.locator("img").count() == 0
    assert page.messages == []
