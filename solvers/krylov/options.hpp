#pragma once

// The choices a user makes about a Krylov method. Keys of [bottom] have these defaults, but for `solver`.

#include <string>

#include "kernels/names.hpp"
#include "solvers/systems/splitting.hpp"

namespace keel {

enum class Scaling { jacobi, none };
constexpr auto names_of(Scaling) {
    return std::array{"jacobi", "none"};
}

// Polynomial bases of Krylov spaces (s_step/basis.hpp).
enum class Basis { monomial, newton, chebyshev };
constexpr auto names_of(Basis) {
    return std::array{"monomial", "newton", "chebyshev"};
}

// In which s-step methods form their Gram matrices and compute in coordinates.
enum class GramPrecision { simple, twofold };
constexpr auto names_of(GramPrecision) {
    return std::array{"double", "double_double"};
}

// The exchanges of s-step methods: for both bases at once, for one after the other, or for several powers;
// fused, these powers are also computed in one pass over memory, not in one each.
enum class Powers { paired, sequential, matrix_powers, fused_matrix_powers };
constexpr auto names_of(Powers) {
    return std::array{"paired", "sequential", "matrix_powers", "fused_matrix_powers"};
}
constexpr bool exchanges_for_several(Powers powers) {
    return powers == Powers::matrix_powers || powers == Powers::fused_matrix_powers;
}

// How s_step_cg solves the small systems of its blocks (s_step/small_system.hpp).
enum class SmallSystemBy { cholesky, gauss_seidel };
constexpr auto names_of(SmallSystemBy) {
    return std::array{"cholesky", "gauss_seidel"};
}

// The forms of Arnoldi's relation, by their way to make a vector orthogonal (gmres/forms.cpp): Gram-Schmidt
// modified, classical twice, in inverse compact WY form, and classical twice with a delay.
enum class Orthogonalisation { mgs, cgs2, icwy, delayed };
constexpr auto names_of(Orthogonalisation) {
    return std::array{"mgs", "cgs2", "icwy", "delayed"};
}

// The norm that a method tests: |r|; with a preconditioner also sqrt(r . M r), which it minimises and knows
// anyway; without one max|r|, as Williams et al. 2014 at their bottom.
enum class Norm { residual, natural, max };
constexpr auto names_of(Norm) {
    return std::array{"residual", "natural", "max"};
}

// Preconditioners: a cycle of algebraic multigrid of the bottom grid or of a matrix; of a whole problem on
// grids a V-cycle, or incomplete Cholesky factorisations of the blocks of the operator that the boxes are.
enum class PreconditionerKind { none, amg, v_cycle, block_ic0 };
constexpr auto names_of(PreconditionerKind) {
    return std::array{"none", "amg", "v_cycle", "block_ic0"};
}

// The source of the interval of eigenvalues that a method has its polynomials for: bounds of the operator's
// rows, or [0, 2] with a preconditioner; the extreme Ritz values of some steps of CG; or the user.
enum class SpectrumFrom { automatic, estimate, given };
constexpr auto names_of(SpectrumFrom) {
    return std::array{"auto", "estimate", "interval"};
}

// The first of methods().
std::string default_method();

struct BottomOptions {
    std::string solver = default_method();
    double tolerance = 1e-3;  // reduction of the 2-norm of the bottom residual
    int max_iterations = 200;
    Scaling scaling = Scaling::jacobi;
    PreconditionerKind preconditioner = PreconditionerKind::none;
    int max_restarts = 8;        // under the verify-and-restart rule
    int sweeps = 24;             // relaxation's
    int assumed_iterations = 0;  // of a predicted solve, in all visits; 0: a proxy solve counts them
    // --- Pipelined methods
    int depth = 2;           // all-reduces in flight at a time
    int replace_every = 50;  // iterations between residual replacements; 0 = never; no key of a deck
    // --- Methods with polynomials of an interval, preconditioned methods
    SpectrumFrom spectrum = SpectrumFrom::automatic;
    double spectrum_lowest = 0.0;
    double spectrum_highest = 2.0;
    Norm norm = Norm::residual;
    // --- s-step methods
    int s = 4;  // iterations per all-reduce
    Basis basis = Basis::monomial;
    bool telescoping = true;  // s = 1, 2, 4, ... up to s
    Powers powers = Powers::paired;
    GramPrecision gram_precision = GramPrecision::simple;
    SmallSystemBy small_system = SmallSystemBy::cholesky;
    int powers_depth = 0;  // ghost layers for matrix_powers; 0 = one for each power
    // --- Enlarged methods
    int block = 4;  // columns of the block vectors
    Splitting splitting = Splitting::boxes;
    // --- GMRES
    int restart = 30;  // iterations between restarts
    Orthogonalisation orthogonalisation = Orthogonalisation::delayed;
};

}  // namespace keel
