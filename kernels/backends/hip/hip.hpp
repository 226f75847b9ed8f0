#pragma once

#include "kernels/backends/registry.hpp"

namespace keel {

std::unique_ptr<Backend> make_hip_backend(const BackendOptions& options);
std::string why_no_hip();  // why it cannot run here; empty if it can

}  // namespace keel
