"""The lowering, by what it makes of small pieces of CUDA: most tests compare the printed IR of a function."""

from __future__ import annotations

from textwrap import dedent
from typing import get_args

import pytest
from dump import dump_function, type_name

from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.lower.unit import Listing
from cudalint.frontend.parse import parse_file
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.ir.units import Unit


def unit_of(source: str) -> Unit:
    return Listing(parse_file("kernels.cu", ParseOptions(), dedent(source).encode())).unit()


def kernel_of(source: str, name: str | None = None) -> ir.Function:
    unit = unit_of(source)
    return loaded(next(ref for ref in unit.kernels if name is None or ref.name == name))


def body_lines(function: ir.Function) -> list[str]:
    """The statements of a function, without the signature and the outermost block."""
    lines = dump_function(function).split("\n")
    start = lines.index("  block") + 1
    return [line.removeprefix("    ") for line in lines[start:]]


def lowered(statements: str, before: str = "") -> list[str]:
    """The statements of a kernel with parameters `float* p`, `int n`, `float v` and `bool c`."""
    source = f"{before}\n__global__ void k(float* p, int n, float v, bool c) {{\n{dedent(statements)}\n}}\n"
    function = kernel_of(source, "k")
    assert not function.problems
    return body_lines(function)


def statements_of(function: ir.Function) -> tuple[st.Stmt, ...]:
    assert isinstance(function.body, st.Block)
    return function.body.statements


def symbols_of(function: ir.Function) -> dict[str, ir.Symbol]:
    return {s.symbol.name: s.symbol for s in statements_of(function) if isinstance(s, st.Declare)}


def nodes_in(node: object) -> list[object]:
    """All nodes of a piece of IR, itself included."""
    found: list[object] = []
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, tuple) and not isinstance(current, ir.Span):
            waiting += current
        elif isinstance(current, NODE_TYPES):
            found.append(current)
            waiting += [getattr(current, name) for name in type(current).__struct_fields__]
    return found


NODE_TYPES = (*get_args(ir.Expr), *get_args(st.Stmt), st.Case)


def names_in(node: object) -> list[ir.Name]:
    return [one for one in nodes_in(node) if isinstance(one, ir.Name)]


def calls_in(node: object) -> list[ir.Call]:
    return [one for one in nodes_in(node) if isinstance(one, ir.Call)]


def loaded(ref: ir.FunctionRef | None) -> ir.Function:
    assert ref is not None
    function = ref.load()
    assert function is not None
    return function


# --- expressions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("n = 0x10 + 017 + 0b11 + 1'000;", "n = (((16 + 15) + 3) + 1000)"),
        ("v = 1e-3f + .5f + 2.f;", "v = ((0.001 + 0.5) + 2.0)"),
        ("n = 'a';", "n = int(97)"),
        ("c = true;", "c = 1"),
        ("float* q = nullptr;", "q: float* = float*(0)"),
        ("n = sizeof(float) * alignof(double);", "n = int((4 * 8))"),
        ("n = -n + ~n; c = !c;", "n = (-n + ~n)"),
        ("n += 2;", "n += 2"),
        ("n <<= 1;", "n <<= 1"),
        ("p[n]++;", "p[n]++"),
        ("*--p = v;", "*--p = v"),
        ("p[(n + 1)] = v;", "p[(n + 1)] = v"),
        ("n[p] = v;", "p[n] = v"),
        ("v = c ? 1 : 2.0f;", "v = (c ? float(1) : 2.0)"),
        ("n = (1, n);", "n = (1 , n)"),
        ("v = float(n);", "v = (float)n"),
        ("v = (float)n;", "v = (float)n"),
        ("n = static_cast<int>(v);", "n = (int)v"),
        ("reinterpret_cast<float4*>(p)[n].x = v;", "((float4*)p)[n].x = v"),
        ("n = int();", "n = 0"),
        ("n = int{};", "n = (int)0"),
        ("p[threadIdx.x] = v;", "p[threadIdx.x] = v"),
        ("n = ({ int t = n; t + 1; });", "n = (t = n , (t + 1))"),
        ("n = n ?: 3;", "n = (bool(n) ? n : 3)"),
        ("n = __builtin_offsetof(float4, z);", "n = int(8)"),
    ],
)
def test_expression(source: str, expected: str) -> None:
    assert lowered(source)[0] == expected


