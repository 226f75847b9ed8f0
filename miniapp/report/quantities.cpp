#include "miniapp/report/quantities.hpp"

#include <fmt/format.h>

#include <cmath>

namespace keel {
namespace {

// Four digits of a number from 0.1 to 1000.
std::string four_digits(double value) {
    const double size = std::abs(value);
    return size < 9.9995   ? fmt::format("{:.3f}", value)
           : size < 99.995 ? fmt::format("{:.2f}", value)
                           : fmt::format("{:.1f}", value);
}

}  // namespace

std::string bytes_text(double bytes) {
    const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    std::size_t n = 0;
    while (n + 1 < std::size(units) && std::abs(bytes) >= 999.95) {
        bytes /= 1000;
        ++n;
    }
    return n == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[n]);
}

std::string seconds_text(double seconds) {
    const double size = std::abs(seconds);
    if (size == 0) return "0";
    if (size < 999.95e-9) return fmt::format("{} ns", four_digits(seconds * 1e9));
    if (size < 999.95e-6) return fmt::format("{} us", four_digits(seconds * 1e6));
    if (size < 999.95e-3) return fmt::format("{} ms", four_digits(seconds * 1e3));
    return size < 999.95 ? fmt::format("{} s", four_digits(seconds)) : fmt::format("{:.0f} s", seconds);
}

}  // namespace keel
