#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
__global__ void k(float* x)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ float4 s[32];
    init(&barrier, 32);
    cuda::memcpy_async(&s[0], (float4*)x, sizeof(float4), barrier);
    barrier.arrive_and_wait();
    cuda::pipeline<cuda::thread_scope_thread> pipeline = cuda::make_pipeline();
    pipeline.producer_acquire();
    cuda::memcpy_async(&s[0], (float4*)x, cuda::aligned_size_t<16>(16), pipeline);
    pipeline.producer_commit();
    cuda::pipeline_consumer_wait_prior<0>(pipeline);
    __pipeline_memcpy_async(&s[0], x, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    cuda::atomic_ref<float, cuda::thread_scope_device> total(x[0]);
    total.fetch_add(s[0].x, cuda::memory_order_relaxed);
}
