// The classes of a 16-bit floating type. No include guard, like half_functions.h.
// Defined by the includer: _T and _T2 are the class names, _RAW and _RAW2 those of their bit patterns.
struct __align__(2) _RAW { unsigned short x; };
struct __align__(4) _RAW2 { unsigned short x, y; };
struct __align__(2) _T {
    _T() = default;
    constexpr _T(const _RAW& raw) : bits(raw.x) {}
    _T(float);
    _T(double);
    _T(short);
    _T(unsigned short);
    _T(int);
    _T(unsigned);
    _T(long);
    _T(unsigned long);
    _T(long long);
    _T(unsigned long long);
    _T& operator=(const _RAW&);
    _T& operator=(float);
    _T& operator=(double);
    _T& operator=(int);
    _T& operator=(unsigned);
    _T& operator=(short);
    _T& operator=(unsigned short);
    _T& operator=(long long);
    _T& operator=(unsigned long long);
    operator float() const;
    operator _RAW() const;
    explicit operator bool() const;
    explicit operator char() const;
    explicit operator signed char() const;
    explicit operator unsigned char() const;
    explicit operator short() const;
    explicit operator unsigned short() const;
    explicit operator int() const;
    explicit operator unsigned() const;
    explicit operator long() const;
    explicit operator unsigned long() const;
    explicit operator long long() const;
    explicit operator unsigned long long() const;

private:
    unsigned short bits;
};
struct __align__(4) _T2 {
    _T x, y;
    _T2() = default;
    constexpr _T2(const _T& x, const _T& y) : x(x), y(y) {}
    _T2(const _RAW2&);
    _T2& operator=(const _RAW2&);
    operator _RAW2() const;
};
