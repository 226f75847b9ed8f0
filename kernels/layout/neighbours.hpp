#pragma once

#include "kernels/names.hpp"

namespace keel {

// Which neighbouring boxes a box takes ghost cells from: the 6 that share a face (enough for the 7-point
// stencil at depth 1) or all 26, edges and corners included.
enum class Neighbours { faces, all };
constexpr auto names_of(Neighbours) {
    return std::array{Named<Neighbours>{Neighbours::faces, "faces"},
                      Named<Neighbours>{Neighbours::all, "all"}};
}

}  // namespace keel
