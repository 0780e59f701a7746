"""The Homebrew formula and the conda recipe, as a release fills them in."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import cudalint

yaml = pytest.importorskip("yaml", reason="PyYAML comes with pre-commit, which comes with the extra `dev`")

_ROOT = Path(__file__).parent.parent


def _module() -> ModuleType:
    found = importlib.util.spec_from_file_location("fill", _ROOT / "distribution" / "fill.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


fill = _module()


def _project() -> Any:
    return tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    sdist = tmp_path / "cudalint-1.2.3.tar.gz"
    sdist.write_bytes(b"an archive")
    fill.main(sdist, tmp_path)
    return tmp_path


def test_the_recipe(written: Path) -> None:
    recipe = yaml.safe_load((written / "recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["package"] == {"name": "cudalint", "version": "1.2.3"}
    assert recipe["source"] == {
        "url": "https://files.pythonhosted.org/packages/source/c/cudalint/cudalint-1.2.3.tar.gz",
        "sha256": hashlib.sha256(b"an archive").hexdigest(),
    }
    named = {text.split()[0] for text in recipe["requirements"]["run"]} - {"python", "python-clang"}
    needed = {re.split("[<>=]", text)[0] for text in _project()["dependencies"]} - {"libclang"}
    assert named == needed
    assert "python-clang >=18.1,<19" in recipe["requirements"]["run"]
    (script,) = recipe["build"]["python"]["entry_points"]
    assert script == f"cudalint = {_project()['scripts']['cudalint']}"
    assert recipe["about"]["homepage"] == _project()["urls"]["Homepage"]


def test_the_formula(written: Path) -> None:
    text = (written / "cudalint.rb").read_text(encoding="utf-8")
    assert not re.search("@[A-Z]+@", text)
    assert f'sha256 "{hashlib.sha256(b"an archive").hexdigest()}"' in text
    assert "cudalint-1.2.3.tar.gz" in text
    ruby = shutil.which("ruby")
    if ruby is not None:
        subprocess.run([ruby, "-c", written / "cudalint.rb"], check=True, capture_output=True)


def test_what_can_not_be_filled_in(tmp_path: Path) -> None:
    sdist = tmp_path / "cudalint-1.tar.gz"
    sdist.write_bytes(b"")
    with pytest.raises(ValueError, match="nothing fills @OTHER@"):
        fill.filled("@VERSION@ @OTHER@", sdist, _project())
    with pytest.raises(ValueError, match="no plain requirement"):
        fill.requirement("rich[jupyter]>=13")


def test_the_formula_s_own_test_finds_what_it_expects(tmp_path: Path) -> None:
    """The program in it has the bank conflict."""
    formula = (_ROOT / "distribution" / "cudalint.rb").read_text(encoding="utf-8")
    (program,) = re.findall(r"<<~CUDA\n(.*?)^    CUDA$", formula, re.MULTILINE | re.DOTALL)
    (tmp_path / "a.cu").write_text(program)
    assert "CL201" in {finding.code for finding in cudalint.check([str(tmp_path / "a.cu")]).findings}
