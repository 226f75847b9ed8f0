#pragma once

#include <cstddef>

#include "kernels/names.hpp"

namespace keel {

// The neighbouring boxes that a box takes ghost cells from: the 6 that share a face (enough for the 7-point
// stencil at depth 1) or all 26, edges and corners included. In two dimensions 4 and 8.
enum class Neighbours { faces, all };
constexpr auto names_of(Neighbours) {
    return std::array{"faces", "all"};
}

constexpr int number_of(Neighbours neighbours, std::size_t dimensions) {
    if (dimensions == 2) return neighbours == Neighbours::faces ? 4 : 8;
    return neighbours == Neighbours::faces ? 6 : 26;
}

}  // namespace keel
