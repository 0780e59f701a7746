"""Tests run the program on files that they make themselves: nothing of that belongs in a user's cache of results.

`gaps.txt` beside this names the tests that fail, with the cause: they are run, and one that passes has to leave it.
`slow.txt` has parts of the names of tests that take long: they run with `-m slow`, and all there are with `-m ""`.
`-m core` runs what whoever changes the analysis wants to know within half a minute.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from msgspec.structs import replace

os.environ["CUDALINT_NO_CACHE"] = "1"
# In a fresh checkout the first random case takes seconds: hypothesis reads all modules for their constants then. On a
# machine that does other things as well, any other may.
settings.register_profile("patient", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

_HERE = Path(__file__).parent
_GAPS, _SLOW = (_HERE / name for name in ("gaps.txt", "slow.txt"))
_CORE = (
    "tests/execute/", "tests/worlds/", "tests/measure/", "tests/hardware/test_",
    "tests/test_fixtures.py::test_fixture[rules/examples/",
)  # fmt: skip
"""What the names of core tests begin with; slow ones are none."""
_WHOLE_ANALYSES = tuple(
    f"tests/{name}.py"
    for name in (
        "execute/test_library_warps", "measure/test_branch_verdicts", "measure/test_hoisting",
        "measure/test_narrow_elements", "measure/test_placed_variables", "measure/test_resources",
        "measure/test_straight_code", "measure/test_unrolling",
    )
)  # fmt: skip
"""Files below those of many kernels that are analysed from their text."""


def pytest_configure(config: pytest.Config) -> None:
    if config.option.markexpr == "core":
        os.environ.setdefault("CUDALINT_EXAMPLES", "0.25")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files without core tests are not even read by who asks for these only, for that would take as long as they do."""
    if config.option.markexpr != "core" or collection_path.suffix != ".py":
        return None
    name = collection_path.relative_to(_HERE.parent).as_posix()
    is_core = any(name.startswith(part.partition("::")[0]) for part in _CORE) and name not in _WHOLE_ANALYSES
    return None if is_core or collection_path.name == "conftest.py" else True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the slow ones, and those of `gaps.txt`, where a line that begins with `#` is the cause of those that follow
    it."""
    cause, causes = "", {}
    for line in _GAPS.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            cause = line.lstrip("# ")
        elif line:
            causes[line] = cause
    slow = _SLOW.read_text(encoding="utf-8").split()
    for item in items:
        if any(part in item.nodeid for part in slow):
            item.add_marker(pytest.mark.slow)
        elif item.nodeid.startswith(_CORE) and not item.nodeid.startswith(_WHOLE_ANALYSES):
            item.add_marker(pytest.mark.core)
        if item.nodeid in causes:
            item.add_marker(pytest.mark.xfail(reason=causes[item.nodeid], strict=True))


@pytest.fixture(scope="session", autouse=True)
def _an_empty_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The current folder of all tests. A source that is given as a text lies there, and what nothing in it says (who
    launches a kernel, how it is built) is looked for around it: in the repository that would be a thousand files."""
    os.chdir(tmp_path_factory.mktemp("empty"))


@pytest.fixture
def stores_without_reads_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """For kernels of a statement or two that store to shared arrays which nobody reads: a compiler drops such stores
    (`tests/measure/test_unread.py`), and here it is they that are looked at."""
    from cudalint.measure.work import shared

    monkeypatch.setattr(shared, "_UNREAD", replace(shared._UNREAD, is_on=False))
