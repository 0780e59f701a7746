"""The pictures of docs/guide are those that the program draws, and each is shown."""

from __future__ import annotations

from guide_pictures import IMAGES, pictures


def test_the_guide_has_the_pictures_that_are_drawn() -> None:
    drawn = pictures()
    kept = {path.name: path.read_text(encoding="utf-8") for path in IMAGES.glob("guide-*.svg")}
    assert kept == drawn, "python benchmarks/guide_pictures.py"
    pages = "".join(page.read_text(encoding="utf-8") for page in (IMAGES.parent / "guide").glob("*.md"))
    assert [name for name in drawn if f"](../images/{name})" not in pages] == []
