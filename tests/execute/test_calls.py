"""Calls: lambdas, references, recursion, functions that are chosen at run time, and what has no body."""

from __future__ import annotations

from executing import execute, kernel_in, stored

from cudalint.execute.values import Data


def test_lambdas_with_captures() -> None:
    head = "template <class F> __device__ int twice(F f, int x) { return f(f(x)); }"
    body = "int k = t; auto f = [=](int x) { return x + k; }; k = 100; out[t] = twice(f, 1);"
    assert stored(body, head=head) == [1 + 2 * t for t in range(32)]
    body = "int k = t; auto f = [&](int x) { k++; return x + k; }; k = 100; out[t] = twice(f, 1);"
    assert stored(body, head=head) == [1 + 101 + 102] * 32


def test_the_object_of_a_method() -> None:
    head = """
    struct Base { int first; __device__ int both() const { return first; } };
    struct Own : Base {
        int second;
        __device__ int sum() { auto f = [this](int x) { return x + first + second; }; return f(1000); }
    };"""
    assert stored("Own o; o.first = t; o.second = 100; out[t] = o.sum() + o.both();", head=head) == [
        1100 + 2 * t for t in range(32)
    ]


def test_recursion() -> None:
    head = "__device__ int sum(int n) { if (n <= 0) return 0; return n + sum(n - 1); }"
    assert stored("out[t] = sum(t % 9);", head=head) == [sum(range(t % 9 + 1)) for t in range(32)]


def test_a_recursion_that_data_ends() -> None:
    head = """__device__ void sort(int* a, int low, int high) {
        int p = a[low]; a[high] = p;
        if (low < p) sort(a, low, p - 1);
        if (p < high) sort(a, p + 1, high);
    }"""
    source = f"{head}\n__global__ void kernel(int* a, int n) {{ sort(a, 0, n); }}"
    trace = execute(kernel_in(source), (32, 1, 1), (1, 1, 1))
    assert {gap.reason for gap in trace.gaps} == {"`sort` is recursive and was followed no further"}
    assert len(trace.accesses) < 30


def test_pointers_to_functions() -> None:
    head = "__device__ int less(int x) { return x - 1; } __device__ int more(int x) { return x + 1; }"
    body = "int (*f)(int) = more; out[t] = f(t);"
    assert stored(body, head=head) == [t + 1 for t in range(32)]
    (found, *_) = stored("int (*f)(int) = in[0] ? less : more; out[t] = f(t);", head=head)
    assert isinstance(found, Data)


def test_what_an_object_decides_about() -> None:
    head = "struct A { int x; __device__ virtual int f() { return x; } };"
    source = f"{head}\n__global__ void kernel(A* a, int* out) {{ out[a->f()] = 1; }}"
    trace = execute(kernel_in(source), (32, 1, 1), (1, 1, 1))
    assert [gap.reason for gap in trace.gaps] == ["`f` is virtual and was not followed"]
    assert isinstance(trace.accesses[-1].offset, Data)


def test_what_has_no_body_may_set_what_it_is_given() -> None:
    head = "__device__ void set(int& x); __device__ void fill(int* x); __device__ int get(const int& x);"
    (found, *_) = stored("int x = 1; set(x); out[t] = x;", head=head)
    assert isinstance(found, Data)
    (found, *_) = stored("int x[2] = {1, 2}; fill(x); out[t] = x[1];", head=head)
    assert isinstance(found, Data)
    assert stored("int x = 1; get(x); out[t] = x;", head=head) == [1] * 32


def test_loops_over_ranges() -> None:
    assert stored("int a[3] = {t, 2, 3}; int s = 0; for (int& x : a) x++; for (int x : a) s += x; out[t] = s;") == [
        t + 8 for t in range(32)
    ]
    assert stored("int s = 0; for (int x : {1, 2, 4}) { if (x > t) break; s += x; } out[t] = s;") == [
        sum(x for x in (1, 2, 4) if x <= t) for t in range(32)
    ]


def test_pointers_to_several_pieces_of_memory() -> None:
    source = """__global__ void kernel(int* a, int* b) {
        int* p = threadIdx.x < 20 ? a : b + 1; p[threadIdx.x] = 1; }"""
    trace = execute(kernel_in(source), (32, 1, 1), (1, 1, 1))
    assert [(each.allocation.name, int(each.mask.sum())) for each in trace.accesses] == [("a", 20), ("b", 12)]
    assert trace.accesses[1].offset[0, 20] == 4 * 21


def test_addresses_as_numbers() -> None:
    """Swizzles change the lower bits of an address."""
    source = """__global__ void kernel(int* out) {
        __shared__ __align__(1024) int s[256];
        unsigned at = __cvta_generic_to_shared(s + 4 * threadIdx.x);
        asm("st.shared.b32 [%0], %1;" :: "r"(at ^ (threadIdx.x / 8 << 4)), "r"(1));
        asm("st.shared.b32 [%0], %1;" :: "r"((at + 8) & ~15u), "r"(1)); }"""
    first, second = execute(kernel_in(source), (32, 1, 1), (1, 1, 1)).accesses
    assert first.offset[0].tolist() == [16 * t ^ (t // 8 << 4) for t in range(32)]
    assert second.offset[0].tolist() == [(16 * t + 8) & ~15 for t in range(32)]


def test_pointers_that_data_chooses() -> None:
    """Both may be accessed, and nothing else."""
    for choice in ("in[0] ? a + 3 : b", "b; if (in[0]) p = a + 3; p = p"):
        source = f"__global__ void kernel(int* a, int* b, int* in) {{ int* p = {choice}; p[threadIdx.x] = 1; }}"
        trace = execute(kernel_in(source), (32, 1, 1), (1, 1, 1))
        stores = {each.allocation.name: (each.offset[0, 1], each.data) for each in trace.accesses[1:]}
        assert stores == {"a": (16, 1), "b": (4, 1)}, choice
    source = "__global__ void kernel(int* a, int* in) { int* p = nullptr; if (in[0]) p = a + 3; if (p) p[1] = 1; }"
    trace = execute(kernel_in(source), (32, 1, 1), (1, 1, 1))
    assert [(each.allocation.name, each.offset) for each in trace.accesses] == [("in", 0), ("a", 16)]


def test_a_pointer_that_data_moves_stays_in_its_array() -> None:
    source = "__global__ void kernel(int* a, int n) { for (int* p = a; p != a + n; p++) *p = 1; }"
    trace = execute(kernel_in(source), (32, 1, 1), (1, 1, 1))
    assert {each.allocation.name for each in trace.accesses} == {"a"}
    # Whoever is still in the loop has moved it by one element in each turn; behind it nobody knows.
    assert [each.offset for each in trace.accesses] == [0, 4]
    source = source.replace("= 1; }", "= 1, q = p; *q = 1; }").replace("{ for", "{ int* q = a; for")
    trace = execute(kernel_in(source), (32, 1, 1), (1, 1, 1))
    assert isinstance(trace.accesses[-1].offset, Data)
