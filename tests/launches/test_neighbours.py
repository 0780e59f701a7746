"""Which files beside a file are looked at for launches and for a `main`."""

from __future__ import annotations

from pathlib import Path

from cudalint.launches.program.neighbours import callers, definers, launchers, setters, wrappers


def _folder(tmp_path: Path, texts: dict[str, str]) -> str:
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return str(tmp_path / "kernels.cu")


def test_only_files_with_a_main_that_name_one_of_the_functions_call(tmp_path: Path) -> None:
    texts = {
        "kernels.cu": "void fill() {}",
        "main.cpp": "int main(int argc, char **argv) { fill(); }",
        "late.cu": "int main\n() { fill (); }",
        "library.cu": "// fills the main diagonal\nvoid all() { fill(); }",
        "other.cu": "int main() { refill(); fill_all(); }",
    }
    path = _folder(tmp_path, texts)
    assert [Path(found).name for found in callers(path, {"fill"})] == ["late.cu", "main.cpp"]


def test_who_calls_a_method_names_its_class(tmp_path: Path) -> None:
    """Every file of a library may have a `run` of its own."""
    texts = {
        "kernels.cu": "void Blur::run() {}",
        "blur.cpp": "void apply(Blur &blur) { blur.run(); }",
        "crop.cu": "void Crop::run() {}",
        "unblur.cpp": "void apply(UnBlur &blur) { blur.run(); }",
    }
    path = _folder(tmp_path, texts)
    assert [Path(found).name for found in wrappers(path, {"Blur::run"})] == ["blur.cpp"]
    assert [Path(found).name for found in wrappers(path, {"run"})] == ["blur.cpp", "crop.cu", "unblur.cpp"]


def test_only_files_with_a_launch_that_name_one_of_the_kernels_launch(tmp_path: Path) -> None:
    texts = {
        "kernels.cu": "__global__ void scan() {}",
        "launch.cu": "void f() { scan<<<1, 32>>>(); }",
        "by_call.cu": "void f() { cudaLaunchKernel((void *)scan, 1, 32, 0, 0, 0); }",
        "longer.cu": "void f() { prescan<<<1, 32>>>(); scan_all<<<1, 32>>>(); }",
        "declared.cu": "__global__ void scan();",
    }
    path = _folder(tmp_path, texts)
    assert [Path(found).name for found in launchers(path, {"scan"})] == ["by_call.cu", "launch.cu"]


def test_only_files_with_a_body_behind_the_name_define(tmp_path: Path) -> None:
    texts = {
        "kernels.cu": "Grid make(int n) { return {n}; }",
        "grid.cpp": "struct Grid\nmake(int n) // rounds up; n > 0\n/* {} */ { return {n}; }",
        "declared.cu": "Grid make(int n); struct Other { int n; };",
        "called.cu": "void f() { Grid g = make(3); { use(g); } }",
        "method.cu": "void f(Maker m) { if (m.make(3)) { use(m); } }",
        "longer.cu": "Grid remake(int n) { return {n}; }",
    }
    path = _folder(tmp_path, texts)
    assert [Path(found).name for found in definers(path, "make")] == ["grid.cpp"]


def test_only_files_that_give_a_constant_a_value_set_it(tmp_path: Path) -> None:
    texts = {
        "equal.cu": "bool f() { return width == 3; }",
        "list.cpp": "const int width {3};",
        "member.cu": "void f(S s) { s.width = 3; }",
        "other.cu": "const int half_width = 3; // width = 4",
        "table.cu": "__constant__ int width[2][2] = {};",
    }
    path = _folder(tmp_path, texts)
    assert [Path(found).name for found in setters(path, "width")] == ["list.cpp", "table.cu"]
