"""What small kernels do with the numbers that they take."""

from __future__ import annotations

from executing import kernel_in

from cudalint.worlds.uses import uses_of


def _uses(source: str) -> set[tuple[str, str, int | str | None]]:
    return {(use.parameter.name, use.kind, use.other) for use in uses_of(kernel_in(source))}


def test_a_guard_a_stride_and_a_loop() -> None:
    found = _uses(
        """
        __global__ void k(float *a, const float *b, int n, int s, int K) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= n) return;
            float sum = 0;
            for (int j = 0; j < K; j++) sum += b[i * s + j];
            a[i] = sum;
        }
        """
    )
    assert found == {("n", "guard", None), ("s", "stride", "thread"), ("K", "loop", None)}


def test_division_and_what_stands_for_it() -> None:
    found = _uses(
        """
        __global__ void k(float *a, int n, int m, int w, int q, int r) {
            int i = threadIdx.x;
            int tiles = n / 32, rest = m % 4, half = q >> 1, part = r & 7;
            a[i / w + tiles + rest + half + part] = 0;
        }
        """
    )
    assert found == {
        ("n", "dividend", 32), ("m", "dividend", 4), ("q", "dividend", 2), ("r", "dividend", 8), ("w", "divisor", None),
    }  # fmt: skip


def test_one_parameter_by_another() -> None:
    found = _uses("__global__ void k(float *a, int n, int m) { if (n < m) a[n % m] = 0; }")
    assert found == {("n", "guard", "m"), ("m", "guard", "n"), ("n", "dividend", "m"), ("m", "divisor", "n")}


def test_flags_and_shifts() -> None:
    found = _uses(
        """
        __global__ void k(float *a, bool on, int mode, int kind, int by, int least, int bits, int more) {
            int i = threadIdx.x;
            if (on) a[i] = 0;
            if (mode == 3) a[i] = 1;
            switch (kind) { case 1: a[i] = 2; break; case 5: a[i] = 3; }
            a[i << by] = least > 16 ? 1 : 2;
            for (int j = 0; j < 1 << bits; j++) a[j] = 1 << (more - 1);
        }
        """
    )
    assert found == {
        ("on", "flag", 0), ("mode", "flag", 3), ("kind", "flag", 1), ("kind", "flag", 5), ("by", "shift", "place"),
        ("least", "limit", 17), ("bits", "shift", "<<"), ("bits", "loop", None), ("more", "shift", "<< computed"),
    }  # fmt: skip


def test_a_limit_is_the_least_number_beyond() -> None:
    found = _uses(
        """
        __global__ void k(float *a, int p, int q, int r, int s, int t, int u) {
            if (p > 3) a[0] = 0;
            if (q >= 3) a[1] = 0;
            if (r < 3) a[2] = 0;
            if (s <= 3) a[3] = 0;
            if (3 < t) a[4] = 0;
            if (3 >= u) a[5] = 0;
        }
        """
    )
    assert found == {(name, "limit", least) for name, least in zip("pqrstu", (4, 3, 3, 4, 4, 4), strict=True)}


def test_bytes_and_vectors() -> None:
    found = _uses(
        """
        __global__ void k(const char *a, float *b, int nb, int K) {
            const char *row = a + blockIdx.x * nb;
            float4 v = reinterpret_cast<float4 *>(&b[threadIdx.x * K])[0];
            b[threadIdx.x] = ((const float *)row)[threadIdx.x] + v.x;
        }
        """
    )
    assert found == {("nb", "stride", "block"), ("nb", "size", 4), ("K", "stride", "thread"), ("K", "vector", 4)}


def test_what_is_added_in_each_turn_is_a_stride() -> None:
    found = _uses(
        """
        __global__ void k(float *a, int n, int step) {
            for (int i = threadIdx.x; i < n; i += step) a[i] = 0;
            for (int j = 0; j < 8; j++, a += n) a[j] = 0;
        }
        """
    )
    assert found == {("n", "loop", "thread"), ("step", "stride", "loop"), ("n", "stride", "loop")}


def test_where_threads_begin_is_a_guard() -> None:
    found = _uses(
        """
        __global__ void k(float *a, int first, int n, int end) {
            int i = first + blockIdx.x * blockDim.x + threadIdx.x;
            if (i < end && threadIdx.x * n < end) a[i] = 0;
        }
        """
    )
    assert found == {
        ("first", "guard", "end"), ("end", "guard", None), ("n", "stride", "thread"),
    }  # fmt: skip


