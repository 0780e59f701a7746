"""One finding for one cause: which findings are told together, in every format, and which are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from linting import lint

from cudalint.cli import run
from cudalint.diagnostics import Diagnostic
from cudalint.report.findings.causes import merged_by_cause
from cudalint.report.findings.merging import merge
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats.wording import notes


def _told(source: str, code: str) -> list[Diagnostic]:
    return list(merged_by_cause(merge(lint(source, code)), SourceLines({"a.cu": source})))


def _lines(diagnostic: Diagnostic) -> list[int]:
    return [diagnostic.place.line, *(other.place.line for other in diagnostic.also)]


def test_a_line_that_kernels_come_through() -> None:
    """The first word of every 32 bytes, in a helper: each lane has a sector of its own."""
    source = """
        __device__ float load(const float *p, int i) { return p[8 * i]; }
        __global__ void first(const float *in, float *out) { out[threadIdx.x] = load(in, threadIdx.x); }
        __global__ void second(const float *in, float *out) { out[threadIdx.x] = load(in, threadIdx.x) + 1; }
        void run(float *a, float *b) { first<<<1, 256>>>(a, b); second<<<1, 256>>>(a, b); }
    """
    (found,) = _told(source, "CL101")
    assert found.message.startswith("32 sectors per request, ideal 4")
    assert set(_lines(found)) == {2}
    assert ("also", "the same in second") in list(notes(found))


def test_variants_of_a_kernel_walk_through_the_same_rows() -> None:
    """Lists of 64 integers for each thread, which one of two kernels is launched for; that a third one of the file
    walks along its rows as they do is a habit of it."""
    source = """
        __global__ void most(const int *lists, const float *in, float *out) {
            float found = 0;
            for (int k = 0; k < 64; k++) found = fmaxf(found, in[lists[threadIdx.x * 64 + k]]);
            out[threadIdx.x] = found;
        }
        __global__ void mean(const int *lists, const float *in, float *out) {
            float sum = 0;
            for (int k = 0; k < 64; k++) sum += in[lists[threadIdx.x * 64 + k]] / 64;
            out[threadIdx.x] = sum;
        }
        void pool(const int *lists, const float *in, float *out, bool averages) {
            if (averages) mean<<<1, 256>>>(lists, in, out);
            else most<<<1, 256>>>(lists, in, out);
        }
        void other(const int *lists, const float *in, float *out) { WHICH<<<1, 256>>>(lists, in, out); }
        __global__ void sums(const int *lists, const float *in, float *out) {
            float sum = 1;
            for (int k = 0; k < 64; k++) sum *= in[lists[threadIdx.x * 64 + k]];
            out[threadIdx.x] = sum;
        }
    """
    (found,) = _told(source.replace("WHICH", "sums"), "CL101")
    assert set(_lines(found)) == {4, 9, 19}


_FIELDS = """
    struct Point { float x, y, z; int kind, next, colour[3]; };
    __global__ void moved(Point *p) { p[threadIdx.x].x += 1; {} }
    __global__ void typed(const Point *p, int *kinds) { kinds[threadIdx.x] = p[threadIdx.x].kind; }
    void run(Point *p, int *kinds) { moved<<<1, 256>>>(p); typed<<<1, 256>>>(p, kinds); }
