#pragma once

// The choices a user makes about a Krylov method, whose keys are those of [bottom]. Defaults are the deck's
// defaults.

#include <string>

#include "kernels/names.hpp"
#include "solvers/systems/splitting.hpp"

namespace keel {

enum class Scaling { jacobi, none };
constexpr auto names_of(Scaling) {
    return std::array{Named<Scaling>{Scaling::jacobi, "jacobi"}, Named<Scaling>{Scaling::none, "none"}};
}

// Polynomial bases of Krylov spaces (s_step/basis.hpp).
enum class Basis { monomial, newton, chebyshev };
constexpr auto names_of(Basis) {
    return std::array{Named<Basis>{Basis::monomial, "monomial"}, Named<Basis>{Basis::newton, "newton"},
                      Named<Basis>{Basis::chebyshev, "chebyshev"}};
}

// In which s-step methods form their Gram matrices and compute in coordinates.
enum class GramPrecision { simple, twofold };
constexpr auto names_of(GramPrecision) {
    return std::array{Named<GramPrecision>{GramPrecision::simple, "double"},
                      Named<GramPrecision>{GramPrecision::twofold, "double_double"}};
}

// The exchanges of s-step methods: for both bases at once, for one after the other, or for several powers.
enum class Powers { paired, sequential, matrix_powers };
constexpr auto names_of(Powers) {
    return std::array{Named<Powers>{Powers::paired, "paired"},
                      Named<Powers>{Powers::sequential, "sequential"},
                      Named<Powers>{Powers::matrix_powers, "matrix_powers"}};
}

// Passes over memory of matrix powers: one for each power, or one for all between two exchanges.
enum class PowersPasses { plain, fused };
constexpr auto names_of(PowersPasses) {
    return std::array{Named<PowersPasses>{PowersPasses::plain, "plain"},
                      Named<PowersPasses>{PowersPasses::fused, "fused"}};
}

enum class Enlarged { orthodir, orthomin };
constexpr auto names_of(Enlarged) {
    return std::array{Named<Enlarged>{Enlarged::orthodir, "orthodir"},
                      Named<Enlarged>{Enlarged::orthomin, "orthomin"}};
}

// The norm that a preconditioned method tests: |r|, or sqrt(r . M r), which it minimises and knows anyway.
enum class Norm { residual, natural };
constexpr auto names_of(Norm) {
    return std::array{Named<Norm>{Norm::residual, "residual"}, Named<Norm>{Norm::natural, "natural"}};
}

// The preconditioner of a method on the bottom grid: none, or a cycle of algebraic multigrid.
enum class BottomPreconditioner { none, amg };
constexpr auto names_of(BottomPreconditioner) {
    return std::array{Named<BottomPreconditioner>{BottomPreconditioner::none, "none"},
                      Named<BottomPreconditioner>{BottomPreconditioner::amg, "amg"}};
}

// The source of the interval of eigenvalues that a method has its polynomials for: bounds of the operator's
// rows, or [0, 2] with a preconditioner; the extreme Ritz values of some steps of CG; or the user.
enum class SpectrumFrom { automatic, estimate, given };
constexpr auto names_of(SpectrumFrom) {
    return std::array{Named<SpectrumFrom>{SpectrumFrom::automatic, "auto"},
                      Named<SpectrumFrom>{SpectrumFrom::estimate, "estimate"},
                      Named<SpectrumFrom>{SpectrumFrom::given, "interval"}};
}

// The first of methods().
std::string default_method();

struct BottomOptions {
    std::string solver = default_method();
    double tolerance = 1e-3;  // reduction of the 2-norm of the bottom residual
    int max_iterations = 200;
    Scaling scaling = Scaling::jacobi;
    BottomPreconditioner preconditioner = BottomPreconditioner::none;
    int max_restarts = 8;      // under the verify-and-restart rule
    int sweeps = 24;           // relaxation's
    int given_iterations = 0;  // of a predicted solve, in all visits; 0: it is rehearsed for them
    // --- Pipelined methods
    int depth = 2;           // all-reduces in flight at a time
    int replace_every = 50;  // iterations between residual replacements; 0 = never
    // --- Methods with polynomials of an interval, preconditioned methods
    SpectrumFrom spectrum = SpectrumFrom::automatic;
    int spectrum_steps = 10;  // of CG, for the estimate
    double spectrum_lowest = 0.0;
    double spectrum_highest = 2.0;
    Norm norm = Norm::residual;
    // --- s-step methods
    int s = 4;  // iterations per all-reduce
    Basis basis = Basis::monomial;
    bool telescoping = true;  // s = 1, 2, 4, ... up to s
    Powers powers = Powers::paired;
    GramPrecision gram_precision = GramPrecision::simple;
    int powers_depth = 0;  // ghost layers for matrix_powers; 0 = as many as there are powers
    PowersPasses powers_passes = PowersPasses::plain;  // of matrix_powers
    // --- Enlarged methods
    int block = 4;  // columns of the block vectors
    Splitting splitting = Splitting::boxes;
    Enlarged variant = Enlarged::orthodir;
};

}  // namespace keel
