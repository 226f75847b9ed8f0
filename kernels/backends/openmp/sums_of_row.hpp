#pragma once

// Several combinations of vectors in one walk over rows.

#include <algorithm>
#include <cstddef>
#include <span>

#include "kernels/backends/rows/rows.hpp"
#include "kernels/bodies/vector.hpp"

namespace keel {

// The sums of a row, pass by pass. Rows are cut, so that a pass finds in the first-level cache what the pass
// before has read.
struct SumsOfRow {
    struct Pass {
        std::size_t terms;
        Combine<max_terms> body;
    };
    std::span<const Pass> passes;

    void operator()(int low, int high, int q, int j, int k) const {
        constexpr int some = 256;
        for (int first = low; first < high; first += some)
            for (const Pass& pass : passes) add(pass, first, std::min(high, first + some), q, j, k);
    }

  private:
    template <std::size_t N = max_terms>
    static void add(const Pass& pass, int low, int high, int q, int j, int k) {
        if constexpr (N > 1) {
            if (pass.terms < N) return add<N - 1>(pass, low, high, q, j, k);
        }
        Combine<N> body{pass.body.y, {}, {}};
        std::copy_n(pass.body.c.begin(), N, body.c.begin());
        std::copy_n(pass.body.x.begin(), N, body.x.begin());
        each_in_row(body, low, high, q, j, k);
    }
};

}  // namespace keel
