"""Opens an HTML report in a headless Chromium: how large it is, how long it takes to open, what the console says, and
what axe-core finds.

usage: python benchmarks/report_page.py REPORT [--axe axe.min.js] [--seconds N]

Opening counts until the page was drawn, best of three; beside it stands what the page's process computed, which holds
on a busy machine, too. With `--axe` (npm has it as `axe-core`) each kernel's section is looked at by itself, with all
that it folds away open, and the others out of sight: of a page of a hundred kernels as a whole axe doesn't come to an
end. After so many seconds (`--seconds`) it is left at that, and the sections that were looked at are counted.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

_RUNS = 3
_DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
_SECTIONS = "document.querySelectorAll('section.kernel').length"
_LOOK_AT = """async (chosen) => {
  const sections = [...document.querySelectorAll('section.kernel')];
  sections.forEach((section, number) => { section.style.display = number === chosen ? '' : 'none'; });
  const looked = chosen === null ? document : sections[chosen];
  if (chosen !== null) {
    // A kernel is made ready when it is opened, and what is folded in it is there from then on only.
    for (let time = 0; time < 2; time++) {
      looked.querySelectorAll('details').forEach((box) => { box.open = true; });
      await new Promise((done) => setTimeout(done, 20));
    }
  }
  const found = await axe.run(looked, {resultTypes: ['violations']});
  return found.violations.map((each) => [each.impact, each.id, each.nodes.length, each.nodes[0].html.slice(0, 200)]);
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path)
    parser.add_argument("--axe", type=Path, help="where axe.min.js is")
    parser.add_argument("--seconds", type=float, default=600.0)
    arguments = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        _open(browser, arguments.report.resolve())
        if arguments.axe is not None:
            for look in ("light", "dark"):
                _look_at(browser, arguments.report.resolve(), arguments.axe, look, arguments.seconds / 2)
        browser.close()


def _open(browser: Browser, path: Path) -> None:
    opened: list[float] = []
    computed: list[float] = []
    messages: list[str] = []
    for _ in range(_RUNS):
        page = browser.new_page()
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        start = time.monotonic()
        page.goto(path.as_uri())
        page.evaluate(_DRAWN)
        opened.append(time.monotonic() - start)
        metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
        computed.append(metrics["ProcessTime"])
        kernels = page.evaluate(_SECTIONS)
        page.close()
    size = path.stat().st_size
    print(f"{path}: {size / 1e6:.1f} MB, {kernels} kernels, {size / 1000 / max(1, kernels):.0f} KB each")
    print(f"  opened in {min(opened):.2f} s, {min(computed):.2f} s of that computed; {metrics['Nodes']:.0f} nodes")
    print(f"  console: {messages or 'nothing'}")


def _look_at(browser: Browser, path: Path, axe: Path, look: Any, seconds: float) -> None:
    # The page allows no script but its own.
    page = browser.new_context(color_scheme=look, bypass_csp=True).new_page()
    page.goto(path.as_uri())
    page.evaluate(axe.read_text(encoding="utf-8"))
    sections = page.evaluate(_SECTIONS)
    found = Counter[tuple[str, str]]()
    examples: dict[str, str] = {}
    end = time.monotonic() + seconds
    looked = 0
    for chosen in (None, *range(sections)):
        for impact, name, number, example in page.evaluate(_LOOK_AT, chosen):
            found[impact, name] += number
            examples.setdefault(name, example)
        looked += chosen is not None
        if time.monotonic() > end:
            break
    print(f"  axe, {look}: {looked} of {sections} sections and what is around them: {sum(found.values())} faults")
    for (impact, name), number in found.most_common():
        print(f"    {impact} {name}: {number}, such as {examples[name]}")


if __name__ == "__main__":
    main()
