#include "solvers/krylov/sparse_krylov.hpp"

#include "solvers/krylov/methods.hpp"
#include "solvers/krylov/stationary/spectrum_estimate.hpp"
#include "solvers/systems/sparse/sparse_system.hpp"

namespace keel {
namespace {

class SparseKrylov : public KrylovSolver {
  public:
    SparseKrylov(SparseMatrix& matrix, const Communicator& comm, const BottomOptions& options)
        : stop_{options.tolerance, options.max_iterations, options.max_restarts},
          system_(matrix, scaling_of(options), static_cast<std::size_t>(vectors_at_once(options))),
          spectrum_(chosen_spectrum(options, matrix.spectrum(comm, scaling_of(options)))),
          solver_(system_, make_method(options, system_, spectrum_),
                  make_estimate(system_, nullptr, options)),
          y_(system_.make_vector()),
          b_(system_.make_vector()) {}

    void update() override {}  // a matrix stays as it is

    Report solve(Field u, Field f) override {
        system_.scale_right_side(b_, f);
        Report report = solver_.solve(y_, b_, stop_);
        system_.unscale_solution(u, y_);
        if (!report.spectrum) report.spectrum = spectrum_;
        return report;
    }

  private:
    Stop stop_;
    SparseSystem system_;
    Spectrum spectrum_;
    Solver solver_;
    Field y_, b_;
};

}  // namespace

std::unique_ptr<KrylovSolver> make_krylov(SparseMatrix& matrix, const Communicator& comm,
                                          const BottomOptions& options) {
    return std::make_unique<SparseKrylov>(matrix, comm, options);
}

int krylov_vectors(const BottomOptions& options) {
    const Method& method = method_named(options.solver);
    // y, b, the residual and the best iterate.
    const int of_solver = 4 + (estimates(options) ? SpectrumEstimate::vectors(false) : 0);
    return static_cast<int>(method.vectors.of(options)) + of_solver +
           SparseSystem::fields(scaling_of(options)) + (method.reads("splitting") ? options.block : 0);
}

}  // namespace keel
