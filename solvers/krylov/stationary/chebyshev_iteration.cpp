#include "solvers/krylov/stationary/chebyshev_iteration.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

class ChebyshevIteration : public MethodOfSystem {
  public:
    explicit ChebyshevIteration(const MethodSetup& setup) : MethodOfSystem(setup), spectrum(setup.spectrum) {}

    void adopt(const Spectrum& bounds) override { spectrum = bounds; }

    Outcome iterate(const Run& run, Report& report) override {
        return krylov::chebyshev(A, run, report, spectrum.lowest, spectrum.highest, d, Ad);
    }

  private:
    Spectrum spectrum;
    Vector d = vector(), Ad = vector();
};

}  // namespace

Method chebyshev_iteration() {
    return {
        .name = "chebyshev",
        .source = "Golub and Varga 1961; Saad, Alg. 12.1",
        .use =
            "no all-reduce but the verification's; bottoms of 4^3 to 8^3 cells whose lowest eigenvalue is "
            "known",
        .scaling = DiagonalScaling::symmetric,
        .exchanges = 1,
        .reductions = 0,
        .words = 0,
        .vectors = 2,
        .applications = 1,
        .flops = 9,
        .keys = {"spectrum"},
        .launched = LaunchedMethod::chebyshev,
        .make = made<ChebyshevIteration>,
    };
}

}  // namespace keel
