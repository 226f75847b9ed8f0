#pragma once

#include <cstddef>

#include "miniapp/parameters.hpp"

namespace keel {

class Layout;

// Bytes that the solve adds to the resident memory of the layout's rank: the grid-sized arrays of all levels, the
// bottom solver's vectors, message buffers. Allocates nothing of that size.
std::size_t predicted_bytes(const Parameters& parameters, const Layout& finest);

// The grid-sized arrays alone, without ghosts and padding: what the run would need at the least.
std::size_t array_bytes(const Parameters& parameters, const Layout& finest);

}  // namespace keel
