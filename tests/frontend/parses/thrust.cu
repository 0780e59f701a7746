#include <thrust/complex.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
__global__ void k(float* x)
{
    thrust::complex<float> z(1, 2);
    z = z * z + 2.0f;
    x[0] = thrust::abs(z) + z.real();
    thrust::sort(thrust::seq, x, x + 3);
    thrust::tuple<int, float> pair = thrust::make_tuple(1, 2.f);
    thrust::get<0>(pair) = 3;
}
void run()
{
    thrust::host_vector<float> h(10);
    thrust::device_vector<float> v = h;
    k<<<1, 32>>>(thrust::raw_pointer_cast(v.data()));
    float* raw = thrust::raw_pointer_cast(&v[0]);
    float sum = thrust::reduce(thrust::device, v.begin(), v.end(), 0.0f, thrust::plus<float>());
    auto kept = thrust::copy_if(v.begin(), v.end(), v.begin(), [] __device__(float f) { return f > 0; });
    int count = kept - v.begin();
    auto zipped = thrust::make_zip_iterator(thrust::make_tuple(v.begin(), v.begin()));
    thrust::sort_by_key(v.begin(), v.end(), zipped);
    thrust::device_ptr<float> pointer(raw);
    thrust::fill(pointer, pointer + count, sum);
    v[0] = *thrust::max_element(v.begin(), v.end());
}
