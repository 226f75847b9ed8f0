#pragma once

#include <array>

#include "kernels/names.hpp"

namespace keel {

// The calls of MPI that carry a plan's messages. A new one is a file of comm/carry/transports/, a name here
// and one in make_transport().
enum class Carrier { isend, persistent, neighbour, shared, put, partitioned };
constexpr auto names_of(Carrier) {
    return std::array{"isend", "persistent", "neighbour", "shared", "put", "partitioned"};
}
// Whether messages lie in windows, which are memory of the host.
constexpr bool in_windows(Carrier carrier) {
    return carrier == Carrier::shared || carrier == Carrier::put;
}

}  // namespace keel