def test_conversions_are_kept_where_they_change_the_type() -> None:
    assert lowered("v = n + 1u;") == ["v = float((unsigned int(n) + 1))"]
    assert lowered("const float* q = p; v = *q;") == ["q: float* = p", "v = *q"]
    assert lowered("float a[2][3]; a[1][2] = v;")[1] == "float*(float[3]*(a)[1])[2] = v"


def test_constants_become_literals() -> None:
    before = """
    enum Plain { A, B = 7 };
    enum class Scoped : unsigned char { X = 3 };
    const int N = 40;
    template <class T> struct Traits { static constexpr int bits = sizeof(T) * 8; };
    template <class T> constexpr int twice = 2 * sizeof(T);
    """
    source = "n = B; n = (int)Scoped::X; n = N; n = Traits<double>::bits; n = twice<float>; const int m = N * 2; n = m;"
    assert lowered(source, before) == [
        "n = int(7)", "n = (int)3", "n = 40", "n = 64", "n = 8", "m: int = (40 * 2)", "n = 80",
    ]  # fmt: skip


def test_constant_parameters_are_not_their_defaults() -> None:
    source = "__device__ int f(const int n = 3) { return n; }\n__global__ void k(int* p) { p[0] = f(4); }"
    [call] = calls_in(kernel_of(source).body)
    assert body_lines(loaded(call.function)) == ["return n"]


def test_long_sums_do_not_exhaust_the_stack() -> None:
    assert lowered("v = " + "+".join(["v"] * 5000) + ";")[0].count("+") == 4999


def test_deep_parentheses_do_not_exhaust_the_stack() -> None:
    assert lowered("v = " + "(v + " * 200 + "v" + ")" * 200 + ";")[0].count("+") == 200


def test_long_chains_do_not_exhaust_the_stack() -> None:
    chain = "".join(f"if (n == {i}) p[{i}] = v; else " for i in range(1500))
    source = f"__global__ void k(float* p, int n, float v) {{ {chain} p[0] = v; }}"
    assert len([one for one in nodes_in(kernel_of(source).body) if isinstance(one, st.If)]) == 1500
    chain = "".join(f"n == {i} ? p[{i}] : " for i in range(1500))
    source = f"__global__ void k(float* p, int n, float v) {{ v = {chain} 0.f; }}"
    assert len([one for one in nodes_in(kernel_of(source).body) if isinstance(one, ir.Conditional)]) == 1500


# --- classes ---------------------------------------------------------------------------------------

POINT = """
struct Point {
  int x, y;
  __device__ int sum(int k = 5) const { return x + y + k; }
  __device__ int twice() const { return sum() * 2; }
  __device__ int operator[](int i) const { return i ? y : x; }
  __device__ operator float() const { return x; }
};
"""


def test_structures_are_assigned_and_copied() -> None:
    assert lowered("Point a, b = a; a = b; Point* q = &a; *q = b; q->x = n;", POINT) == [
        "a: Point", "b: Point = a", "a = b", "q: Point* = &a", "*q = b", "q->x = n",
    ]  # fmt: skip


def test_methods_take_a_receiver() -> None:
    assert lowered("Point a; Point* q = &a; n = a.sum(); n = q->sum(1); n = a[2]; v = a;", POINT)[2:] == [
        "n = a.sum(5)", "n = (*q).sum(1)", "n = a.operator[](2)", "v = a.operator float()",
    ]  # fmt: skip


def test_this_is_made_explicit() -> None:
    [call] = calls_in(kernel_of(POINT + "__global__ void k(Point a, int* p) { p[0] = a.twice(); }").body)
    twice = loaded(call.function)
    assert twice.this is not None
    assert body_lines(twice) == ["return ((*this).sum(5) * 2)"]
    assert type_name(twice.this.type) == "Point*"


def test_overloaded_assignment_is_a_call() -> None:
    before = "struct H { short bits; __device__ H& operator=(float f) { bits = f; return *this; } };"
    assert lowered("H h; h = v;", before)[1] == "h.operator=(v)"


def test_constructors_have_member_initializers() -> None:
    source = """
    template <class T> struct Base { T b; __device__ Base(T q) : b(q) {} };
    struct Derived : Base<int> { float f; int k = 3; __device__ Derived(float q) : Base<int>(2), f(q) {} };
    __global__ void k(float* p) { Derived d(1.f); p[0] = d.f; }
    """
    [construct] = [one for one in nodes_in(kernel_of(source).body) if isinstance(one, ir.Construct)]
    constructor = loaded(construct.constructor)
    assert [name for name, _ in constructor.member_initializers] == ["Base<int>", "f", "k"]


