#pragma once

#include <memory>

#include "kernels/backends/registry.hpp"

namespace keel {

std::unique_ptr<Backend> make_openmp_backend();

}  // namespace keel
