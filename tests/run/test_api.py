"""cudalint as a library: `check`, `facts`, files as they finish, and what notebooks show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cudalint
from cudalint.cli import run as command_line
from cudalint.cli.group import cli
from cudalint.project.config import ConfigError
from cudalint.report.formats.notebooks import page_of

_ROOT = Path(__file__).parents[2]
_TRANSPOSE = str(_ROOT / "examples" / "transpose.cu")
_STRIDED = "__global__ void strided(float *out)\n{\n    out[threadIdx.x * 32] = 1.0f;\n}\n"
_PLAIN = cudalint.Configuration(cache=False, no_config=True)
_GLOBAL = cudalint.Configuration(cache=False, no_config=True, select=["CL1"])


def test_the_import_is_cheap() -> None:
    program = "import sys, cudalint; print([m for m in ('numpy', 'msgspec', 'click', 'clang') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    with pytest.raises(AttributeError):
        cudalint.chekc  # noqa: B018
    assert {"check", "facts", "Report"} <= set(dir(cudalint))


def test_a_report_is_what_the_command_line_prints(capfd: pytest.CaptureFixture[str]) -> None:
    environment = dict(os.environ)
    report = cudalint.check(_TRANSPOSE, _PLAIN)
    assert dict(os.environ) == environment
    command_line([_TRANSPOSE, "--no-cache", "--no-config", "--no-color", "--no-show"])
    assert str(report) == capfd.readouterr().out
    assert [finding.code for finding in report] == ["CL101", "CL201"]
    assert (len(report), report.count("warning"), report.target) == (2, 2, "a100")
    assert report.reaches("warning")
    assert not report.reaches("error")
    assert repr(report) == "<cudalint.Report of 1 file: 2 findings, 0 failures>"
    assert report.render("sarif").startswith("{")
    with pytest.raises(ValueError, match="no format"):
        report.render("pdf")  # type: ignore[arg-type]


def test_texts_need_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    report = cudalint.check(config=_GLOBAL, texts={"strided.cu": _STRIDED})
    assert [(finding.code, finding.place.line) for finding in report] == [("CL101", 3)]
    assert repr(report.findings[0]).startswith("<CL101 uncoalesced-access at strided.cu:3:5: 32 sectors per request")
    assert "out[threadIdx.x * 32]" in str(report)


def test_files_as_they_finish(tmp_path: Path) -> None:
    for name in ("a.cu", "b.cu"):
        (tmp_path / name).write_text(_STRIDED)
    config = cudalint.Configuration(cache=False, no_config=True, jobs=1, select=["CL1"])
    run = cudalint.Check([tmp_path, "none.cu"], config)
    for file in run:
        assert [finding.code for finding in file] == ["CL101"]
        break
    there = run.so_far()
    assert not there.is_complete
    assert len(there.findings) == 1
    assert sorted(os.path.basename(failure.path) for failure in there.failures) == ["b.cu", "none.cu"]
    report = run.report()
    assert report.is_complete
    assert len(report.findings) == 2
    assert [failure.path for failure in report.failures] == ["none.cu"]


def test_facts() -> None:
    found = cudalint.facts(_TRANSPOSE, _PLAIN, only="accesses")
    assert len(found.kernels) == 3
    naive = next(kernel for kernel in found.kernels if kernel.name == "naive")
    figures = {access.operation: access.results[0].sectors_per_request for access in naive.accesses}
    # Loads walk along rows of float, 32 lanes of 4 bytes; stores along columns, each lane in a sector of its own.
    assert figures == {"load": 4.0, "store": 32.0}
    assert naive.races is None
    assert "global store" in str(found)
    # What a prompt shows of a record is a line.
    shown = (*found.files, naive, *naive.accesses, *naive.accesses[0].results)
    assert max(len(repr(record)) for record in shown) < 450
    assert repr(naive.accesses[0].results[0].sample).startswith("<Sample of ")
    assert repr(naive) == f"<KernelFacts of naive at {_TRANSPOSE}:6: 1 launch, 2 accesses>"
    assert found._repr_html_().startswith("<pre")
    one = cudalint.facts(_TRANSPOSE, _PLAIN, only="occupancy", kernel="pad*")
    assert [kernel.name for kernel in one.kernels] == ["padded"]
    with pytest.raises(ValueError, match="`access`; did you mean `accesses`"):
        cudalint.facts(_TRANSPOSE, _PLAIN, only="access")
    # The package of the records and the function have one name.
    import cudalint.facts as package

    assert [file.path for file in package(texts={"s.cu": _STRIDED}, config=_PLAIN)] == ["s.cu"]  # type: ignore[operator]


@pytest.mark.parametrize(
    "config",
    [
        {"target": "a1000"}, {"block": 0}, {"block": (1, 2, 3, 4)}, {"grid": 4}, {"std": "fortran"},
        {"select": ["CL999"]}, {"thresholds": {"bank-conflict.lanes": 1}}, {"params": {"n m": 1}},
        {"params": {"n": "1 +"}}, {"assumes": ["n +"]}, {"time_limit": 0.0}, {"jobs": 0}, {"defines": ["-D"]},
        {"no_config": True, "config": "cudalint.toml"},
    ],
)  # fmt: skip
def test_values_that_mean_nothing(config: dict[str, object]) -> None:
    with pytest.raises(cudalint.ConfigurationError):
        cudalint.check(_TRANSPOSE, cudalint.Configuration(**config))  # type: ignore[arg-type]


def test_a_configuration_file_that_is_not_there() -> None:
    with pytest.raises(ConfigError):
        cudalint.check(_TRANSPOSE, cudalint.Configuration(config="none.toml"))


def test_a_configuration_has_every_option_of_the_analysis() -> None:
    command = cli.get_command(None, "facts")  # type: ignore[arg-type]
    assert command is not None
    names = {parameter.name for parameter in command.params}
    own = {"paths", "format_", "only", "color", "force_exclude"}
    assert names - own <= set(cudalint.Configuration.__struct_fields__)


def test_a_notebook_shows_pictures_and_nothing_unescaped() -> None:
    source = _STRIDED.replace("= 1.0f;", "= 1.0f; // <script>alert(1)</script>")
    shown = cudalint.check(config=_PLAIN, texts={"<b>.cu": source})._repr_html_()
    assert "<script" not in shown
    assert "<b>" not in shown
    assert "&lt;script&gt;" in shown
    assert "one request, of warp 0, touches 32 sectors" in shown
    assert set(re.findall(r"</?(\w+)", shown)) == {"pre", "span"}
    assert shown.count("<span") == shown.count("</span>")


def test_sequences_of_terminals_become_elements() -> None:
    link = "\x1b]8;;https://example.org/a\x1b\\\x1b[1;31mCL201\x1b[0m\x1b]8;;\x1b\\ & more"
    assert page_of([link]).endswith(
        '><a href="https://example.org/a"><span style="font-weight:bold;color:#c33">CL201</span></a> &amp; more</pre>'
    )
    # Neither other addresses nor other sequences get through.
    odd = page_of(['\x1b]8;;javascript:alert(1)\x1b\\x\x1b]8;;\x1b\\\x1b[2J"'])
    assert "javascript" not in odd
    assert "\x1b" not in odd
    assert odd.endswith("x\ufffd[2J&quot;</pre>")


@pytest.mark.parametrize("number", range(4))
def test_the_documentation_shows_programs_that_run(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(_ROOT)
    monkeypatch.setenv("CUDALINT_CACHE_DIR", "")
    page = (_ROOT / "docs" / "python-api.md").read_text(encoding="utf-8")
    programs = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(programs) == 4
    exec(compile(programs[number], f"program {number}", "exec"), {})


def test_findings_of_one_cause_are_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on the command line: loads of two columns of one tile, no neighbours, are one finding with two places."""
    monkeypatch.chdir(tmp_path)
    loads = "out[threadIdx.x] = t[threadIdx.x][0];\n  out[threadIdx.x + 32] = t[threadIdx.x][5];"
    text = (
        "__global__ void k(float *out) {\n  __shared__ float t[32][32];\n  t[0][threadIdx.x] = 1;\n"
        f"  __syncthreads();\n  {loads}\n}}\nvoid go(float *out) {{ k<<<1, 32>>>(out); }}\n"
    )
    report = cudalint.check(texts={"a.cu": text})
    (conflict,) = [finding for finding in report if finding.code == "CL201"]
    assert [place.line for place in (conflict.place, *(also.place for also in conflict.also))] == [5, 6]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"select": "CL201"}, "select is 'CL201', and has to be a list of texts, as in ['CL201']"),
        ({"block": "32,8"}, "block is '32,8', and has to be a number or a list of numbers"),
        ({"block": "x"}, "block is 'x', and has to be a number or a list of numbers"),
        ({"params": ["n"]}, "params is ['n'], and has to be a mapping from names to values"),
        ({"min_share": "all"}, "min_share is 'all', and has to be a number"),
        ({"race_scope": "warp"}, "race_scope is 'warp', and has to be one of "),
        ({"assume": ["n > 1"]}, "a Configuration has no `assume`; did you mean `assumes`?"),
        ({"maxrregcount": 32}, "a Configuration has no `maxrregcount`; did you mean `max_registers`?"),
        ({"targt": "a100"}, "a Configuration has no `targt`; did you mean `target`?"),
    ],
)
def test_values_of_another_type_and_fields_of_another_name(config: dict[str, object], message: str) -> None:
    with pytest.raises(cudalint.ConfigurationError, match=re.escape(message)):
        cudalint.Configuration(**config).settings()  # type: ignore[arg-type]


