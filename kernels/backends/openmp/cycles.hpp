#pragma once

#include <memory>

#include "kernels/layout/storage.hpp"
#include "kernels/operations.hpp"

namespace keel {

// Operations of multigrid cycles in single precision.
std::unique_ptr<Operations> make_openmp_cycle_operations(const Layout& layout, int ghosts,
                                                         const Arrangement& arrangement);

}  // namespace keel
