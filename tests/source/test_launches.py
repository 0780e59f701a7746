"""Launches as texts spell them."""

from __future__ import annotations

from cudalint.source.launches import Site, launches_in, uses_of


def _site(text: str) -> Site:
    [launch] = launches_in(text)
    return launch.site


def test_parts_of_a_launch() -> None:
    text = "void run(H &h) {\n  fill<T, 4><<<div<int>(n, 4), dim3(8, 4), 0, h.stream()>>>(a, f(b, c), S<1, 2>());\n}"
    [launch] = launches_in(text)
    assert (launch.kernel, launch.template_arguments) == ("fill", ("T", "4"))
    assert launch.extents == ("div<int>(n, 4)", "dim3(8, 4)", "0", "h.stream()")
    assert launch.arguments == ("a", "f(b, c)", "S<1, 2>()")
    assert launch.place[1:] == (2, 3, 2, 83)


def test_no_launch_in_comments_and_directives() -> None:
    assert launches_in('// k<<<1, 2>>>(a);\n#define RUN k<<<1, 2>>>(a)\nauto s = "k<<<1, 2>>>()";\n') == ()


def test_a_variable_has_its_last_value_before_the_launch() -> None:
    site = _site("void run() { int n = 4, m = 2; n = 8; k<<<1, n>>>(); n = 16; }")
    assert (site.initial("n"), site.initial("m"), site.initial("x")) == ("8", "2", None)


def test_a_variable_that_changes_has_none() -> None:
    assert _site("void run(int b) { int n = 4; if (b) n = 8; k<<<1, n>>>(); }").initial("n") is None
    assert _site("void run(int b) { int n = 4; n *= b; k<<<1, n>>>(); }").initial("n") is None


def test_a_variable_of_another_scope_is_another_one() -> None:
    assert _site("void run() { int n = 4; { int n = 8; } k<<<1, n>>>(); }").initial("n") == "4"
    assert _site("void other() { int n = 4; } void run() { k<<<1, n>>>(); }").initial("n") is None


def test_extents_are_spelled_as_made() -> None:
    site = _site("void run() { const dim3 b(8, 4), c{2}; dim3 d; d.x = 32; k<<<1, b>>>(); }")
    assert (site.initial("b"), site.initial("d.x")) == ("dim3(8, 4)", "32")


def test_parameters_around_a_launch() -> None:
    run = "template <int B = 32, int C> void run(T t, int n = 2) { [&] { k<<<1, B>>>(); }(); }"
    text = f"template <class T> struct S {{ {run} }};"
    site = _site(text)
    assert [(name, each.name, each.default, at) for name, each, at in site.template_parameters()] == [
        ("run", "B", "32", 0), ("run", "C", None, 1), ("S", "T", None, 0)
    ]  # fmt: skip
    name, parameters = site.function()
    assert (name, [(each.name, each.default) for each in parameters]) == ("run", [("t", None), ("n", "2")])


def test_uses_are_calls_and_no_definitions() -> None:
    text = "template <int B> void run(int n) { }\nvoid go(int m) { int t = 64; run<128>(t); }"
    [use] = uses_of(text, "run")
    assert (use.template_arguments, use.arguments, use.site.initial("t")) == (("128",), ("t",), "64")


def test_where_a_launch_is_made() -> None:
    assert _site("__global__ void parent() { k<<<1, 32>>>(); }").is_on_device()
    assert not _site("__host__ __device__ void run() { k<<<1, 32>>>(); }").is_on_device()