def test_a_default_constructor_matters_only_if_it_does_something() -> None:
    before = "struct Plain { int a; }; struct Set { int a = 3; }; struct Outer { Set s; };"
    assert lowered("Plain a; Set b; Outer o;", before) == ["a: Plain", "b: Set = Set()", "o: Outer = Outer()"]
    assert lowered("dim3 d;") == [f"d: dim3 = {dim3(1, 1, 1)}"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("int a[4] = {1, 2};", "a: int[4] = {1, 2}"),
        ("float a[2][2] = {1, 2, 3, 4};", "a: float[2][2] = {{float(1), float(2)}, {float(3), float(4)}}"),
        ("float2 a[2] = {1, 2, {3, 4}};", "a: float2[2] = {{float(1), float(2)}, {float(3), float(4)}}"),
        ("float4 a = {.y = v, .w = v};", "a: float4 = {{}, v, {}, v}"),
        ("int a[4] = {[2] = 1};", "a: int[4] = {{}, {}, 1}"),
        ("float4 a{};", "a: float4 = {}"),
        ("int a{4};", "a: int = 4"),
        ('char a[4] = "abc";', 'a: char[4] = "abc"'),
    ],
)
def test_initializer_list(source: str, expected: str) -> None:
    assert lowered(source)[0] == expected


def test_structured_bindings_mean_fields() -> None:
    source = "auto [a, b] = make_float2(1, 2); v = a + b;"
    assert lowered(source)[1] == "v = ([a, b].x + [a, b].y)"


def test_structured_bindings_mean_elements_of_a_tuple() -> None:
    source = "auto [a, b, d] = std::make_tuple(1, 2, 3); v = a + d;"
    left = "[a, b, d].head + [a, b, d].tail.tail.head"
    assert lowered(source, "#include <tuple>\n")[1] == f"v = float(({left}))"


def test_kernel_tables_name_the_template() -> None:
    before = "template <int N> __device__ void g(int* p) { p[N] = 1; }"
    assert lowered("void (*t[])(int*) = {g<1>, g<2>};", before) == ["t: void (int *)*[2] = {&g, &g}"]


# --- statements ------------------------------------------------------------------------------------


def test_loops() -> None:
    source = """
    for (int i = 0, j = 1; i < n; ++i, ++j) p[i] = j;
    for (;;) break;
    for (int i = 0;;) { if (i) break; }
    for (; n;) n--;
    for (;; n++) { continue; }
    for (n = 0; ;) break;
    while (n > 0) n--;
    do { n--; } while (n);
    """
    assert lowered(source) == [
        "for i: int = 0, j: int = 1; (i < n); (++i , ++j)",
        "  p[i] = float(j)",
        "for ; ; ",
        "  break",
        "for i: int = 0; ; ",
        "  if bool(i)",
        "    break",
        "for ; bool(n); ",
        "  n--",
        "for ; ; n++",
        "  continue",
        "for n = 0; ; ",
        "  break",
        "while (n > 0)",
        "  n--",
        "do",
        "  n--",
        "while bool(n)",
    ]


def test_loop_written_by_a_macro() -> None:
    before = "#define LOOP(i, end) for (int i = 0; i < (end); i++)\n#define FROM(i) for (; i < 10; i++)"
    assert lowered("LOOP(i, n) p[i] = v;\nFROM(n) p[n] = v;", before) == [
        "for i: int = 0; (i < n); i++",
        "  p[i] = v",
        "for ; (n < 10); n++",
        "  p[n] = v",
    ]


def test_declarations_in_conditions() -> None:
    source = """
    if (int q = n) p[q] = v;
    if (int q = n; q > 2) p[q] = v;
    while (int q = n) n -= q;
    """
    assert lowered(source) == [
        "block",
        "  q: int = n",
        "  if bool(q)",
        "    p[q] = v",
        "block",
        "  q: int = n",
        "  if (q > 2)",
        "    p[q] = v",
        "block",
        "  q: int",
        "  while (q = n , bool(q))",
        "    n -= q",
    ]


def test_range_for_over_an_array_is_a_counted_loop() -> None:
    assert lowered("int a[4] = {}; for (long x : a) p[x] = v; for (auto& x : a) x = 1;")[1:] == [
        "for position: int = 0; (position < 4); ++position",
        "  x: long = long(a[position])",
        "  p[x] = v",
        "for position: int = 0; (position < 4); ++position",
        "  x: int& = a[position]",
        "  x = 1",
    ]


