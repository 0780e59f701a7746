"""What the documentation shows is true of the program: programs, configurations, commands, links, figures."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from cudalint.cli.group import cli
from cudalint.hardware.targets import find_target
from cudalint.launches.recorded.records import RecordedKernel, RecordedLaunch, Recording
from cudalint.launches.recorded.texts import recording_in, text_of
from cudalint.options.analysis import AnalysisOptions
from cudalint.project.config import load_config
from cudalint.project.settings import DEFAULT_MIN_SHARE
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

_ROOT = Path(__file__).parent.parent
_PAGES = sorted([*(_ROOT / "docs").rglob("*.md"), *_ROOT.glob("*.md"), *(_ROOT / "examples").rglob("*.md")])
_LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)]+))?\)")


def _blocks(page: str, language: str) -> list[str]:
    text = (_ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def _report(path: str, source: str) -> FileReport:
    report = check_file(CheckJob(path, AnalysisOptions(unsaved=((path, source),)), Selection(), pictures=False))
    assert isinstance(report, FileReport), report
    return report


def test_what_the_architecture_names_is_there() -> None:
    """`codegen/machine.py: machine_accesses` is a module whose path ends so, and a function or class in it."""
    page = (_ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    modules = [path for folder in ("cudalint", "rules", "tests") for path in (_ROOT / folder).rglob("*.py")]
    named = re.findall(r"`([\w/]+\.py)(?:: ([\w.]+))?`", page)
    assert len(named) > 40
    for path, name in named:
        found = [module for module in modules if module.as_posix().endswith(f"/{path}")]
        assert found, path
        last = name.rpartition(".")[2]
        assert not name or any(re.search(rf"(def|class) {last}\b", module.read_text()) for module in found), name


def test_every_folder_of_the_program_is_described() -> None:
    page = (_ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    folders = {path.parent.relative_to(_ROOT).as_posix() for path in (_ROOT / "cudalint").rglob("__init__.py")}
    assert folders - {"cudalint"} == set(re.findall(r"^\| `(cudalint/[\w/]+)/`", page, re.MULTILINE))


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(_ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target, anchor in _LINK.findall(re.sub(r"`[^`\n]*`", "", prose)):
        if "://" in target:
            continue
        linked = page.parent / target if target else page
        assert linked.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_the_annotated_kernel() -> None:
    """Every annotation of the example can be used, and the suppression suppresses."""
    (source,) = _blocks("annotations.md", "cuda")
    report = _report("a.cu", source)
    assert report.diagnostics == report.unused == ()
    assert {d.code for d in report.suppressed} == {"CL101"}


def test_the_step_of_the_guide_is_that_of_the_example() -> None:
    """Whoever pastes what the guide prints has the bounds that the example has."""
    steps = [_lines(step) for step in _blocks("guide/transpose.md", "cuda") if "__syncthreads" in step]
    example = _lines((_ROOT / "examples" / "transpose.cu").read_text(encoding="utf-8"))
    assert steps and all(step in example for step in steps)


def test_the_cures_of_the_guide_are_those_of_its_examples() -> None:
    """Each example of a textbook's fault has the fault in its first kernel, and in its last the cure that is shown."""
    examples = sorted((_ROOT / "docs" / "guide" / "examples" / "faults").glob("*.cu"))
    page = (_ROOT / "docs" / "guide" / "faults.md").read_text(encoding="utf-8")
    sections = {name: _section(page, f"examples/faults/{name}") for name in (path.name for path in examples)}
    for path in examples:
        source = path.read_text(encoding="utf-8")
        (cure,) = re.findall(r"^```cuda\n(.*?)^```$", sections[path.name], re.MULTILINE | re.DOTALL)
        assert _lines(cure) in _lines(source), path.name
        options = AnalysisOptions(unsaved=((str(path), source),))
        job = CheckJob(str(path), options, Selection(extend_select=("CL503",)), pictures=False)
        report = check_file(job)
        assert isinstance(report, FileReport)
        shown = report.with_least(DEFAULT_MIN_SHARE)
        first, *_, last = re.findall(r"__global__ void (\w+)", source)
        assert {d.kernel for d in shown.diagnostics} == {first} != {last}, path.name


