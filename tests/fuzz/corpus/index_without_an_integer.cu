// In a template that nothing instantiates clang makes no integer of an index, which is infinite here.
template <typename Traits> __global__ void kernel(typename Traits::Number *p, int n) {
    typename Traits::Number x[4], y[Traits::SIZE];
    x[1e308 * 10] = p[threadIdx.x];
    y[-1e308 * 10] = 1;
    p[1e308 * 10 - 1e308 * 10] = x[0.5f] + y[1e30];
}
