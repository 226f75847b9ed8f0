#pragma once

// The backend under test, from the environment: KEEL_TEST_BACKEND = NAME or NAME/LAUNCHES, such as
// cuda/graphs; openmp if it is not set. CMake registers every test once for each; where the backend cannot
// run they are skipped.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/backends/registry.hpp"

namespace keel::test {

inline std::unique_ptr<Backend> chosen_backend(int device = 0) {
    const char* const chosen = std::getenv("KEEL_TEST_BACKEND");
    const std::string text = chosen == nullptr ? "openmp" : chosen;
    const auto slash = text.find('/');
    const std::string sync = slash == std::string::npos ? "per_operation" : text.substr(slash + 1);
    BackendOptions options{.device = device};
    if (sync == "lazy")
        options.sync = GpuSync::lazy;
    else if (sync == "graphs")
        options.sync = GpuSync::graphs;
    else if (sync != "per_operation")
        throw std::invalid_argument("KEEL_TEST_BACKEND: unknown gpu_sync " + sync);
    const std::string name = text.substr(0, slash);
    if (const std::string reason = why_unusable(name); !reason.empty()) {
        std::fprintf(stderr, "skipped: %s: %s\n", name.c_str(), reason.c_str());
        std::exit(77);
    }
    return make_backend(name, options);
}

// A copy of a field on the host, ghosts included.
class HostField {
  public:
    HostField(const Operations& operations, Field u)
        : ghosts_(operations.layout().layers(u.shape().ghosts)),
          span_(operations.layout().extent() + 2 * ghosts_),
          values_(operations.read(u, {-ghosts_, span_})) {}

    double operator()(int q, int i, int j, int k) const { return values_[place(q, {i, j, k})]; }
    double& operator()(int q, int i, int j, int k) { return values_[place(q, {i, j, k})]; }

  private:
    std::size_t place(int q, const Index& at) const {
        const auto [x, y, z] = at + ghosts_;
        return static_cast<std::size_t>(((q * span_[2] + z) * span_[1] + y) * span_[0] + x);
    }

    Index ghosts_;
    Index span_;
    std::vector<double> values_;
};

}  // namespace keel::test
