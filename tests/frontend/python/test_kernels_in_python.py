"""CUDA in Python files: where it is found, what its launches are, and that findings point at the right characters."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from handmade import place_of
from linting import lint

from cudalint.cli import run
from cudalint.facts import FileFacts, KernelFacts, LaunchFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import Failure, FileReport
from cudalint.run.analysis import analyse_file
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

_STRIDE = "a[threadIdx.x * 4] = 0;"
_ACCESS = "a[threadIdx.x * 4]"
_KERNEL = f'extern "C" __global__ void k(float *a, int n) {{ {_STRIDE} }}'


def _facts(source: str) -> FileFacts:
    return analyse_file("a.py", AnalysisOptions(unsaved=(("a.py", source),)))


def _kernel(source: str) -> KernelFacts:
    (kernel,) = _facts(source).kernels
    return kernel


def _launch(source: str) -> LaunchFacts:
    (launch,) = _kernel(source).launches
    return launch


def _assert_found_at(source: str, text: str = _ACCESS) -> None:
    """The stride is reported, and exactly at the text."""
    (found,) = lint(source, "CL101", "a.py")
    assert found.place == place_of(source, text, "a.py")
    assert found.figures["sectors_per_request"] == 16  # 32 lanes, 16 bytes apart, two of them in a sector of 32 bytes.


# --- where kernels stand ------------------------------------------------------------------------------

_LIBRARIES = {
    "cupy.RawKernel": f"import cupy as cp\nk = cp.RawKernel(r'''\n{_KERNEL}\n''', 'k')\n",
    "cupy.RawModule": f"from cupy import RawModule\nm = RawModule(code='''\n{_KERNEL}''')\n",
    "pycuda": f'from pycuda.compiler import SourceModule\nm = SourceModule("""\n{_KERNEL}""")\n',
    "torch": (
        "from torch.utils.cpp_extension import load_inline\n"
        f"m = load_inline('x', '', cuda_sources=['''{_KERNEL}'''], functions=[])\n"
    ),
    "cuda.core": (
        "from cuda.core.experimental import Program, ProgramOptions\n"
        f"code = '''{_KERNEL}'''\np = Program(code, code_type='c++', options=ProgramOptions(std='c++17'))\n"
    ),
    "cuda.core, imported whole": f"from cuda import core\np = core.Program('''{_KERNEL}''', 'c++')\n",
}


@pytest.mark.parametrize("source", _LIBRARIES.values(), ids=_LIBRARIES)
def test_libraries(source: str) -> None:
    _assert_found_at(source)


_SPELLINGS = {
    "one line with escapes": "c = '" + _KERNEL.replace("{ ", "{\\n\\t") + "'",
    "quotes escaped": 'c = "' + _KERNEL.replace('"', '\\"') + '"',
    "concatenated": f"c = 'extern \"C\" __global__ void k(float *a, int n) {{' '{_STRIDE}' '}}'",
    "added": f"c = 'extern \"C\" __global__ void k(float *a, int n) {{' + '{_STRIDE}' + '}}'",
    "bytes before it": f"c = '/* größe */ {_KERNEL}'",
    "dedented": f"import textwrap\nc = textwrap.dedent('''\\\n    {_KERNEL}\n    ''')",
    "joined": f"c = '\\n'.join(['#define A 1', '{_KERNEL}'])",
    "stripped": f"c = '  {_KERNEL}  '.strip()",
    "appended": f"c = '#define A 1\\n'\nc += '{_KERNEL}'",
    "in a class": f"class K:\n    c = '{_KERNEL}'\nc = K.c",
    "from a function": f"def code():\n    return '{_KERNEL}'\nc = code()",
    "in a dictionary": f"d = {{'k': '{_KERNEL}'}}\nc = d['k']",
    "bound twice, one after the other": f"c = 'nothing'\nc = '{_KERNEL}'",
    "with a carriage return": f"c = '''\r\n{_KERNEL}\r\n'''",
}


@pytest.mark.parametrize("source", _SPELLINGS.values(), ids=_SPELLINGS)
def test_spellings(source: str) -> None:
    _assert_found_at(f"{source}\nk = RawKernel(c, 'k')\n")


_INSERTED = {
    "f-string": 'f"__global__ void k(float *a) {{ a[threadIdx.x * {S}] = 0; }}"',
    "percent": '"__global__ void k(float *a) { a[threadIdx.x * %d] = 0; }" % S',
    "percent with names": '"__global__ void k(float *a) { a[threadIdx.x * %(S)d] = 0; }" % {"S": S}',
    "format": '"__global__ void k(float *a) {{ a[threadIdx.x * {S}] = 0; }}".format(S=S)',
    "format in order": '"__global__ void k(float *a) {{ a[threadIdx.x * {}] = 0; }}".format(S)',
    "replace": '"__global__ void k(float *a) { a[threadIdx.x * STRIDE] = 0; }".replace("STRIDE", str(S))',
    "template": 'string.Template("__global__ void k(float *a) { a[threadIdx.x * $S] = 0; }").substitute(S=S)',
}


@pytest.mark.parametrize("expression", _INSERTED.values(), ids=_INSERTED)
def test_inserted_values(expression: str) -> None:
    """The finding covers the whole placeholder."""
    source = f"S = 4\nk = RawKernel({expression}, 'k')\n"
    start = expression.index("a[")
    _assert_found_at(source, expression[start : expression.index("]", start) + 1])


def test_a_text_that_is_inserted_keeps_its_own_place() -> None:
    source = f"BODY = '{_STRIDE}'\nk = RawKernel(f'__global__ void k(float *a) {{{{ {{BODY}} }}}}', 'k')\n"
    _assert_found_at(source)


def test_an_inserted_value_that_is_not_known() -> None:
    """The name stands in, and the problem is said at the placeholder."""
    source = "def make(n):\n    return RawKernel(f'__global__ void k(float *a) {{ a[{n}] = 0; a[1] = 0; }}', 'k')\n"
    facts = _facts(source)
    (problem,) = facts.problems
    assert "nothing declares 'n'" in problem.message
    assert (problem.line, problem.column) == place_of(source, "{n}")[1:3]


@pytest.mark.parametrize(
    "source",
    [
        "import x\nk = RawKernel(x.render(), 'k')",
        "def f(code):\n    return RawKernel(code, 'k')",
        "if x:\n    c = 'a'\nelse:\n    c = 'b'\nk = RawKernel(c, 'k')",
        "c = c + 'a'\nk = RawKernel(c, 'k')",
        "def f():\n    return f()\nk = RawKernel(f(), 'k')",
        "a = b\nb = a\nk = RawKernel(a, 'k')",
    ],
)
def test_a_source_that_is_not_in_sight_is_said(source: str) -> None:
    (found,) = lint(source, "CL902", "a.py")
    assert "computed when the program runs" in found.message
    assert found.kernel == "k"
    assert found.place == place_of(source, "RawKernel", "a.py")


def test_functions_of_the_files_own_are_no_librarys() -> None:
    assert _facts("def RawKernel(code):\n    pass\nRawKernel('__global__ void k() {}')\n").kernels == ()
    assert _facts("# cuda.core\nclass Program:\n    pass\nProgram('__global__ void k() {}')\n").kernels == ()


# --- element-wise kernels -------------------------------------------------------------------------------


def test_elementwise() -> None:
    source = (
        "k = cupy.ElementwiseKernel('float32 x, raw T y', 'float32 z',\n    'z = x * y[i * 4]', 'scaled')\n"
        "print(k(a, b))\n"
    )
    _assert_found_at(source, "y[i * 4]")
    kernel = _kernel(source)
    assert kernel.name == "scaled"
    assert kernel.launches[0].block == (128, 1, 1)
    assert {(a.array, a.operation) for a in kernel.accesses} == {("x", "load"), ("y", "load"), ("z", "store")}


def test_reduction() -> None:
    source = "k = cp.ReductionKernel('T x, raw T w', 'T y', 'x * w[i * 4]', 'a + b', 'y = a', '0', 'dot')\n"
    _assert_found_at(source, "w[i * 4]")
    assert _kernel(source).launches[0].block == (512, 1, 1)


def test_elementwise_types_that_the_call_decides() -> None:
    source = "k = cupy.ElementwiseKernel('T x, raw I p', 'T y', 'T t = x; I j = p[i]; y = t * j; int n = 0', 'k')\n"
    facts = _facts(source)
    assert facts.problems == ()
    assert {(a.array, a.bytes) for a in facts.kernels[0].accesses} == {("x", 4), ("p", 4), ("y", 4)}


def test_elementwise_numbers_and_the_index() -> None:
    """What `loop_prep` uses is a number for all elements; `_ind.size()` is how many there are: the last warp has what
    is left of these, so that its 8 sectors are taken for granted."""
    source = (
        "k = cupy.ElementwiseKernel('int64 N, float64 x', 'float64 w',\n"
        "    'int j = i; if (i > _ind.size() / 2) { j = _ind.size() - i; } w = x * start * j;', 'k',\n"
        "    loop_prep='const double start = 1.0 / N;')\n"
    )
    facts = _facts(source)
    assert facts.problems == ()
    assert facts.kernels[0].gaps == ()
    assert {(a.array, r.status, r.sectors_per_request) for a in facts.kernels[0].accesses for r in a.results} == {
        ("x", "assumed", 8.0),
        ("w", "assumed", 8.0),
    }


def test_complex_numbers() -> None:
    elementwise = "k = cupy.ElementwiseKernel('complex64 x', 'complex64 y', 'y = thrust::exp(x) * conj(x)', 'k')\n"
    raw = (
        "k = RawKernel('''#include <cupy/complex.cuh>\n"
        "extern \"C\" __global__ void k(const complex<float> *x, complex<float> *y)\n"
        "{ int i = threadIdx.x; y[i] = conj(x[i]) * 2.0f; }''', 'k')\n"
    )
    for source in (elementwise, raw):
        facts = _facts(source)
        assert facts.problems == ()
        assert {(a.array, a.operation) for a in facts.kernels[0].accesses} == {("x", "load"), ("y", "store")}


def test_elementwise_of_pycuda() -> None:
    source = (
        "from pycuda.elementwise import ElementwiseKernel\n"
        "k = ElementwiseKernel('float *x, float *z', 'z[i] = x[4 * i]', 'k')\n"
    )
    _assert_found_at(source, "x[4 * i]")


def test_operations_with_statements_and_a_preamble() -> None:
    source = (
        "k = cupy.ElementwiseKernel('float64 x', 'float64 y', '''\n    double t = twice(x);\n    y = t;\n''', 'k',\n"
        "    preamble='__device__ double twice(double x) { return 2 * x; }')\n"
    )
    facts = _facts(source)
    assert facts.problems == ()
    assert [(a.array, a.bytes) for a in facts.kernels[0].accesses if a.operation == "store"] == [("y", 8)]


# --- launches -------------------------------------------------------------------------------------------

_CUPY = f"import math\nk = cupy.RawKernel(r'''{_KERNEL}''', 'k')\n"
_PYCUDA = f"m = SourceModule('''{_KERNEL}''')\nk = m.get_function('k')\n"
_CORE = f"from cuda.core import Program, launch, LaunchConfig\nm = Program('''{_KERNEL}''', 'c++').compile('cubin')\n"

_CONSTANT = {
    "cupy": _CUPY + "k((6,), (96,), (a, 3))",
    "cupy, by keywords": _CUPY + "k(grid=(6,), block=(96,), args=(a, 3))",
    "cupy, names": _CUPY + "B = 96\ng = (12 // 2,)\nk(g, (B,), (a, 3))",
    "cupy, a variable for all arguments": _CUPY + "args = (a, np.int32(3))\nk((6,), (96,), args)",
    "cupy, unknown arguments": _CUPY + "k((6,), (96,), args)",
    "cupy, starred arguments": _CUPY + "k((6,), (96,), (a, *rest))",
    "cupy, in a method": _CUPY + "class A:\n    B = 96\n    def f(self):\n        k((6,), (self.B,), (a, 3))",
    "cupy, through a function": _CUPY + "def get():\n    return k\nget()((6,), (96,), (a, 3))",
    "cupy, of self": (
        f"class A:\n    def __init__(self):\n        self.k = RawKernel(r'''{_KERNEL}''', 'k')\n"
        "    def f(self, a):\n        self.k((6,), (96,), (a, 3))\n"
    ),
    "cupy, on first use": (
        "_k = None\ndef get():\n    global _k\n    if _k is None:\n"
        f"        _k = RawKernel(r'''{_KERNEL}''', 'k')\n    return _k\nget()((6,), (96,), (a, 3))"
    ),
    "cupy module": f"m = cp.RawModule(code=r'''{_KERNEL}''')\nm.get_function('k')((6,), (96,), (a, 3))",
    "cupy, a parameter's default": _CUPY + "def f(a, b=96):\n    k((6,), (b,), (a, 3))",
    "pycuda": _PYCUDA + "k(drv.Out(a), np.int32(3), block=(96, 1, 1), grid=(6, 1))",
    "pycuda, prepared": _PYCUDA + "k.prepare('Pi')\nk.prepared_call((6, 1), (96, 1, 1), a.gpudata, 3)",
    "pycuda, prepared and asynchronous": _PYCUDA + "k.prepared_async_call((6, 1), (96, 1, 1), s, a.gpudata, 3)",
    "cuda.core": _CORE + "launch(s, LaunchConfig(grid=6, block=96), m.get_kernel('k'), a, 3)",
    "cuda.core, older": _CORE + "k = m.get_kernel('k')\nc = LaunchConfig(grid=(6,), block=(96,))\nlaunch(k, c, a, 3)",
}


@pytest.mark.parametrize("source", _CONSTANT.values(), ids=_CONSTANT)
def test_constant_launches(source: str) -> None:
    launch = _launch(source)
    assert (launch.source, launch.grid, launch.block, launch.assumptions) == ("launch-site", (6, 1, 1), (96, 1, 1), ())
    assert launch.path == "a.py"
    call = source.rstrip().rsplit("\n", 1)[-1]
    assert launch.line == source.count("\n", 0, source.rindex(call)) + 1
    assert launch.parameters.get("n") in (3, None)


def test_scalar_arguments() -> None:
    assert _launch(_CUPY + "k((6,), (96,), (a, np.int32(3)))").parameters == {"n": 3}


def test_dynamic_shared_memory() -> None:
    assert _launch(_CUPY + "k((6,), (96,), (a, 3), shared_mem=96 * 4)").dynamic_shared_bytes == 384
    assert _launch(_PYCUDA + "k(a, 3, block=(96, 1, 1), shared=384)").dynamic_shared_bytes == 384


_SIZES = [
    "(n + 255) // 256",
    "math.ceil(n / 256)",
    "int(np.ceil(n / 256))",
    "int(math.ceil(n / float(256)))",
    "-(-n // 256)",
    "(n - 1) // 256 + 1",
    "cdiv(n, 256)",
    "triton.cdiv(n, 256)",
]


@pytest.mark.parametrize("grid", _SIZES)
def test_a_grid_that_is_rounded_up_goes_with_its_size(grid: str) -> None:
    """The grid and the argument hold one number, so the guard is seen to be missing, or to be there."""
    head = "def cdiv(a, b):\n    return (a + b - 1) // b\n"
    unguarded = "__global__ void k(float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; a[i] = 0; }"
    guarded = unguarded.replace("a[i] = 0;", "if (i < n) a[i] = 0;")
    for text, expected in ((unguarded, 1), (guarded, 0)):
        launch = f"def f(a):\n    n = a.size\n    k(({grid},), (256,), (a, n))\n"
        found = lint(f"{head}k = RawKernel('{text}', 'k')\n{launch}", "CL106", "a.py")
        assert len(found) == expected, grid


def test_an_open_block_is_named_as_an_assumption() -> None:
    launch = _launch(_CUPY + "def f(a, threads):\n    k((6,), (threads,), (a, 3))")
    assert launch.grid == (6, 1, 1)
    assert launch.assumptions == ("block = 256 (the launch leaves it open)",)


def test_several_kernels_of_one_source() -> None:
    source = (
        f"C = r'''{_KERNEL}\n__global__ void two(float *a) {{ a[threadIdx.x] = 1; }}'''\n"
        "k, t = RawKernel(C, 'k'), RawKernel(C, 'two')\nk((2,), (64,), (a, 1))\nt((2,), (32,), (a,))\n"
    )
    assert {kernel.name: kernel.launches[0].block[0] for kernel in _facts(source).kernels} == {"k": 64, "two": 32}


def test_templates_by_name_expression() -> None:
    source = (
        "m = RawModule(code='template <class T, int N> __global__ void k(T *a) { a[threadIdx.x * N] = 0; }',\n"
        "    name_expressions=['k<double, 2>'])\nm.get_function('k<double, 2>')((1,), (32,), (a,))\n"
    )
    kernel = _kernel(source)
    assert kernel.instantiation == "k<double, 2>"
    assert kernel.accesses[0].results[0].sectors_per_request == 16  # 32 doubles, every second one: 512 bytes.


def test_options_of_the_compiler() -> None:
    source = "N = 4\nk = RawKernel('__global__ void k(float *a) { a[threadIdx.x * S] = 0; }', 'k', (f'-DS={N}',))\n"
    assert _facts(source.replace("(f'", "options=(f'")).problems == ()


def test_modules_that_take_turns_under_one_name() -> None:
    source = _PYCUDA + "k(a, 3, block=(64, 1, 1))\n" + _PYCUDA + "k(a, 3, block=(32, 1, 1))\n"
    assert [kernel.launches[0].block[0] for kernel in _facts(source).kernels] == [64, 32]


# --- comments -------------------------------------------------------------------------------------------


def _report(source: str) -> FileReport:
    options = AnalysisOptions(unsaved=(("a.py", source),))
    report = check_file(CheckJob("a.py", options, Selection(("CL101", "CL901", "CL903")), pictures=False))
    assert isinstance(report, FileReport)
    return report


def test_suppressions_in_the_kernels_comments() -> None:
    line = f"  {_STRIDE}  // cudalint: allow(CL101) -- tried\n"
    source = f"k = RawKernel('''__global__ void k(float *a) {{\n{line}}}''', 'k')\n"
    report = _report(source)
    assert report.diagnostics == report.unused == ()
    (suppressed,) = report.suppressed
    assert suppressed.justification is not None
    assert suppressed.justification.place.line == 2


def test_annotations_that_are_of_no_use_are_reported_at_their_place() -> None:
    unused = "__global__ void k() {}  // cudalint: allow(CL101) -- why\n"
    source = f"k = RawKernel('''\n{unused}// cudalint: alow(x)\n''', 'k')\n"
    report = _report(source)
    assert [d.place.line for _, d in report.unused] == [2]
    assert [(d.code, d.place.line, d.place.column) for d in report.diagnostics] == [("CL903", 3, 4)]


def test_launch_annotations() -> None:
    source = f"m = RawModule(code='''\n// cudalint: launch(block = 96, grid = 6)\n{_KERNEL}''')\n"
    launch = _launch(source)
    assert (launch.source, launch.block, launch.line) == ("annotation", (96, 1, 1), 2)


# --- files that can't be read -----------------------------------------------------------------------------


def _failure(tmp_path: Path, data: bytes) -> Failure | FileReport:
    path = tmp_path / "a.py"
    path.write_bytes(data)
    return check_file(CheckJob(str(path), AnalysisOptions(), Selection(), pictures=False))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"SourceModule('x')\nprint 'hello'\n", "not Python 3: .* (line 2, column 1)"),
        (b"SourceModule('x'\n", "never closed"),
        (b"# caf\xe9\nSourceModule('x')\n", "no text in UTF-8"),
        (b"# coding: klingon\nSourceModule('x')\n", "unknown encoding"),
        (b"# coding: rot13\nSourceModule('x')\n", "no text in UTF-8"),  # A codec, but one from text to text.
        (b"# coding: undefined\nSourceModule('x')\n", "no text in UTF-8"),  # Its errors are of no position.
        (b"SourceModule('\0')\n", "not a text file"),
        (b"SourceModule('x')\nx = " + b"(" * 9000 + b")" * 9000, "too many nested parentheses"),
        (b"SourceModule('x')\n#" + b"x" * 10_000_001, "more than 10 MB"),
    ],
    ids=["python 2", "syntax", "encoding", "unknown encoding", "no encoding", "undefined", "binary", "deep", "huge"],
)
def test_files_that_fail(tmp_path: Path, data: bytes, message: str) -> None:
    failure = _failure(tmp_path, data)
    assert isinstance(failure, Failure)
    assert re.search(message.replace("(line", r"\(line").replace("1)", r"1\)"), failure.message), failure.message
    assert "\n" not in failure.message


@pytest.mark.parametrize("data", [b"", b"print 'hello'\n", b"\xff\xfe", b"x = (\n"])
def test_files_without_kernels_are_no_failure(tmp_path: Path, data: bytes) -> None:
    report = _failure(tmp_path, data)
    assert isinstance(report, FileReport)
    assert report.diagnostics == ()


def test_a_latin_1_file(tmp_path: Path) -> None:
    source = f"# coding: latin-1\nk = RawKernel('/* größe */ {_KERNEL}', 'k')\n"
    path = tmp_path / "a.py"
    path.write_bytes(source.encode("latin-1"))
    report = check_file(CheckJob(str(path), AnalysisOptions(), Selection(("CL101",)), pictures=False))
    assert isinstance(report, FileReport)
    line = source.splitlines()[1]
    assert report.diagnostics[0].place[1:3] == (2, line.index(_ACCESS) + 1)


def test_long_sums() -> None:
    parts = " + ".join(f"'// {n}\\n'" for n in range(3000))
    _assert_found_at(f"k = RawKernel({parts} + '{_KERNEL}', 'k')\n")


# --- reports ------------------------------------------------------------------------------------------------


def test_reports_show_the_python_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = f"import cupy\nk = cupy.RawKernel(r'''\n{_KERNEL}\n''', 'k')\nk((6,), (64,), (a, 3))\n"
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "a.py").write_text(source)
    (tmp_path / "kernels" / "plain.py").write_text("print 'no kernels, and no Python 3'\n")
    monkeypatch.chdir(tmp_path)
    outputs = ["--output", "sarif=out.sarif", "--output", "json=out.json"]
    assert run(["kernels", "--min-share", "0", "--no-show", *outputs]) == 1
    text = capsys.readouterr().out
    column = _KERNEL.index(_ACCESS) + 1
    assert f"--> kernels/a.py:3:{column}\n" in text
    assert f"3 | {_KERNEL}" in text
    assert "launch at kernels/a.py:5" in text
    region = json.loads((tmp_path / "out.sarif").read_text())["runs"][0]["results"][0]["locations"][0]
    assert region["physicalLocation"]["region"]["startColumn"] == column
    assert json.loads((tmp_path / "out.json").read_text())["diagnostics"][0]["path"] == "kernels/a.py"
    assert run(["kernels", "--min-share", "0", "--write-baseline", "known.json", "-q"]) == 0
    (tmp_path / "kernels" / "a.py").write_text("# a new line\n" + source)
    assert run(["kernels", "--min-share", "0", "--baseline", "known.json", "-q"]) == 0


def test_folders_without_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plain.py").write_text("print 'no kernels'\n")
    monkeypatch.chdir(tmp_path)
    assert run(["plain.py"]) == 0
    assert run(["."]) == 2
    assert "*.py with kernels" in capsys.readouterr().err


def test_what_reads_python_is_loaded_for_python_files_only() -> None:
    code = (
        "import sys; from cudalint.run.analysis import analyse_file\n"
        "from cudalint.options.analysis import AnalysisOptions\n"
        "for path in ('a.cu', 'a.py'):\n"
        "    analyse_file(path, AnalysisOptions(unsaved=((path, 'SourceModule(1)' if path == 'a.py' else ''),)))\n"
        "    print('cudalint.frontend.python.extract' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
