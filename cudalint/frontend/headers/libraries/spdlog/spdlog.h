#pragma once
#include "../_cudalint_fmt/fmt.h"
#include <memory>
#pragma clang force_cuda_host_device begin
namespace spdlog {
namespace level {
enum level_enum { trace, debug, info, warn, err, critical, off };
}
struct logger {
#define _CUDALINT_LOG(NAME) template <class... _A> void NAME(const _A&...);
    _CUDALINT_LOG(trace)
    _CUDALINT_LOG(debug)
    _CUDALINT_LOG(info)
    _CUDALINT_LOG(warn)
    _CUDALINT_LOG(error)
    _CUDALINT_LOG(critical)
    _CUDALINT_LOG(log)
    _CUDALINT_LOG(flush)
    _CUDALINT_LOG(set_pattern)
    void set_level(level::level_enum);
    bool should_log(level::level_enum) const;
};
_CUDALINT_LOG(trace)
_CUDALINT_LOG(debug)
_CUDALINT_LOG(info)
_CUDALINT_LOG(warn)
_CUDALINT_LOG(error)
_CUDALINT_LOG(critical)
_CUDALINT_LOG(log)
_CUDALINT_LOG(set_pattern)
#undef _CUDALINT_LOG
void set_level(level::level_enum);
std::shared_ptr<logger> get(const std::string&);
std::shared_ptr<logger> default_logger();
std::shared_ptr<logger> stdout_color_mt(const std::string&);
}  // namespace spdlog
#pragma clang force_cuda_host_device end
#define SPDLOG_TRACE(...) (void)0
#define SPDLOG_DEBUG(...) (void)0
#define SPDLOG_INFO(...) (void)0
#define SPDLOG_WARN(...) (void)0
#define SPDLOG_ERROR(...) (void)0
#define SPDLOG_CRITICAL(...) (void)0
#define SPDLOG_LOGGER_TRACE(...) (void)0
#define SPDLOG_LOGGER_DEBUG(...) (void)0
#define SPDLOG_LOGGER_INFO(...) (void)0
#define SPDLOG_LOGGER_WARN(...) (void)0
#define SPDLOG_LOGGER_ERROR(...) (void)0
