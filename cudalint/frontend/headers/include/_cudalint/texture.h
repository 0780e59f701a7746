// Texture and surface references and objects.
#pragma once

#define cudaTextureType1D 1
#define cudaTextureType2D 2
#define cudaTextureType3D 3
#define cudaTextureTypeCubemap 12
#define cudaTextureType1DLayered 241
#define cudaTextureType2DLayered 242
#define cudaTextureTypeCubemapLayered 252
#define cudaSurfaceType1D 1
#define cudaSurfaceType2D 2
#define cudaSurfaceType3D 3
#define cudaSurfaceType2DLayered 242

template <class T, int Dimensions = 1, enum cudaTextureReadMode Mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : textureReference {
    texture(int normalized = 0, enum cudaTextureFilterMode = cudaFilterModePoint, enum cudaTextureAddressMode = cudaAddressModeClamp);
    texture(int normalized, enum cudaTextureFilterMode, enum cudaTextureAddressMode, cudaChannelFormatDesc);
};
template <class T, int Dimensions = 1> struct __attribute__((device_builtin_surface_type)) surface : surfaceReference {
    surface();
};

namespace _cudalint {
/// What a fetch through a normalising texture reference returns: floats, as many as the element has.
template <class T> struct normalized { typedef float type; };
template <> struct normalized<uchar2> { typedef float2 type; };
template <> struct normalized<uchar4> { typedef float4 type; };
template <> struct normalized<char2> { typedef float2 type; };
template <> struct normalized<char4> { typedef float4 type; };
template <> struct normalized<ushort2> { typedef float2 type; };
template <> struct normalized<ushort4> { typedef float4 type; };
template <> struct normalized<short2> { typedef float2 type; };
template <> struct normalized<short4> { typedef float4 type; };
}  // namespace _cudalint

// One function has as many overloads as there are kinds of coordinates; a pack takes them all.
#define _CUDALINT_FETCH(F)                                                                                  \
    template <class T, class... C> T F(cudaTextureObject_t, C... coordinates);                              \
    template <class T, class... C> void F(T* result, cudaTextureObject_t, C... coordinates);                \
    template <class T, int D, class... C> T F(texture<T, D, cudaReadModeElementType>, C... coordinates);    \
    template <class T, int D, class... C>                                                                   \
    typename _cudalint::normalized<T>::type F(texture<T, D, cudaReadModeNormalizedFloat>, C... coordinates);
_CUDALINT_FETCH(tex1Dfetch)
_CUDALINT_FETCH(tex1D)
_CUDALINT_FETCH(tex2D)
_CUDALINT_FETCH(tex3D)
_CUDALINT_FETCH(texCubemap)
_CUDALINT_FETCH(tex1DLayered)
_CUDALINT_FETCH(tex2DLayered)
_CUDALINT_FETCH(texCubemapLayered)
_CUDALINT_FETCH(tex1DLod)
_CUDALINT_FETCH(tex2DLod)
_CUDALINT_FETCH(tex3DLod)
_CUDALINT_FETCH(texCubemapLod)
_CUDALINT_FETCH(tex1DLayeredLod)
_CUDALINT_FETCH(tex2DLayeredLod)
_CUDALINT_FETCH(tex1DGrad)
_CUDALINT_FETCH(tex2DGrad)
_CUDALINT_FETCH(tex3DGrad)
_CUDALINT_FETCH(tex2Dgather)
#undef _CUDALINT_FETCH

#define _CUDALINT_SURFACE(F)                                                                                \
    template <class T, class... C> T F##read(cudaSurfaceObject_t, C... coordinates);                        \
    template <class T, class... C> void F##read(T* result, cudaSurfaceObject_t, C... coordinates);          \
    template <class T, class S, int D, class... C> T F##read(surface<S, D>, C... coordinates);              \
    template <class T, class S, int D, class... C> void F##read(T* result, surface<S, D>, C... coordinates); \
    template <class T, class... C> void F##write(T value, cudaSurfaceObject_t, C... coordinates);           \
    template <class T, class S, int D, class... C> void F##write(T value, surface<S, D>, C... coordinates);
_CUDALINT_SURFACE(surf1D)
_CUDALINT_SURFACE(surf2D)
_CUDALINT_SURFACE(surf3D)
_CUDALINT_SURFACE(surf1DLayered)
_CUDALINT_SURFACE(surf2DLayered)
_CUDALINT_SURFACE(surfCubemap)
_CUDALINT_SURFACE(surfCubemapLayered)
#undef _CUDALINT_SURFACE

template <class T, int D, enum cudaTextureReadMode M, class... A> cudaError_t cudaBindTexture(size_t* offset, texture<T, D, M>&, const void*, A...);
template <class T, int D, enum cudaTextureReadMode M, class... A> cudaError_t cudaBindTexture2D(size_t* offset, texture<T, D, M>&, const void*, A...);
template <class T, int D, enum cudaTextureReadMode M> cudaError_t cudaBindTextureToArray(texture<T, D, M>&, cudaArray_const_t);
template <class T, int D, enum cudaTextureReadMode M> cudaError_t cudaBindTextureToArray(texture<T, D, M>&, cudaArray_const_t, const cudaChannelFormatDesc&);
template <class T, int D, enum cudaTextureReadMode M> cudaError_t cudaUnbindTexture(const texture<T, D, M>&);
template <class T, int D> cudaError_t cudaBindSurfaceToArray(surface<T, D>&, cudaArray_const_t);
cudaError_t cudaBindTexture(size_t*, const textureReference*, const void*, const cudaChannelFormatDesc*, size_t bytes = ~size_t(0));
cudaError_t cudaBindTextureToArray(const textureReference*, cudaArray_const_t, const cudaChannelFormatDesc*);
cudaError_t cudaUnbindTexture(const textureReference*);
cudaError_t cudaGetTextureReference(const textureReference**, const void*);