def test_what_is_added_before_it_is_compared_is_the_same_through_variables() -> None:
    direct = _uses(
        """
        __global__ void k(float *a, int n, int first, int rows, int columns) {
            if (threadIdx.x + 3 < n && threadIdx.x + first < 256 && threadIdx.x + rows * columns < 256)
                a[threadIdx.x] = 0;
        }
        """
    )
    assert direct == _uses(
        """
        __global__ void k(float *a, int n, int first, int rows, int columns) {
            int i = threadIdx.x + 3, j = threadIdx.x + first, size = rows * columns, l = threadIdx.x + size;
            if (i < n && j < 256 && l < 256) a[threadIdx.x] = 0;
        }
        """
    )
    bounds = {(name, "guard", None) for name in ("n", "first", "rows", "columns")}
    assert direct == {("n", "edge", 3), *bounds}


def test_uses_in_functions_and_of_fields() -> None:
    found = _uses(
        """
        struct Dims { int rows; int columns; };
        struct Params { float *out; Dims dims; int flag; };
        __device__ int place(int row, int column, int width) { return row * width + column; }
        __device__ void write(const Params &p, int i) { if (i < p.dims.rows) p.out[place(i, 0, p.dims.columns)] = 0; }
        __global__ void k(Params p) { if (p.flag) write(p, threadIdx.x); }
        """
    )
    assert found == {
        ("p.flag", "flag", 0), ("p.dims.rows", "guard", None), ("p.dims.columns", "stride", "thread"),
    }  # fmt: skip


def test_a_number_is_followed_through_variables() -> None:
    found = _uses(
        """
        __global__ void k(float *a, int n, int s) {
            const int end = n - 1;
            int twice = s;
            twice = 2 * s;
            int i = threadIdx.x;
            if (i < end) a[twice * i] = 0;
        }
        """
    )
    assert found == {("n", "guard", None), ("s", "stride", "thread")}


def test_factors_of_a_bound_are_counted() -> None:
    kernel = kernel_in(
        "__global__ void k(float *a, int n, int m, int l) { if (threadIdx.x < n * m && threadIdx.x < l) a[0] = 0; }"
    )
    assert {use.parameter.name: use.factors for use in uses_of(kernel)} == {"n": 2, "m": 2, "l": 1}


def test_constants_of_templates_are_no_parameters() -> None:
    found = _uses(
        """
        template <int W> __device__ void f(float *a, int n) { a[threadIdx.x] = n / W; }
        __global__ void k(float *a, int n) { f<8>(a, n); }
        """
    )
    assert found == {("n", "dividend", 8)}


def test_windows_and_their_steps() -> None:
    found = _uses(
        """
        __global__ void k(float *a, int width, int height, int size, int pad, int by, int begin, int chunk) {
            int wide = (width + 2 * pad - size) / by + 1, high = (height + 2 * pad - size) / by + 1;
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            for (int c = 0; c < (width - begin - 1) / chunk + 1; c++) a[i + c * wide * high] = 0;
        }
        """
    )
    own = {use for use in found if use[1] in ("window", "step")}
    assert own == {("size", "window", "by"), ("pad", "window", "by"), ("by", "step", None)}


def test_margins_are_added_to_every_extent() -> None:
    found = _uses(
        """
        __global__ void k(float *a, int width, int height, int size, int margin, int by) {
            int wide = (width + margin - size) / by + 1, high = (height + margin - size) / by + 1;
            a[threadIdx.x % wide * high] = 0;
        }
        """
    )
    assert {use for use in found if use[1] == "window"} == {("size", "window", "by"), ("margin", "window", "by")}


def test_places_are_scaled_from_one_size_to_another() -> None:
    found = _uses(
        """
        __global__ void k(float *a, int width, int wide, int height, int high) {
            int x = (float)threadIdx.x / width * wide, y = blockIdx.x * high / height;
            a[y * wide + x] = 0;
        }
        """
    )
    assert {use for use in found if use[1] == "scale"} == {("wide", "scale", "width"), ("high", "scale", "height")}
