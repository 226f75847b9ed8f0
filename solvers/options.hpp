#pragma once

// The choices a user makes about the multigrid cycle and its bottom solve. Defaults are the deck's defaults.

#include <string>

namespace keel {

enum class Cycle { v, f };
enum class Smoother { gsrb, jacobi, chebyshev };
enum class Interpolation { constant, linear };
// On which ranks the bottom grid is while its solver works on it: on those of its boxes, on fewer, on one, or on every rank
// the whole of it.
enum class BottomPlace { distributed, agglomerate, gather, replicate };
enum class Scaling { jacobi, none };
enum class Basis { monomial, newton, chebyshev };
enum class Powers { paired, sequential, matrix_powers };
enum class Splitting { boxes, interleaved, slabs };
enum class Enlarged { orthodir, orthomin };

struct MultigridOptions {
    Cycle cycle = Cycle::v;
    int pre = 2;   // smoothing sweeps before the coarse-grid correction
    int post = 2;  // and after it
    Smoother smoother = Smoother::gsrb;
    Interpolation interpolation = Interpolation::constant;
    int bottom_box = 4;  // stop coarsening at this box width
    BottomPlace bottom_grid = BottomPlace::distributed;
    int bottom_ranks = 0;      // of agglomerate; 0: one rank in eight
    double tolerance = 1e-10;  // on max|f - L u| / max|f|
    int max_cycles = 40;
    double jacobi_weight = 2.0 / 3.0;
    double chebyshev_ratio = 8.0;  // the polynomial damps [bound / ratio, bound] of D^-1 A
    // No key: smooth in reverse order after the correction, and palindromically at the bottom.
    bool symmetric = false;
};

struct BottomOptions {
    std::string solver = "bicgstab";
    double tolerance = 1e-3;  // reduction of the 2-norm of the bottom residual
    int max_iterations = 200;
    Scaling scaling = Scaling::jacobi;
    int max_restarts = 8;  // of the verify-and-restart rule
    int sweeps = 24;       // of the solver "smooth"
    // --- of the pipelined methods
    int depth = 2;           // all-reduces on their way at a time
    int replace_every = 50;  // iterations between residual replacements; 0 = never
    // --- of the s-step methods
    int s = 4;  // iterations per all-reduce
    Basis basis = Basis::monomial;
    bool telescoping = true;  // s = 1, 2, 4, ... up to s
    Powers powers =
        Powers::paired;    // exchanges for both bases at once, one after the other, or for several powers
    int powers_depth = 0;  // of matrix_powers, ghost layers; 0 = as many as there are powers
    // --- of the enlarged methods
    int block = 4;  // columns of the block vectors
    Splitting splitting = Splitting::boxes;
    Enlarged variant = Enlarged::orthodir;
};

}  // namespace keel
