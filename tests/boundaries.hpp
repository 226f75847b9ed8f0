#pragma once

// The boundaries that tests pose their problems with.

#include "kernels/layout/domain.hpp"

namespace keel::test {

inline constexpr Boundaries periodic{Boundary::periodic, Boundary::periodic, Boundary::periodic};
inline constexpr Boundaries dirichlet{Boundary::dirichlet, Boundary::dirichlet, Boundary::dirichlet};
inline constexpr Boundaries neumann{Boundary::neumann, Boundary::neumann, Boundary::neumann};
inline constexpr Boundaries mixed{Boundary::periodic, Boundary::dirichlet, Boundary::neumann};

}  // namespace keel::test