def test_list_of_a_template_initializes_the_elements_of_its_array() -> None:
    """The tree gives such a list no type."""
    kernel = kernel_of("template <typename T> __global__ void k(T *p, int n) { T *a[2][2] = {{p, p + n}, p}; }")
    (line,) = body_lines(kernel)
    assert line.endswith("= {{p, (p + n)}, {p}}")


def test_range_for_over_a_list_in_braces() -> None:
    assert lowered("for (int x : {5, n}) p[x] = v;") == [
        "block",
        "  range: int[2] = {5, n}",
        "  for position: int = 0; (position < 2); ++position",
        "    x: int = range[position]",
        "    p[x] = v",
    ]


def test_range_for_over_an_object() -> None:
    rows = "struct Rows { __device__ float* begin(); __device__ float* end(); };"
    assert lowered("Rows rows; for (float& x : rows) x = v;", rows)[1:] == ["for x: float& in rows", "  x = v"]
    rows = "struct Rows { float* at; __device__ float* begin() { return at; } __device__ float* end() { return at; } };"
    assert lowered("Rows rows; for (float& x : rows) x = v;", rows)[1:] == [
        "block", "  __range1: Rows& = rows", "  __begin1: float* = __range1.begin()", "  end: float* = __range1.end()",
        "  for ; (__begin1 != end); ++__begin1", "    x: float& = *__begin1", "    x = v",
    ]  # fmt: skip


def test_switch_groups_labels() -> None:
    source = """
    switch (n) {
      case 0: case 1: p[0] = v; break;
      case 2: { p[2] = v; }
      default: p[3] = v;
    }
    """
    assert lowered(source) == [
        "switch n",
        "  case 0, case 1",
        "    p[0] = v",
        "    break",
        "  case 2",
        "    p[2] = v",
        "  default",
        "    p[3] = v",
    ]


def test_unroll_factors() -> None:
    source = """
    #pragma unroll
    for (int i = 0; i < 4; i++) p[i] = v;
    #pragma unroll 4
    for (int i = 0; i < 4; i++) p[i] = v;
    _Pragma("unroll 2") for (int i = 0; i < 4; i++) p[i] = v;
    for (int i = 0; i < 4; i++) p[i] = v;
    """
    heads = [line for line in lowered(source) if line.startswith("for")]
    assert [head.partition("i++")[2] for head in heads] == [" unroll 0", " unroll 4", " unroll 2", ""]


def test_asm_has_its_text_and_operands() -> None:
    source = 'asm volatile("mov.u32 %0, %1;\\n\\t" "nop;" : "=r"(n) : "r"(n + 1));'
    assert lowered(source) == ["asm 'mov.u32 %0, %1;\\n\\tnop;' (n, (n + 1))"]


def test_goto_costs_only_itself() -> None:
    assert lowered("goto end; p[0] = v; end: p[1] = v;") == [
        "unknown goto", "p[0] = v", "unknown label", "  p[1] = v",
    ]  # fmt: skip


# --- symbols ---------------------------------------------------------------------------------------


def test_steps_in_a_template_where_the_operator_is_overloaded() -> None:
    function = kernel_of(
        """
        struct It { int v; }; __device__ It& operator++(It& a); __device__ It operator++(It& a, int);
        template <class I> __global__ void k(I n) { ++n; n++; }
        """
    )
    assert body_lines(function) == ["++n", "n++"]


def test_shared_variables_of_a_class_with_a_constructor() -> None:
    """nvcc leaves the constructor out, with a warning (20054); clang refuses them."""
    function = kernel_of(
        """
        struct Zq { unsigned short value; __host__ __device__ constexpr Zq() : value(0) {} };
        template <int n> __device__ void f(const __restrict__ float m[32], Zq* out) {
            __shared__ __align__(16) Zq t[256 * n];
            t[threadIdx.x] = out[threadIdx.x];
        }
        template __device__ void f<2>(const float* m, Zq* out);
        __global__ void k(Zq* out) { __shared__ Zq tile[32]; f<2>(0, out); out[0] = tile[__signbit(1.0)]; }
        """
    )
    assert not function.problems
    tile = symbols_of(function)["tile"]
    assert (tile.storage, tile.type.bytes) == ("shared", 64)
    [called] = [loaded(call.function) for call in calls_in(function.body) if call.name == "f"]
    assert not called.problems
    t = symbols_of(called)["t"]
    assert (t.storage, t.type.bytes, t.align) == ("shared", 1024, 16)


