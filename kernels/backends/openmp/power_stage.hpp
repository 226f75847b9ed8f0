#pragma once

// A stage of a wavefront over powers of the operator.

#include "kernels/backends/rows/rows.hpp"
#include "kernels/bodies/powers.hpp"

namespace keel {

// The next vectors of one basis, or of two.
template <int D, DiagonalScaling scaling>
struct PowerStage {
    struct VectorsOfRow {
        NextVectors<D, scaling, 2> vectors;
        bool both;

        void operator()(int low, int high, int q, int j, int k) const {
            if (both)
                each_in_row(vectors, low, high, q, j, k);
            else
                each_in_row(vectors.first(), low, high, q, j, k);
        }
    };

    Cells cells;
    VectorsOfRow body;
};

}  // namespace keel
