#pragma once

// Programming mistakes (not user errors) end the run with a message; always on.

#include <source_location>
#include <stdexcept>
#include <string>

namespace keel {

inline void check(bool condition, const char* what,
                  const std::source_location& where = std::source_location::current()) {
    if (!condition)
        throw std::logic_error(std::string(where.file_name()) + ":" + std::to_string(where.line()) + ": " +
                               what);
}

}  // namespace keel
