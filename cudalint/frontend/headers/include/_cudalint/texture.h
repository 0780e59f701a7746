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

template <class _T, int Dimensions = 1, enum cudaTextureReadMode Mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : textureReference {
    texture(int normalized = 0, enum cudaTextureFilterMode = cudaFilterModePoint, enum cudaTextureAddressMode = cudaAddressModeClamp);
    texture(int normalized, enum cudaTextureFilterMode, enum cudaTextureAddressMode, cudaChannelFormatDesc);
};
template <class _T, int Dimensions = 1> struct __attribute__((device_builtin_surface_type)) surface : surfaceReference {
    surface();
};

namespace _cudalint {
/// What a fetch through a normalising texture reference returns: floats, as many as the element has.
template <class _T> struct normalized { typedef float type; };
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
#define _CUDALINT_FETCH(_F)                                                                                 \
    template <class _T, class... _C> _T _F(cudaTextureObject_t, _C... coordinates);                         \
    template <class _T, class... _C> void _F(_T* result, cudaTextureObject_t, _C... coordinates);           \
    template <class _T, int _D, class... _C> _T _F(texture<_T, _D, cudaReadModeElementType>, _C... coordinates); \
    template <class _T, int _D, class... _C>                                                                \
    typename _cudalint::normalized<_T>::type _F(texture<_T, _D, cudaReadModeNormalizedFloat>, _C... coordinates);
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

#define _CUDALINT_SURFACE(_F)                                                                               \
    template <class _T, class... _C> _T _F##read(cudaSurfaceObject_t, _C... coordinates);                   \
    template <class _T, class... _C> void _F##read(_T* result, cudaSurfaceObject_t, _C... coordinates);     \
    template <class _T, class _S, int _D, class... _C> _T _F##read(surface<_S, _D>, _C... coordinates);     \
    template <class _T, class _S, int _D, class... _C> void _F##read(_T* result, surface<_S, _D>, _C... coordinates); \
    template <class _T, class... _C> void _F##write(_T value, cudaSurfaceObject_t, _C... coordinates);      \
    template <class _T, class _S, int _D, class... _C> void _F##write(_T value, surface<_S, _D>, _C... coordinates);
_CUDALINT_SURFACE(surf1D)
_CUDALINT_SURFACE(surf2D)
_CUDALINT_SURFACE(surf3D)
_CUDALINT_SURFACE(surf1DLayered)
_CUDALINT_SURFACE(surf2DLayered)
_CUDALINT_SURFACE(surfCubemap)
_CUDALINT_SURFACE(surfCubemapLayered)
#undef _CUDALINT_SURFACE

template <class _T, int _D, enum cudaTextureReadMode _M, class... _A> cudaError_t cudaBindTexture(size_t* offset, texture<_T, _D, _M>&, const void*, _A...);
template <class _T, int _D, enum cudaTextureReadMode _M, class... _A> cudaError_t cudaBindTexture2D(size_t* offset, texture<_T, _D, _M>&, const void*, _A...);
template <class _T, int _D, enum cudaTextureReadMode _M> cudaError_t cudaBindTextureToArray(texture<_T, _D, _M>&, cudaArray_const_t);
template <class _T, int _D, enum cudaTextureReadMode _M> cudaError_t cudaBindTextureToArray(texture<_T, _D, _M>&, cudaArray_const_t, const cudaChannelFormatDesc&);
template <class _T, int _D, enum cudaTextureReadMode _M> cudaError_t cudaUnbindTexture(const texture<_T, _D, _M>&);
template <class _T, int _D> cudaError_t cudaBindSurfaceToArray(surface<_T, _D>&, cudaArray_const_t);
cudaError_t cudaBindTexture(size_t*, const textureReference*, const void*, const cudaChannelFormatDesc*, size_t bytes = ~size_t(0));
cudaError_t cudaBindTextureToArray(const textureReference*, cudaArray_const_t, const cudaChannelFormatDesc*);
cudaError_t cudaUnbindTexture(const textureReference*);
cudaError_t cudaGetTextureReference(const textureReference**, const void*);
