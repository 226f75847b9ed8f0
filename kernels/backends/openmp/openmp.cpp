#include <omp.h>

#include <functional>
#include <memory>
#include <string>

#include "kernels/backends/openmp/operations_in_one_pass.hpp"
#include "kernels/backends/openmp/verbs.hpp"
#include "kernels/backends/registry.hpp"
#include "kernels/backends/threads.hpp"

namespace keel {

// Operations of multigrid cycles in single precision (cycles.cpp).
std::unique_ptr<Operations> make_openmp_cycle_operations(const Layout& layout, int ghosts,
                                                         const Arrangement& arrangement, Precision faces);

namespace {

class OpenMPBackend : public Backend {
  public:
    // All regions get as many threads as this one has: OMP_THREAD_LIMIT may leave fewer than OMP_NUM_THREADS
    // asks for, and with OMP_DYNAMIC the number may vary.
    OpenMPBackend() {
        omp_set_dynamic(0);
        omp_set_num_threads(on_every_thread([](int) {}));
    }
    std::string name() const override { return "openmp"; }
    std::string description() const override {
        return "OpenMP, " + std::to_string(threads()) + (threads() == 1 ? " thread" : " threads") +
               " per rank";
    }
    int threads() const override { return omp_get_max_threads(); }
    std::unique_ptr<Operations> make_operations(const Layout& layout, int ghosts,
                                                Storage storage) const override {
        return std::make_unique<OperationsInOnePass<OpenMP<double>>>(layout, ghosts,
                                                                     arrange(layout, storage, threads()));
    }
    std::unique_ptr<Operations> make_cycle_operations(const Layout& layout, int ghosts, Storage storage,
                                                      Precision faces) const override {
        return make_openmp_cycle_operations(layout, ghosts, arrange(layout, storage, threads()), faces);
    }
};

}  // namespace

int on_every_thread(const std::function<void(int)>& task) {
    int threads = 1;
#pragma omp parallel
    {
#pragma omp single
        threads = omp_get_num_threads();
        task(omp_get_thread_num());
    }
    return threads;
}

void on_all_threads(int count, const std::function<void(int)>& task) {
#pragma omp parallel for schedule(dynamic) if (count > 1)
    for (int n = 0; n < count; ++n) task(n);
}

void use_threads(int threads) {
    omp_set_num_threads(threads);
}

std::unique_ptr<Backend> make_openmp_backend(const BackendOptions&) {
    return std::make_unique<OpenMPBackend>();
}

}  // namespace keel
