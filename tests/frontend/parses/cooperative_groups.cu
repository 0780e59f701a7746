#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__global__ void k(float* x)
{
    __shared__ float s[64];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    auto quarter = cg::tiled_partition<8>(warp);
    auto active = cg::coalesced_threads();
    cg::memcpy_async(block, s, x, sizeof(float) * 64);
    cg::wait(block);
    block.sync();
    cg::sync(block);
    x[warp.thread_rank()] = cg::reduce(warp, s[block.thread_rank()], cg::plus<float>()) + warp.shfl_down(x[0], 1);
    x[active.size()] = cg::inclusive_scan(quarter, x[1]);
    cg::this_grid().sync();
}
