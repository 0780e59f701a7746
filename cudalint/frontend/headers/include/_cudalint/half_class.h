// The classes of a 16-bit floating type. No include guard, like half_functions.h.
// Defined by the includer: T and T2 are the class names, RAW and RAW2 those of their bit patterns.
struct __align__(2) RAW { unsigned short x; };
struct __align__(4) RAW2 { unsigned short x, y; };
struct __align__(2) T {
    T() = default;
    constexpr T(const RAW& raw) : bits(raw.x) {}
    T(float);
    T(double);
    T(short);
    T(unsigned short);
    T(int);
    T(unsigned);
    T(long);
    T(unsigned long);
    T(long long);
    T(unsigned long long);
    T& operator=(const RAW&);
    T& operator=(float);
    T& operator=(double);
    T& operator=(int);
    T& operator=(unsigned);
    T& operator=(short);
    T& operator=(unsigned short);
    T& operator=(long long);
    T& operator=(unsigned long long);
    operator float() const;
    operator RAW() const;
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
struct __align__(4) T2 {
    T x, y;
    T2() = default;
    constexpr T2(const T& x, const T& y) : x(x), y(y) {}
    T2(const RAW2&);
    T2& operator=(const RAW2&);
    operator RAW2() const;
};
