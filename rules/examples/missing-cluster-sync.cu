#include <cooperative_groups.h>

__global__ void __cluster_dims__(2, 1, 1) swapped(const float *in, float *out)
{
    __shared__ float tile[256];
    auto cluster = cooperative_groups::this_cluster();
    int i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = in[i];
    cluster.sync();
    float *other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
    out[i] = other[threadIdx.x];  // expect: CL310 "after the last barrier of the cluster: that block may have ended"
}

void run(const float *in, float *out)
{
    swapped<<<1024, 256>>>(in, out);
}
