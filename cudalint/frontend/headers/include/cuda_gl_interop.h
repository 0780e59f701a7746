#pragma once
#pragma clang force_cuda_host_device begin
cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource_t*, unsigned, unsigned);
cudaError_t cudaGraphicsGLRegisterImage(cudaGraphicsResource_t*, unsigned, unsigned, unsigned);
cudaError_t cudaGLSetGLDevice(int);
cudaError_t cudaGLRegisterBufferObject(unsigned);
cudaError_t cudaGLUnregisterBufferObject(unsigned);
cudaError_t cudaGLMapBufferObject(void**, unsigned);
cudaError_t cudaGLUnmapBufferObject(unsigned);
#pragma clang force_cuda_host_device end
