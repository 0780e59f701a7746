// The functions that the 16-bit floating types share, for the scalar type _T and the two-element type _T2.
// No include guard: cuda_fp16.h and cuda_bf16.h each include it once with their types.
#define _CUDALINT_HALF_BINARY(_F)                                                                           \
    _T __h##_F(_T, _T);                                                                                     \
    _T2 __h##_F##2(_T2, _T2);
#define _CUDALINT_HALF_COMPARE(_F)                                                                          \
    bool __h##_F(_T, _T);                                                                                   \
    bool __h##_F##u(_T, _T);                                                                                \
    _T2 __h##_F##2(_T2, _T2);                                                                               \
    _T2 __h##_F##u2(_T2, _T2);                                                                              \
    bool __hb##_F##2(_T2, _T2);                                                                             \
    bool __hb##_F##u2(_T2, _T2);                                                                            \
    unsigned __h##_F##2_mask(_T2, _T2);
#define _CUDALINT_HALF_UNARY(_F)                                                                            \
    _T h##_F(_T);                                                                                           \
    _T2 h2##_F(_T2);
_CUDALINT_HALF_BINARY(add)
_CUDALINT_HALF_BINARY(sub)
_CUDALINT_HALF_BINARY(mul)
_CUDALINT_HALF_BINARY(add_sat)
_CUDALINT_HALF_BINARY(sub_sat)
_CUDALINT_HALF_BINARY(mul_sat)
_CUDALINT_HALF_BINARY(add_rn)
_CUDALINT_HALF_BINARY(sub_rn)
_CUDALINT_HALF_BINARY(mul_rn)
_CUDALINT_HALF_BINARY(max)
_CUDALINT_HALF_BINARY(min)
_CUDALINT_HALF_BINARY(max_nan)
_CUDALINT_HALF_BINARY(min_nan)
_T __hdiv(_T, _T);
_T2 __h2div(_T2, _T2);
_T __hfma(_T, _T, _T);
_T __hfma_sat(_T, _T, _T);
_T __hfma_relu(_T, _T, _T);
_T2 __hfma2(_T2, _T2, _T2);
_T2 __hfma2_sat(_T2, _T2, _T2);
_T2 __hfma2_relu(_T2, _T2, _T2);
_T2 __hcmadd(_T2, _T2, _T2);
_T __hneg(_T);
_T2 __hneg2(_T2);
_T __habs(_T);
_T2 __habs2(_T2);
bool __hisnan(_T);
_T2 __hisnan2(_T2);
int __hisinf(_T);
_CUDALINT_HALF_COMPARE(eq)
_CUDALINT_HALF_COMPARE(ne)
_CUDALINT_HALF_COMPARE(lt)
_CUDALINT_HALF_COMPARE(le)
_CUDALINT_HALF_COMPARE(gt)
_CUDALINT_HALF_COMPARE(ge)
_CUDALINT_HALF_UNARY(exp)
_CUDALINT_HALF_UNARY(exp2)
_CUDALINT_HALF_UNARY(exp10)
_CUDALINT_HALF_UNARY(log)
_CUDALINT_HALF_UNARY(log2)
_CUDALINT_HALF_UNARY(log10)
_CUDALINT_HALF_UNARY(sqrt)
_CUDALINT_HALF_UNARY(rsqrt)
_CUDALINT_HALF_UNARY(rcp)
_CUDALINT_HALF_UNARY(sin)
_CUDALINT_HALF_UNARY(cos)
_CUDALINT_HALF_UNARY(tanh)
_CUDALINT_HALF_UNARY(floor)
_CUDALINT_HALF_UNARY(ceil)
_CUDALINT_HALF_UNARY(trunc)
_CUDALINT_HALF_UNARY(rint)
#undef _CUDALINT_HALF_BINARY
#undef _CUDALINT_HALF_COMPARE
#undef _CUDALINT_HALF_UNARY
#define _CUDALINT_HALF_OPERATOR(OP)                                                                         \
    _T operator OP(const _T&, const _T&);                                                                   \
    _T2 operator OP(const _T2&, const _T2&);                                                                \
    _T& operator OP##=(_T&, const _T&);                                                                     \
    _T2& operator OP##=(_T2&, const _T2&);
_CUDALINT_HALF_OPERATOR(+)
_CUDALINT_HALF_OPERATOR(-)
_CUDALINT_HALF_OPERATOR(*)
_CUDALINT_HALF_OPERATOR(/)
#undef _CUDALINT_HALF_OPERATOR
#define _CUDALINT_HALF_RELATION(OP)                                                                         \
    bool operator OP(const _T&, const _T&);                                                                 \
    bool operator OP(const _T2&, const _T2&);
_CUDALINT_HALF_RELATION(==)
_CUDALINT_HALF_RELATION(!=)
_CUDALINT_HALF_RELATION(<)
_CUDALINT_HALF_RELATION(<=)
_CUDALINT_HALF_RELATION(>)
_CUDALINT_HALF_RELATION(>=)
#undef _CUDALINT_HALF_RELATION
_T operator+(const _T&);
_T operator-(const _T&);
_T2 operator+(const _T2&);
_T2 operator-(const _T2&);
_T& operator++(_T&);
_T operator++(_T&, int);
_T& operator--(_T&);
_T operator--(_T&, int);
