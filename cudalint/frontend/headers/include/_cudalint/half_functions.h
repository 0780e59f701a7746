// The functions that the 16-bit floating types share, for the scalar type T and the two-element type T2.
// No include guard: cuda_fp16.h and cuda_bf16.h each include it once with their types.
#define _CUDALINT_HALF_BINARY(F)                                                                            \
    T __h##F(T, T);                                                                                         \
    T2 __h##F##2(T2, T2);
#define _CUDALINT_HALF_COMPARE(F)                                                                           \
    bool __h##F(T, T);                                                                                      \
    bool __h##F##u(T, T);                                                                                   \
    T2 __h##F##2(T2, T2);                                                                                   \
    T2 __h##F##u2(T2, T2);                                                                                  \
    bool __hb##F##2(T2, T2);                                                                                \
    bool __hb##F##u2(T2, T2);                                                                               \
    unsigned __h##F##2_mask(T2, T2);
#define _CUDALINT_HALF_UNARY(F)                                                                             \
    T h##F(T);                                                                                              \
    T2 h2##F(T2);
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
T __hdiv(T, T);
T2 __h2div(T2, T2);
T __hfma(T, T, T);
T __hfma_sat(T, T, T);
T __hfma_relu(T, T, T);
T2 __hfma2(T2, T2, T2);
T2 __hfma2_sat(T2, T2, T2);
T2 __hfma2_relu(T2, T2, T2);
T2 __hcmadd(T2, T2, T2);
T __hneg(T);
T2 __hneg2(T2);
T __habs(T);
T2 __habs2(T2);
bool __hisnan(T);
T2 __hisnan2(T2);
int __hisinf(T);
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
    T operator OP(const T&, const T&);                                                                      \
    T2 operator OP(const T2&, const T2&);                                                                   \
    T& operator OP##=(T&, const T&);                                                                        \
    T2& operator OP##=(T2&, const T2&);
_CUDALINT_HALF_OPERATOR(+)
_CUDALINT_HALF_OPERATOR(-)
_CUDALINT_HALF_OPERATOR(*)
_CUDALINT_HALF_OPERATOR(/)
#undef _CUDALINT_HALF_OPERATOR
#define _CUDALINT_HALF_RELATION(OP)                                                                         \
    bool operator OP(const T&, const T&);                                                                   \
    bool operator OP(const T2&, const T2&);
_CUDALINT_HALF_RELATION(==)
_CUDALINT_HALF_RELATION(!=)
_CUDALINT_HALF_RELATION(<)
_CUDALINT_HALF_RELATION(<=)
_CUDALINT_HALF_RELATION(>)
_CUDALINT_HALF_RELATION(>=)
#undef _CUDALINT_HALF_RELATION
T operator+(const T&);
T operator-(const T&);
T2 operator+(const T2&);
T2 operator-(const T2&);
T& operator++(T&);
T operator++(T&, int);
T& operator--(T&);
T operator--(T&, int);
