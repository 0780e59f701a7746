// Text of values, and logs of it, as far as host code makes them: what they say is nobody's concern here.
#pragma once
#include <exception>
#include <string>
#include <string_view>
#pragma clang force_cuda_host_device begin
namespace fmt {
template <class... _A> std::string format(const std::string&, const _A&...);
template <class... _A> std::string sprintf(const std::string&, const _A&...);
template <class... _A> void print(const std::string&, const _A&...);
template <class... _A> void print(FILE*, const std::string&, const _A&...);
template <class... _A> void println(const std::string&, const _A&...);
template <class _O, class... _A> _O format_to(_O, const std::string&, const _A&...);
template <class _T> std::string to_string(const _T&);
template <class _R> std::string join(_R&&, const std::string&);
template <class _I> std::string join(_I, _I, const std::string&);
template <class _T> const void* ptr(_T*);
template <class _S> const _S& runtime(const _S& text) { return text; }
template <class _T, class _C = char, class _E = void> struct formatter {
    template <class _X> constexpr auto parse(_X& context) { return context.begin(); }
    template <class _V, class _X> auto format(const _V&, _X& context) const { return context.out(); }
};
struct format_error : std::exception {};
}  // namespace fmt
#pragma clang force_cuda_host_device end
