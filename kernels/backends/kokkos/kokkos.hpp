#pragma once

#include <memory>

#include "kernels/backends/registry.hpp"

namespace keel {

// In Kokkos' default execution space. Kokkos is initialised when the first one is made, and finalised when
// the process ends: it cannot be initialised again.
std::unique_ptr<Backend> make_kokkos_backend();

}  // namespace keel