def test_paths_are_taken_as_they_are(tmp_path: Path) -> None:
    cudalint.Configuration(include_dirs=[tmp_path], config=None, cache_dir=tmp_path).settings()  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("paths", "texts", "message"),
    [
        (42, None, "paths: 42 is no path"),
        (b"a.cu", None, "paths: b'a.cu' is no path"),
        (["a.cu", 1], None, "paths: 1 is no path"),
        ([], "int x;", "texts is str, and has to be a mapping"),
        ([], {"a.cu": b"int x;"}, "texts: 'a.cu' and its source have to be of type str"),
    ],
)
def test_what_is_no_file_and_no_text(paths: object, texts: object, message: str) -> None:
    for call in (cudalint.check, cudalint.facts):
        with pytest.raises(cudalint.ConfigurationError, match=re.escape(message)):
            call(paths, _PLAIN, texts=texts)


def test_nothing_at_all_is_no_clean_report() -> None:
    with pytest.raises(cudalint.ConfigurationError, match="nothing to look at"):
        cudalint.check()
    # What a program has found may be nothing.
    assert len(cudalint.check([], _PLAIN)) == 0


def test_one_finding_of_a_report() -> None:
    report = cudalint.check(config=_GLOBAL, texts={"a.cu": _STRIDED, "b.cu": _STRIDED.replace("32", "16")})
    first = report[0]
    assert first is report.findings[0]
    alone = report[:1]
    assert alone.findings == (first,)
    assert str(alone).count("CL101]") == 1
    assert "CL101" in alone._repr_html_()
