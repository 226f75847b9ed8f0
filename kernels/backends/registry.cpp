#include "kernels/backends/registry.hpp"

#include <stdexcept>

#include "kernels/backends/openmp/openmp.hpp"

namespace keel {

std::vector<std::string> backend_names() {
    return {"openmp"};
}

std::unique_ptr<Backend> make_backend(const std::string& name) {
    if (name == "openmp") return make_openmp_backend();
    throw std::invalid_argument("unknown backend " + name);
}

}  // namespace keel
