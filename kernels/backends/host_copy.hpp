#pragma once

// Regions of fields in host memory, value by value.

#include <span>
#include <vector>

#include "kernels/backends/cells.hpp"
#include "kernels/layout/box.hpp"
#include "kernels/layout/view.hpp"

namespace keel {

// Writes a formula of (q,i,j,k) to a region of every box, by a function that runs a body over cells: of all
// boxes at once, or one after the other in blocks, where their ghosts are others' cells.
template <class HostFormula, class Real = double>
struct Assign {
    ViewOf<Real> u;
    const Window* boxes;
    int first;  // first of them in this run
    Index lo;
    const HostFormula& formula;

    void operator()(int n, int i, int j, int k) const {
        const int q = first + n;
        const Index in_box = lo + Index{i, j, k};
        const Index in_block = boxes[q].at + in_box;
        u(boxes[q].block, in_block[0], in_block[1], in_block[2]) =
            static_cast<Real>(formula(q, in_box[0], in_box[1], in_box[2]));
    }
};
template <class Real, class HostFormula, class Run>
void assign_on_host(const ViewOf<Real>& u, std::span<const Window> boxes, const Region& region,
                    const HostFormula& formula, const Run& run) {
    if (boxes.empty()) return;
    const bool alone = boxes.back().block + 1 == static_cast<int>(boxes.size());
    const std::size_t at_once = alone ? boxes.size() : 1;
    for (std::size_t q = 0; q < boxes.size(); q += at_once)
        run(every_cell(at_once, region.size),
            Assign<HostFormula, Real>{u, boxes.data(), static_cast<int>(q), region.lo, formula});
}

template <class Real>
std::vector<double> read_on_host(const ViewOf<Real>& u, std::span<const Window> boxes, const Region& cells) {
    const auto [i0, j0, k0] = cells.lo;
    const auto [n0, n1, n2] = cells.size;
    std::vector<double> values;
    values.reserve(boxes.size() * cells.cells());
    for (const auto& [block, at] : boxes)
        for (int k = k0; k < k0 + n2; ++k)
            for (int j = j0; j < j0 + n1; ++j)
                for (int i = i0; i < i0 + n0; ++i)
                    values.push_back(u(block, at[0] + i, at[1] + j, at[2] + k));
    return values;
}

}  // namespace keel
