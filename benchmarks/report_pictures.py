"""Makes the pictures of the HTML report that README.md opens with, in docs/images/.

    .venv-dev/bin/pip install -e '.[browser]' && .venv-dev/bin/python benchmarks/report_pictures.py

Needs a Chromium: that of the system, or the one that `playwright install chromium` brings.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

_ROOT = Path(__file__).parents[1]
_IMAGES = _ROOT / "docs" / "images"
_EXAMPLES = ("examples/transpose.cu", "examples/matmul.cu", "examples/naive_product.cu")
_WIDTH = 1000
_FINDING = "#k-examples-transpose-cu-tiled article.f"


def _pictures(page: Page, look: str) -> None:
    page.screenshot(path=_IMAGES / f"report-{look}.png", clip={"x": 0, "y": 0, "width": _WIDTH, "height": 826})
    page.goto(page.url + _FINDING.split()[0])
    page.locator(_FINDING).first.evaluate("finding => finding.closest('tr').previousElementSibling.scrollIntoView()")
    box = page.locator(_FINDING).first.bounding_box()
    assert box is not None
    page.screenshot(
        path=_IMAGES / f"finding-{look}.png",
        clip={"x": 10, "y": max(0.0, box["y"] - 26), "width": _WIDTH - 20, "height": box["height"] + 58},
    )


def main() -> None:
    _IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = Path(folder) / "report.html"
        command = [sys.executable, "-m", "cudalint", "check", *_EXAMPLES, "--exit-zero", "--output", f"html={report}"]
        subprocess.run(command, cwd=_ROOT, check=True, stdout=subprocess.DEVNULL)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for look in ("light", "dark"):
            page = browser.new_page(
                viewport={"width": _WIDTH, "height": 1000}, color_scheme=look, device_scale_factor=1.5
            )
            page.goto(report.as_uri())
            _pictures(page, look)
        browser.close()


if __name__ == "__main__":
    main()