def test_storage() -> None:
    source = """
    __constant__ float table[4];
    __device__ int counter = 3;
    static int host_value = 4;
    __global__ void k(float* p) {
      __shared__ float tile[8][9];
      extern __shared__ float dynamic[];
      static int s = 2;
      float l = table[0] + counter + host_value;
      p[threadIdx.x] = tile[0][0] + dynamic[1] + l;
    }
    """
    function = kernel_of(source)
    symbols = symbols_of(function)
    assert {name: symbol.storage for name, symbol in symbols.items()} == {
        "tile": "shared", "dynamic": "dynamic-shared", "s": "static", "l": "local",
    }  # fmt: skip
    assert type_name(symbols["tile"].type) == "float[8][9]"
    assert isinstance(symbols["dynamic"].type, ir.ArrayType) and symbols["dynamic"].type.count is None
    assert function.parameters[0].storage == "parameter"
    used = {expr.symbol.name: expr.symbol for expr in names_in(function.body)}
    assert [used[name].storage for name in ("table", "counter", "host_value", "threadIdx")] == [
        "constant", "device", "global", "builtin",
    ]  # fmt: skip
    assert used["counter"].initializer is not None
    value = used["counter"].initializer()
    assert isinstance(value, ir.Constant) and value.value == 3


def test_alignment() -> None:
    source = """
    #define ALIGNED __align__(32)
    __global__ void k(float* p) {
      alignas(16) __shared__ float a[4];
      __align__(8) __shared__ char b[4];
      alignas(double) float c[4];
      ALIGNED float d[4];
      float e[4];
    }
    """
    symbols = symbols_of(kernel_of(source))
    assert [symbols[name].align for name in "abcde"] == [16, 8, 8, 32, 0]


def test_parameters_declared_as_arrays_are_pointers() -> None:
    source = "__global__ void k(float a[4], float b[][8], int n) { a++; b[1][2] = a[n]; *(a + 1) = 0; }"
    function = kernel_of(source)
    assert [type_name(p.type) for p in function.parameters] == ["float*", "float[8]*", "int"]
    assert body_lines(function) == ["a++", "float*(b[1])[2] = a[n]", "*(a + 1) = float(0)"]


# --- types -----------------------------------------------------------------------------------------


def fields_of(definition: str, name: str = "T") -> list[tuple[str, int]]:
    type_ = kernel_of(f"{definition}\n__global__ void k({name} t) {{}}").parameters[0].type
    assert isinstance(type_, ir.RecordType)
    return [(field.name, field.offset) for field in type_.fields]


def test_records_have_real_offsets() -> None:
    assert fields_of("struct T { char a; double b; short c[3]; };") == [("a", 0), ("b", 8), ("c", 16)]
    assert fields_of("struct B { int x; }; struct T : B { char y; float z; };") == [("x", 0), ("y", 4), ("z", 8)]
    assert fields_of("struct T { int a; union { int u; float v; }; struct { char s, t; }; };") == [
        ("a", 0), ("u", 4), ("v", 4), ("s", 8), ("t", 9),
    ]  # fmt: skip
    assert fields_of("", "float4") == [("x", 0), ("y", 4), ("z", 8), ("w", 12)]


def test_records_may_point_to_themselves() -> None:
    function = kernel_of("struct Node { Node* next; int v; }; __global__ void k(Node n, Node* m) {}")
    record = function.parameters[0].type
    assert isinstance(record, ir.RecordType)
    following = record.fields[0].type
    assert isinstance(following, ir.PointerType) and following.pointee is record
    assert function.parameters[1].type is following


def test_half_is_a_record_of_two_bytes() -> None:
    type_ = kernel_of("#include <cuda_fp16.h>\n__global__ void k(__half h) {}").parameters[0].type
    assert isinstance(type_, ir.RecordType)
    assert (type_.name, type_.bytes) == ("__half", 2)


# --- functions -------------------------------------------------------------------------------------