"""


def test_fields_of_one_struct_in_all_kernels() -> None:
    """A struct of 32 bytes is a sector for each lane: to keep its fields apart mends all that takes few of them."""
    (found,) = _told(_FIELDS, "CL101")
    assert found.message.startswith("32 sectors per request, ideal 4: 88% of the traffic of `p`")
    assert set(_lines(found)) == {3, 4}


def test_arrays_that_are_walked_the_same_way_and_another_kernel() -> None:
    """Each lane takes four neighbouring words of two arrays, one by one, and `other` two of one."""
    taken = "\n".join(f"sum += a[4 * i + {n}] * b[4 * i + {n}];" for n in range(4))
    source = f"""
        __global__ void k(const float *a, const float *b, float *out) {{
            int i = blockIdx.x * blockDim.x + threadIdx.x; float sum = 0;
            {taken}
            out[i] = sum;
        }}
        __global__ void other(const float *a, float *out) {{
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            out[i] = a[2 * i] + a[2 * i + 1];
        }}
        void run(float *a, float *b, float *c) {{ k<<<64, 256>>>(a, b, c); other<<<64, 256>>>(a, c); }}
    """
    (found,) = _told(source, "CL101")
    assert set(_lines(found)) == {4, 5, 6, 7, 12}
    assert any("also of `b`" in text for _, text in notes(found))


def test_a_file_that_reads_its_quaternions_by_components() -> None:
    """Four floats for each thread, taken one by one in two kernels: one wider load is the way out of both."""
    source = """
        __global__ void k(const float *q, float *out) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            const float *own = q + 4 * i;
            out[i] = own[0] * own[1] + own[2] * own[3];
        }
        __global__ void other(const float *p, float *out) {
            int place = blockIdx.x * blockDim.x + threadIdx.x;
            out[place] = p[place * 4] + p[place * 4 + 1] + p[place * 4 + 2] - p[place * 4 + 3];
        }
        void run(float *a, float *c) { k<<<64, 256>>>(a, c); other<<<64, 256>>>(a, c); }
    """
    (found,) = _told(source, "CL101")
    assert set(_lines(found)) == {5, 9}


def test_one_shared_array_and_another() -> None:
    """Rows of 32 words put a column into one bank, of `t` as of `u`: one entry for the kernel."""
    source = """
        __global__ void k(float *out) {
            __shared__ float t[32][32], u[32][32];
            int x = threadIdx.x;
            for (int i = 0; i < 32; i++) {
                t[x][i] = i;
                u[31 - x][i] = i;
            }
            float sum = 0; __syncthreads();
            for (int i = 0; i < 32; i++) sum += t[x][31 - i];
            for (int i = 0; i < 32; i++) sum += u[31 - x][31 - i];
            out[x] = sum;
        }
        void run(float *out) { k<<<1, 32>>>(out); }
    """
    (found,) = _told(source, "CL201")
    places = {(each.about, each.place.line) for each in (found, *found.also)}
    assert places == {("t", 6), ("t", 10), ("u", 7), ("u", 11)}


def test_figures_of_instantiations_are_a_range() -> None:
    """Lanes that are 2 words apart take 8 sectors, 8 words apart 32; 4 are ideal."""
    source = """
        template <int N> __global__ void k(const float *in, float *out) { out[threadIdx.x] = in[threadIdx.x * N]; }
        void run(float *a, float *b) { k<2><<<1, 256>>>(a, b); k<8><<<1, 256>>>(a, b); k<4><<<1, 256>>>(a, b); }
    """
    (found,) = _told(source, "CL101")
    assert found.message.startswith("8 to 32 sectors per request, ideal 4: 50% to 88% of the traffic of `in`")
    assert found.figures["sectors_per_request"] == 32
    assert [text for label, text in notes(found) if label == "also for"] == [
        "k<4>, block 256, grid 1 (launch at a.cu:3)", "k<2>, block 256, grid 1 (launch at a.cu:3)",
    ]  # fmt: skip


# --- the command line: single places count for annotations and baselines, causes for reports ----------------------


def _checked(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    run(["check", "--no-cache", "--min-share", "0", "--select", "CL101", *arguments])
    return capfd.readouterr().out


def _json(capfd: pytest.CaptureFixture[str], *arguments: str) -> list[Any]:
    return json.loads(_checked(capfd, "--format", "json", *arguments))["diagnostics"]


def test_every_format_tells_a_cause_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Two files of which one is a copy of the other but for what is in front: 2 lines in each."""
    monkeypatch.chdir(tmp_path)
    Path("a.cu").write_text(_FIELDS)
    Path("b.cu").write_text("// A copy.\n" + _FIELDS)
    (found,) = _json(capfd, "a.cu", "b.cu", "--output", "sarif=a.sarif")
    places = {(each["path"], each["line"]) for each in (found, *found["also"])}
    assert places == {("a.cu", 3), ("a.cu", 4), ("b.cu", 4), ("b.cu", 5)}
    assert found["occurrences"] == 1 + len(found["also"])
    (result,) = json.loads(Path("a.sarif").read_text())["runs"][0]["results"]
    assert result["occurrenceCount"] == found["occurrences"]
    related = [each["physicalLocation"] for each in result["relatedLocations"]]
    assert {(each["artifactLocation"]["uri"], each["region"]["startLine"]) for each in related} >= {("b.cu", 5)}
    github = _checked(capfd, "a.cu", "b.cu", "--format", "github", "--quiet")
    assert github.count("::warning") == 1
    assert "b.cu:5" in github


def test_places_of_a_cause_are_allowed_and_known_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    allowed = _FIELDS.replace("+= 1;", "+= 1;  // cudalint: allow(CL101) -- tried").replace("{} }", "\n}")
    Path("a.cu").write_text(allowed)
    (found,) = _json(capfd, "a.cu")
    assert {each["line"] for each in (found, *found["also"])} == {5}
    Path("a.cu").write_text(_FIELDS)
    _checked(capfd, "a.cu", "--write-baseline", "known.json")
    assert _json(capfd, "a.cu", "--baseline", "known.json") == []
    Path("a.cu").write_text(_FIELDS.replace("{} }", "\n p[threadIdx.x].next = 0; }"))
    (found,) = _json(capfd, "a.cu", "--baseline", "known.json")
    assert (found["line"], found["also"]) == (4, [])


_GENERATED = """
    __global__ void {name}Kernel(const Cell *{name}_cells, float *out) {{
        const int place = blockIdx.x * blockDim.x + threadIdx.x;
        out[place] = {name}_cells[place * {step}].weight * 2.5f + (place < {limit} ? 1.0f : 2.0f);
        {more} }}
    void run_{name}(const Cell *cells, float *out) {{ {name}Kernel<<<4096, 256>>>(cells, out); }}
"""


def test_generated_files_differ_in_names_and_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A struct of 32 bytes, or every second one of 16, is a sector for each lane; in `c.cu` it is half of that, and
    another folder is another matter."""
    monkeypatch.chdir(tmp_path)
    Path("other").mkdir()
    of_32, of_16 = (f"struct Cell {{ float weight, rest[{count}]; }};" for count in (7, 3))
    Path("a.cu").write_text(of_32 + _GENERATED.format(name="pose", step=1, limit=100, more=""))
    Path("b.cu").write_text(of_16 + _GENERATED.format(name="point", step=2, limit=50, more="out[place] += 1;"))
    Path("c.cu").write_text(of_16 + _GENERATED.format(name="focal", step=1, limit=50, more="out[place] += 1;"))
    Path("other/d.cu").write_text(of_32 + _GENERATED.format(name="ray", step=1, limit=9, more="out[place] += 2;"))
    found = _json(capfd, ".", "--select", "CL101")
    places = sorted(sorted(each["path"] for each in (one, *one["also"])) for one in found)
    assert places == [["a.cu", "b.cu"], ["c.cu"], ["other/d.cu"]]
