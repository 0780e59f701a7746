texture<float, 2, cudaReadModeElementType> plain;
texture<uchar4, 1, cudaReadModeNormalizedFloat> colours;
__global__ void k(float* x, cudaTextureObject_t object, cudaSurfaceObject_t surface)
{
    x[0] = tex2D<float>(object, 1.f, 2.f) + tex1Dfetch<float4>(object, 3).x + tex2D(plain, 1, 2);
    float4 colour = tex1Dfetch(colours, 3);
    surf2Dwrite(colour.x, surface, 4, 5);
}
void bind(const void* memory, cudaArray_t array)
{
    cudaBindTexture(0, colours, memory, 64);
    cudaBindTextureToArray(plain, array);
    plain.normalized = true;
}
