#pragma once

// Programming mistakes (not user errors) end the run with a message; always on.

#include <stdexcept>

namespace keel {

inline void check(bool condition, const char* what) {
    if (!condition) throw std::logic_error(what);
}

}  // namespace keel