def test_instantiations_have_substituted_bodies() -> None:
    source = """
    template <class T, int B> __global__ void __launch_bounds__(B, 2) k(T* p) {
      __shared__ T tile[B][B + 1];
      if constexpr (B > 16) p[B] = 1; else p[0] = 2;
    }
    void run(float* f, int* i) { k<float, 32><<<1, 2>>>(f); k<int, 8><<<1, 2>>>(i); }
    """
    unit = unit_of(source)
    pattern = unit.kernels[0]
    assert pattern.templated
    functions = [ref.load() for ref in unit.instantiations(pattern.key)]
    assert [f.instantiation for f in functions if f] == ["k<float, 32>", "k<int, 8>"]
    assert [(f.max_threads, f.min_blocks) for f in functions if f] == [(32, 2), (8, 2)]
    assert [body_lines(f) for f in functions if f] == [
        ["shared tile: float[32][33]", "p[32] = float(1)"],
        ["shared tile: int[8][9]", "p[0] = 2"],
    ]
    assert len({ref.key for ref in unit.instantiations(pattern.key)}) == 2


@pytest.mark.parametrize("bounds", ["Warps * LANES", "LANES * 2 + Warps", "Warps, 2 * Warps", "T::warps * LANES, 2"])
def test_operands_of_what_bounds_a_template_are_not_taken_for_it(bounds: str) -> None:
    """clang shows those operands that depend on nothing."""
    source = f"""
    constexpr int LANES = 32;
    template <class T, int Warps> __global__ void __launch_bounds__({bounds}) k(float* p) {{ p[threadIdx.x] = 0; }}
    """
    (pattern,) = unit_of(source).kernels
    function = pattern.load()
    assert function is not None
    assert (function.max_threads, function.min_blocks) == (None, None)


def test_instantiations_of_a_template_that_is_declared_first_are_no_kernels_of_their_own() -> None:
    """A specialization is one: it has a body that the template does not have."""
    source = """
    template <class T> __global__ void k(T* p);
    template <> __global__ void k(double* p) { p[1] = 2; }
    void run(float* f, int* i, double* d) { k<<<1, 2>>>(f); k<<<1, 2>>>(i); k<<<1, 2>>>(d); }
    template <class T> __global__ void k(T* p) { p[0] = 1; }
    """
    unit = unit_of(source)
    assert [(loaded(ref).instantiation, ref.templated) for ref in unit.kernels] == [("k<double>", False), ("k", True)]


def test_recursive_templates_end() -> None:
    source = """
    template <int N> __device__ int count() { if constexpr (N == 0) return 0; else return 1 + count<N - 1>(); }
    __global__ void k(int* p) { p[0] = count<3>(); }
    """
    assert body_lines(kernel_of(source)) == ["p[0] = count()"]


def test_launches() -> None:
    source = """
    __global__ void k(float* p, int n) {}
    void run(float* p, cudaStream_t s) {
      dim3 grid(4, 8);
      k<<<grid, 128>>>(p, 5);
      k<<<1, dim3(2, 3), 100, s>>>(p, 6);
      auto f = k;
      f<<<1, 2>>>(p, 7);
    }
    """
    [run] = unit_of(source).host_functions
    function = loaded(run)
    assert [line for line in body_lines(function) if "<<<" in line] == [
        f"k<<<grid, {dim3(128, 1, 1)}, -, ->>>(p, 5)",
        f"k<<<{dim3(1, 1, 1)}, {dim3(2, 3, 1)}, unsigned long(100), s>>>(p, 6)",
        f"f<<<{dim3(1, 1, 1)}, {dim3(2, 1, 1)}, -, ->>>(p, 7)",
    ]


def test_explicit_instantiations_count() -> None:
    source = """
    template <class T, unsigned N> __global__ void k(T* p) { p[N] = 1; }
    template <class T> void inner(T* p, int t) { k<T, 5><<<1, t>>>(p); }
    template <class T> void run(T* p, int t) { inner<T>(p, t); }
    template void inner<int>(int*, int);
    template void run<int>(int*, int);
    template void run<float>(float*, int);
    template __global__ void k<double, 6>(double*);
    void (*table[])(int*) = {k<int, 7>};
    """
    unit = unit_of(source)
    # Nothing names the first two; the others are executed on the way, or by themselves where nothing calls them.
    launching = [loaded(ref).instantiation for ref in unit.host_functions]
    assert launching[:2] == ["run<int>", "run<float>"] and sorted(launching[2:]) == ["inner<float>", "inner<int>"]
    names = [loaded(ref).instantiation for ref in unit.instantiations(unit.kernels[0].key)]
    assert sorted(names) == ["k<double, 6>", "k<float, 5>", "k<int, 5>", "k<int, 7>"]


def dim3(*extents: int) -> str:
    return f"dim3({', '.join(f'unsigned int({extent})' for extent in extents)})"


