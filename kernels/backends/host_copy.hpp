#pragma once

// Regions of fields in host memory, value by value.

#include <vector>

#include "kernels/backends/cells.hpp"
#include "kernels/box.hpp"
#include "kernels/view.hpp"

namespace keel {

// Calls action(value, q, i, j, k) for the cells of a region of every box: box by box, x fastest.
template <class Action>
void for_each_value_on_host(const View& u, int boxes, const Region& cells, const Action& action) {
    const auto [i0, j0, k0] = cells.lo;
    const auto [n0, n1, n2] = cells.size;
    for (int q = 0; q < boxes; ++q)
        for (int k = k0; k < k0 + n2; ++k)
            for (int j = j0; j < j0 + n1; ++j)
                for (int i = i0; i < i0 + n0; ++i) action(u(q, i, j, k), q, i, j, k);
}

// The same cells as a range, counted from 0, and the body that writes a formula of (q,i,j,k) to them.
constexpr Cells cells_of(const Region& region, int boxes) {
    return {boxes, region.size, Cells::every, nullptr, Part::all, 0};
}
template <class HostFormula>
struct Assign {
    View u;
    Index lo;
    const HostFormula& formula;

    void operator()(int q, int i, int j, int k) const {
        const Index at = lo + Index{i, j, k};
        u(q, at[0], at[1], at[2]) = formula(q, at[0], at[1], at[2]);
    }
};

inline std::vector<double> read_on_host(const View& u, int boxes, const Region& cells) {
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(boxes) * cells.cells());
    for_each_value_on_host(u, boxes, cells, [&](double v, int, int, int, int) { values.push_back(v); });
    return values;
}

}  // namespace keel
