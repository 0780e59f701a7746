// Prints what NVIDIA's occupancy calculator says about each configuration that it reads; see
// make_occupancy_reference.py, which compiles it against the toolkit's cuda_occupancy.h.
#include <cuda_occupancy.h>

#include <iostream>

namespace {

// Returns the blocks per SM, or a negative error.
int blocks(const cudaOccDeviceProp& device, cudaOccFuncAttributes kernel, cudaOccFuncShmemConfig shared_limit,
           int threads, size_t dynamic_shared, int carveout, cudaOccResult& result) {
  cudaOccDeviceState state;
  state.carveoutConfig = carveout;
  kernel.shmemLimitConfig = shared_limit;
  const cudaOccError error =
      cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, threads, dynamic_shared);
  return error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -static_cast<int>(error);
}

}  // namespace

int main() {
  cudaOccDeviceProp device;
  cudaOccFuncAttributes kernel;
  int threads = 0;
  size_t dynamic_shared = 0;
  int carveout = SHAREDMEM_CARVEOUT_DEFAULT;
  while (std::cin >> device.computeMajor >> device.computeMinor >> device.maxThreadsPerBlock >>
         device.maxThreadsPerMultiprocessor >> device.regsPerBlock >> device.regsPerMultiprocessor >>
         device.warpSize >> device.sharedMemPerBlock >> device.sharedMemPerMultiprocessor >> device.numSms >>
         device.sharedMemPerBlockOptin >> device.reservedSharedMemPerBlock >> threads >> kernel.numRegs >>
         kernel.sharedSizeBytes >> dynamic_shared >> carveout) {
    kernel.maxThreadsPerBlock = device.maxThreadsPerBlock;
    kernel.maxDynamicSharedSizeBytes = dynamic_shared;
    kernel.numBlockBarriers = 1;
    cudaOccResult result;
    const int without = blocks(device, kernel, FUNC_SHMEM_LIMIT_DEFAULT, threads, dynamic_shared, carveout, result);
    const int with = blocks(device, kernel, FUNC_SHMEM_LIMIT_OPTIN, threads, dynamic_shared, carveout, result);
    std::cout << with << ' ' << without << ' ' << result.blockLimitWarps << ' ' << result.blockLimitBlocks
              << ' ' << result.blockLimitRegs << ' ' << result.blockLimitSharedMem << '\n';
  }
}