def test_instantiations_are_found_in_initializers_and_called_templates() -> None:
    source = """
    template <int N> __global__ void k(int* p) { p[N] = 1; }
    void (*first)(int*) = k<1>;
    void (*second)(int*) = &k<2>;
    template <int N> void launch(int* p) { k<N><<<1, 2>>>(p); }
    void run(int* p) { launch<4>(p); }
    """
    unit = unit_of(source)
    names = [loaded(ref).instantiation for ref in unit.instantiations(unit.kernels[0].key)]
    assert sorted(names) == ["k<1>", "k<2>", "k<4>"]


def test_launch_functions_are_calls() -> None:
    source = """
    __global__ void k(float* p) {}
    void run(float* p) { void* args[] = {&p}; cudaLaunchKernel((void*)k, 4, 32, args, 0, 0); }
    """
    function = loaded(unit_of(source).host_functions[0])
    assert body_lines(function)[1].startswith("cudaLaunchKernel((void*)&k, dim3(unsigned int(4), ")


def test_has_launch_looks_through_user_functions() -> None:
    source = """
    __global__ void k(float* p) {}
    void inner(float* p) { k<<<1, 2>>>(p); }
    template <class T> void middle(T* p) { inner(p); }
    void outer(float* p) { middle(p); }
    void other(float* p) { outer(p); other(p); }
    void none(float* p) { none(p); }
    """
    unit = unit_of(source)
    assert {ref.name: ref.has_launch() for ref in unit.host_functions} == {
        "inner": True, "outer": True, "other": True, "none": False, "middle": True,
    }  # fmt: skip


def test_kernels_are_found_everywhere() -> None:
    source = """
    namespace a { namespace { __global__ void k1() {} } }
    extern "C" { __global__ void k2() {} }
    extern "C" __global__ void k3() {}
    template <class T> __global__ void k4(T t) {}
    #define KERNEL(name) __global__ void name() {}
    #define TWO __global__ void k6() {} __global__ void k7() {}
    KERNEL(k5)
    TWO
    __global__ void declared_only();
    __device__ void not_a_kernel() {}
    """
    assert [ref.name for ref in unit_of(source).kernels] == ["k1", "k2", "k3", "k4", "k5", "k6", "k7"]


def test_a_method_that_is_called_by_its_name_alone_tells_the_base_that_has_it() -> None:
    """libclang 18 says nothing of a base that depends on a template's parameters."""
    source = """
    template <class T, int N> class View;
    template <class T, int N> class View<const T, N> {
      protected:
        __device__ const T *get(int i) const { return data + i * strides[N - 1]; }
        const T *data; int strides[N];
    };
    template <class T, int N> class View : public View<const T, N> {
        using Base = View<const T, N>;
      public:
        __device__ T *at(int i) const { return const_cast<T *>(Base::get(i)); }
    };
    __global__ void k(View<float, 2> a) { *a.at(threadIdx.x) = 1; }
    """
    function = kernel_of(source)
    [called] = [node.function for node in walk.nodes_in(function) if isinstance(node, ir.Call) and node.function]
    called.load()
    [view] = [symbol.type for symbol in function.parameters]
    assert isinstance(view, ir.RecordType)
    assert [(field.name, field.offset) for field in view.fields] == [("data", 0), ("strides", 8)]


def test_host_functions() -> None:
    source = """
    struct S { void method() {} S() {} template <class T> void pattern(T t) {} };
    template <class T> void pattern(T t) {}
    __host__ __device__ void both() {}
    int main() { return 0; }
    """
    assert [ref.name for ref in unit_of(source).host_functions] == ["method", "S", "main"]


def test_lambdas_capture() -> None:
    source = """
    __global__ void k(float* p, int n) {
      int m = 2;
      auto a = [&](int i) { p[i] = m; };
      auto b = [=, &n] { return m + n; };
      auto d = [q = m + 1, n] { return q + n; };
      auto g = [=](auto i) { return p[i]; };
      a(1); g(2u);
    }
    """
    lines = body_lines(kernel_of(source))
    assert [line.partition(" = ")[2] for line in lines[1:5]] == [
        "lambda[&p, &m]", "lambda[&n, m]", "lambda[q, n]", "lambda[p]",
    ]  # fmt: skip
    assert lines[5:] == ["a.operator()(1)", "g.operator()(2)"]


def test_lambda_bodies_use_the_outer_symbols() -> None:
    function = kernel_of("__global__ void k(float* p, int n) { auto f = [=](int i) { p[i] = n; }; f(1); }")
    [made] = [one for one in nodes_in(function.body) if isinstance(one, ir.Lambda)]
    body = loaded(made.function)
    outer = {id(symbol) for symbol in function.parameters}
    assert outer <= {id(name.symbol) for name in names_in(body.body)}


