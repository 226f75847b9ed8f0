#pragma once

#include "kernels/box.hpp"

namespace keel {

// What a backend's verbs loop over: the cells 0 <= (i,j,k) < extent of every local box, or only those of one
// colour, (i + j + k + parity[box]) mod 2 = colour.
struct Cells {
    static constexpr int every = -1;

    int boxes;
    Index extent;
    int colour;
    const int* parity;  // of the sum of the global indices of each box's first cell

    constexpr int first(int q, int j, int k) const {
        return colour == every ? 0 : (colour + parity[q] + j + k) & 1;
    }
    constexpr int step() const { return colour == every ? 1 : 2; }
};

}  // namespace keel
