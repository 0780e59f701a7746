// Simple helpers are definitions, and constants where their arguments are.
#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
static_assert(min(3, 4) == 3 && max(2u, 7) == 7 && std::min({3, 1, 2}) == 1 && std::max(1, 5) == 5);
static_assert(dim3(4, 8).y == 8 && dim3(4).z == 1 && make_float4(1, 2, 3, 4).w == 4 && make_int2(5, 6).x == 5);
static_assert(std::numeric_limits<int>::max() == 2147483647 && std::numeric_limits<float>::infinity() > 1e38f);
static_assert(std::array<int, 3>{1, 2, 3}[1] == 2 && std::array<int, 3>{}.size() == 3);
static_assert(__mul24(3, 5) == 15 && __umul24(3, 5) == 15);
static_assert(std::is_same<std::decay_t<const int&>, int>::value && std::is_floating_point_v<double>);