def test_this_in_a_lambda_is_the_methods() -> None:
    source = """
    struct S { int v; __device__ int get() { auto f = [this] { return v; }; return f(); } };
    __global__ void k(S s, int* p) { p[0] = s.get(); }
    """
    [call] = [e for e in calls_in(kernel_of(source).body) if e.name == "get"]
    method = loaded(call.function)
    [inner] = [e for e in calls_in(method.body) if e.name == "operator()"]
    body = loaded(inner.function)
    assert {name.symbol for name in names_in(body.body)} == {method.this}


# --- places and problems ---------------------------------------------------------------------------


def test_spans_count_lines_and_bytes_from_one() -> None:
    function = kernel_of("// \u00e4\n__global__ void k(float* p) {\n  /* \u00e4 */ p[1] = 2;\n}\n")
    assert function.span == ir.Span("kernels.cu", 2, 1, 4, 2)
    assert function.name_span == ir.Span("kernels.cu", 2, 17, 2, 18)
    [statement] = statements_of(function)
    assert statement.span == ir.Span("kernels.cu", 3, 12, 3, 20)


def test_spans_in_macros_are_those_of_the_use() -> None:
    source = "#define AT(i) p[(i) * 2]\n__global__ void k(float* p, int n) {\n  AT(n) = 2;\n}\n"
    [statement] = statements_of(kernel_of(source))
    assert isinstance(statement, st.ExprStmt) and isinstance(statement.expr, ir.Assign)
    assert statement.expr.target.span == ir.Span("kernels.cu", 3, 3, 3, 8)


def test_problems_belong_to_the_function_that_has_them() -> None:
    source = "__global__ void good(int* p) { p[0] = 1; }\n__global__ void bad(int* p) { p->x = 1; p[1] = 2; }\n"
    good, bad = (loaded(ref) for ref in unit_of(source).kernels)
    assert not good.problems and bad.problems
    assert body_lines(bad)[-1] == "p[1] = 2"


@pytest.mark.parametrize(
    ("source", "kernels"),
    [
        ("int x = ;", []),
        ("__global__ void k(", []),
        ("template <class T> __global__ void k(T t) { T", ["k"]),
        ("__global__ void k(int* p) { p[0] = 1; p[", ["k"]),
    ],
)
def test_broken_sources_are_lowered_as_far_as_they_go(source: str, kernels: list[str]) -> None:
    unit = unit_of(source)
    assert unit.problems
    assert [loaded(ref).name for ref in unit.kernels] == kernels


def test_statements_before_a_syntax_error_are_lowered() -> None:
    assert body_lines(kernel_of("__global__ void k(int* p) { p[0] = 1; p["))[0] == "p[0] = 1"


@pytest.mark.parametrize(
    ("statement", "lowered_as"),
    [
        ("out[i] = -in[i] * v + 2.f;", "out[i] = ((-in[i] * v) + 2.0)"),
        ("out[i] += in[i] > v ? in[i] : v;", "out[i] += ((in[i] > v) ? in[i] : v)"),
    ],
)
def test_operators_in_a_template_may_be_overloaded_somewhere(statement: str, lowered_as: str) -> None:
    """Which function an operator is depends on the type then, and until there is one it does what the built-in does."""
    overloads = """
    struct Number { int x; };
    __device__ Number operator*(Number, Number);
    __device__ Number operator+(Number, Number);
    __device__ Number operator-(Number);
    __device__ Number operator+=(Number &, Number);
    __device__ bool operator>(Number, Number);
    """
    source = f"{overloads}template <class T> __global__ void k(T *out, T *in, T v, int i) {{ {statement} }}"
    assert body_lines(kernel_of(source)) == [lowered_as]


def test_functions_name_numbers_that_they_may_set() -> None:
    """Constants, pointers and records are none, and neither are the function's own variables."""
    unit = unit_of("""
        struct Shape { int x; static constexpr int most = 4; };
        const int width = 8;
        int rows;
        int *data;
        Shape shape;
        void sets(int n) { rows = n; }
        int reads() { int own = rows; return own; }
        int constants() { return width + Shape::most; }
        void others() { data = 0; shape.x = 1; }
    """)
    found = {ref.name: ref.names_numbers() for ref in unit.host_functions}
    assert found == {"sets": True, "reads": True, "constants": False, "others": False}
