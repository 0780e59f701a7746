"""The README's pictures show what the commands print now."""

from __future__ import annotations

from pathlib import Path

from terminal_pictures import COMMANDS, IMAGES, pictures

_ROOT = Path(__file__).parents[2]


def test_the_pictures_are_what_is_printed() -> None:
    drawn = pictures()
    kept = {name: (IMAGES / name).read_text(encoding="utf-8") for name in drawn}
    assert kept == drawn, "python benchmarks/terminal_pictures.py"


def test_the_readme_shows_each_with_its_command() -> None:
    readme = (_ROOT / "README.md").read_text(encoding="utf-8")
    for name, command in COMMANDS.items():
        assert f'srcset="docs/images/{name}-dark.svg"' in readme
        assert f'src="docs/images/{name}-light.svg"' in readme
        assert command in readme


def test_no_other_pictures_are_kept() -> None:
    kept = {path.name for path in IMAGES.iterdir() if not path.name.startswith("guide-")}
    assert kept == {f"{name}-{look}.svg" for name in COMMANDS for look in ("light", "dark")}
