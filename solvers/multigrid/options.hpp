#pragma once

// The choices a user makes about the multigrid cycle. Defaults are the deck's defaults.

#include <cstdint>
#include <string>

#include "kernels/bodies/transfer.hpp"
#include "kernels/names.hpp"
#include "solvers/amg/options.hpp"

namespace keel {

enum class Cycle { v, f };
constexpr auto names_of(Cycle) {
    return std::array{"V", "F"};
}

constexpr auto names_of(Interpolation) {
    return std::array{"constant", "linear"};
}

// The method that takes cycles as its preconditioner: none, they are the iteration; or flexible conjugate
// gradients.
enum class Accelerator { none, cg };
constexpr auto names_of(Accelerator) {
    return std::array{"none", "cg"};
}

// Values of bottom_grid, the number of ranks that have the bottom grid while its solver works on it, with a
// name: the ranks that own its boxes, one rank in eight, every rank with a copy, or a single rank.
struct BottomRanks {
    static constexpr int owners = 0;
    static constexpr int one_in_eight = -1;
    static constexpr int all = -2;
    static constexpr int one = 1;
};

// The ghosts that messages bring to operations that read those of one colour: all of them, or these alone.
enum class GhostColours { both, needed };
constexpr auto names_of(GhostColours) {
    return std::array{"both", "needed"};
}

// The precision that cycles compute in: double as all else; or single, several for each residual and update
// of the solution in double precision, with faces in single precision or in 16 bits.
enum class CyclePrecision { doubled, mixed, mixed_half };
constexpr auto names_of(CyclePrecision) {
    return std::array{"double", "mixed", "mixed_half"};
}

// The first of smoothers().
std::string default_smoother();

struct MultigridOptions {
    AmgOptions amg = {};  // for a bottom solver that asks for it
    Cycle cycle = Cycle::v;
    Accelerator accelerator = Accelerator::none;
    int pre = 2;                                // smoothing sweeps before the coarse-grid correction
    int post = 2;                               // and after it
    std::string smoother = default_smoother();  // the name of one of smoothers()
    // No half sweeps are fused, boxes lie apart, and messages carry both colours, unless other options say
    // otherwise. Read by the code that fills HierarchyOptions.
    bool reference_path = false;
    int fused_box = 0;          // narrowest boxes whose half sweeps are one pass; 0: the backend's default
    int fused_half_sweeps = 0;  // most half sweeps in one pass; 0: all before or after a correction
    GhostColours ghost_colours = GhostColours::needed;
    CyclePrecision precision = CyclePrecision::doubled;
    Interpolation interpolation = Interpolation::constant;
    int bottom_box = 4;                     // stop coarsening at this box width
    std::int64_t agglomerate = 0;           // cells per rank below which coarse boxes are merged; 0: never
    int bottom_grid = BottomRanks::owners;  // ranks that have the bottom grid, or one of BottomRanks
    double tolerance = 1e-10;               // on max|f - L u| / max|f|
    int max_cycles = 40;
    double relaxation = 1.0;  // in Gauss-Seidel; above 1: over-relaxed
    // No key: smooth in reverse order after the correction, and palindromically at the bottom.
    bool symmetric = false;
};

}  // namespace keel