def _section(page: str, named: str) -> str:
    (found,) = (section for section in page.split("\n## ") if named in section)
    return found


def _lines(code: str) -> str:
    return "\n".join(line.strip() for line in code.strip().splitlines())


def test_the_kernel_in_python() -> None:
    (source,) = _blocks("python.md", "python")
    report = _report("a.py", source)
    assert report.status == "ok"
    assert report.diagnostics == report.unused == ()
    assert [d.code for d in report.suppressed] == ["CL201"]


def test_the_configuration(tmp_path: Path) -> None:
    (text,) = _blocks("configuration.md", "toml")
    (tmp_path / "pyproject.toml").write_text(text)
    config = load_config(str(tmp_path / "pyproject.toml"))
    assert config.target == "h100"
    assert config.kernels[0].pattern == "sgemm*"


def test_the_recording() -> None:
    """It is as the program writes it."""
    (text,) = _blocks("recording.md", "json")
    recording = recording_in(text.encode())
    assert text_of(recording) == text
    assert [kernel.launches[0].count for kernel in recording.kernels] == [400]
    named = re.findall(r"^\| (`[^|]*`) \|", (_ROOT / "docs" / "recording.md").read_text(encoding="utf-8"), re.MULTILINE)
    words = {word for row in named for word in re.findall(r"`(?:\w+\[\])?\.?(\w+)`", row)}
    for record in (Recording, RecordedKernel, RecordedLaunch):
        assert set(record.__struct_fields__) - {"kernels", "launches"} <= words


def test_the_configuration_of_recordings(tmp_path: Path) -> None:
    (text,) = _blocks("recording.md", "toml")
    (tmp_path / "pyproject.toml").write_text(text)
    config = load_config(str(tmp_path / "pyproject.toml"))
    assert config.launches == tuple(str(tmp_path / folder / "launches.json") for folder in ("tests", "bench"))
    assert config.only_recorded


def test_commands_have_the_options_that_are_shown() -> None:
    """Each command line that a page shows is one that the program takes, as far as its options go."""
    context = click.Context(cli)
    shown = 0
    for page in _PAGES:
        for block in re.findall(r"^```(?:sh|console)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S):
            for line in re.findall(r"^(?:\$ )?cudalint (.*)$", block, re.MULTILINE):
                words = shlex.split(line.partition("#")[0].partition(" -- ")[0])
                name = words.pop(0) if words and words[0] in cli.list_commands(context) else "check"  # type: ignore[attr-defined]
                command = cli.get_command(context, name)  # type: ignore[attr-defined]
                names = {option for parameter in command.params for option in parameter.opts + parameter.secondary_opts}
                used = {word.partition("=")[0] for word in words if word.startswith("-")}
                assert used <= names | {"--help"}, line
                shown += 1
    assert shown > 10


def test_the_figures_are_those_of_the_target() -> None:
    """The shared memory, SMs and registers that the pages of rules speak of."""
    a100 = find_target("a100")
    assert (a100.sm_count, a100.shared_per_block, a100.registers_per_block) == (108, 48 << 10, 65536)
    pages = {page.name: page.read_text(encoding="utf-8") for page in _PAGES}
    assert "48 KB" in pages["CL202-shared-memory-limit.md"]
    assert "of 108 SMs" in pages["CL504-tail-effect.md"]


def test_python_files_start_nothing(tmp_path: Path) -> None:
    """Linting runs no code of the linted project."""
    path = tmp_path / "a.py"
    path.write_text("import os\nos.mkdir('made')\nk = RawKernel(open('x').read() or exit(3), 'k')\n")
    done = subprocess.run([sys.executable, "-m", "cudalint", "a.py"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0
    assert [p.name for p in tmp_path.iterdir()] == ["a.py"]
