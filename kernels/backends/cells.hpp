#pragma once

#include "kernels/bodies/stencil.hpp"
#include "kernels/layout/box.hpp"
#include "kernels/layout/storage.hpp"

namespace keel {

// The cells that a backend's verbs loop over: 0 <= (i,j,k) < extent of every local block, restricted to one
// part and, if a colour is given, to that colour: (i + j + k + parity[block]) mod 2 = colour. For sums by
// box, boxes take the place of blocks, with a body that knows where they are (InWindow).
struct Cells {
    static constexpr int every = -1;

    int boxes;
    Index extent;
    int colour;
    Part part;
    const int* parity;  // parity of the sum of the global indices of each block's first cell
    Index margin;       // layers of the shell
    int unused = 0;     // no padding: launches are compared by bytes (gpu/device.hpp)

    constexpr int step() const { return colour == every ? 1 : 2; }
    // The first cell of the colour from i = `low` on.
    constexpr int first(int low, int q, int j, int k) const {
        return colour == every ? low : low + ((colour + parity[q] + low + j + k) & 1);
    }

    constexpr bool in_shell(int x, std::size_t direction) const {
        return x < margin[direction] || x >= extent[direction] - margin[direction];
    }

    constexpr bool contains(int i, int j, int k) const {
        return part == Part::all ||
               (part == Part::shell) == (in_shell(i, 0) || in_shell(j, 1) || in_shell(k, 2));
    }

    // The cells of row (j,k): from low[n] up to high[n], for n = 0 and 1.
    struct Spans {
        int low[2];
        int high[2];
    };
    constexpr Spans spans(int j, int k) const {
        const int n = extent[0];
        if (part == Part::all) return {{0, 0}, {n, 0}};
        const bool outer = in_shell(j, 1) || in_shell(k, 2);
        const int m = margin[0];
        if (part == Part::shell)
            return outer || 2 * m >= n ? Spans{{0, 0}, {n, 0}} : Spans{{0, n - m}, {m, n}};
        return outer ? Spans{{0, 0}, {0, 0}} : Spans{{m, 0}, {n - m, 0}};
    }

    // All boxes, both colours.
    constexpr std::size_t count() const {
        const std::size_t all = product(extent);
        std::size_t inside = 1;
        for (std::size_t d = 0; d < 3; ++d) {
            const int left = extent[d] - 2 * margin[d];
            inside *= static_cast<std::size_t>(left > 0 ? left : 0);
        }
        const std::size_t box = part == Part::all ? all : part == Part::interior ? inside : all - inside;
        return static_cast<std::size_t>(boxes) * box;
    }
};

// All cells of this number of boxes or blocks.
constexpr Cells every_cell(std::size_t boxes, const Index& extent) {
    return {static_cast<int>(boxes), extent, Cells::every, Part::all, nullptr, {}};
}

// A body of any cell as one of the cells of a colour.
template <class Body>
struct OneColour : Body {
    static constexpr bool one_colour = true;
};

// A body of the blocks' cells as one of the boxes' cells.
template <class Body>
struct InWindow {
    Body body;
    const Window* windows;

    constexpr double operator()(std::size_t n, int q, int i, int j, int k) const {
        const Window& w = windows[q];
        return body(n, w.block, w.at[0] + i, w.at[1] + j, w.at[2] + k);
    }
    constexpr double operator()(int q, int i, int j, int k) const {
        const Window& w = windows[q];
        return body(w.block, w.at[0] + i, w.at[1] + j, w.at[2] + k);
    }
    // The n-th of several sums: a body of few views, for rows so short that the cost of passing views counts.
    constexpr auto term(std::size_t n) const {
        return InWindow<decltype(body.term(n))>{body.term(n), windows};
    }
};

}  // namespace keel
