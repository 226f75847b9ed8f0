#pragma once

// The rules of the Keel benchmark (docs/benchmark.md): its problems, grids and sizes, and what a run may
// change.

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string_view>
#include <vector>

#include "miniapp/deck/parameters.hpp"

namespace keel::benchmark {

inline constexpr int rules_number = 1;  // another one wherever figures by older rules no longer compare
inline constexpr double benchmark_tolerance = 1e-10;
// Rounding ends solves of the manufactured u at 2.9e-17 n^2 max|f| with n cells along a side (Dirichlet,
// measured to n = 128). With more cells than these the tolerance grows by n^2, too.
inline constexpr double widest_side = 1024;
inline constexpr double share_of_memory = 0.25;
inline constexpr int solves_of_problem = 3;  // the least number of measured ones on each grid

// The problems are solved at the spacing of the full size, and on boxes a half and a quarter as wide.
struct Spacing {
    const char* name;
    int ratio;
    double least_seconds;  // all measured solves together
};
inline constexpr std::array benchmark_grids{Spacing{"h", 1, 60}, Spacing{"2h", 2, 10}, Spacing{"4h", 4, 10}};

struct Case {
    Boundary boundary = Boundary::periodic;
    Rhs rhs = Rhs::manufactured;
};
inline constexpr std::array family{
    Case{Boundary::periodic, Rhs::manufactured}, Case{Boundary::periodic, Rhs::random},
    Case{Boundary::dirichlet, Rhs::manufactured}, Case{Boundary::dirichlet, Rhs::random}};
inline constexpr double problem_count = family.size();

// The keys, or sections, that a run may change, and the name of the change; an empty one counts for no class.
// All other keys are fixed.
struct Freedom {
    std::string_view keys;
    std::string_view what;
};
inline constexpr std::string_view fixed_by_rules = "fixed";
std::span<const Freedom> freedoms();
std::string_view freedom_of(std::string_view key);

// The boxes of a rank.
struct Size {
    int width = 64;
    int boxes = 1;

    // 64, 80, 96, 112, 128, 160, ... cells; beyond the widest box twice as many.
    Size next() const {
        const int step = static_cast<int>(std::bit_floor(static_cast<unsigned>(width))) / 4;
        return width < 1024 ? Size{width + step, boxes} : Size{width, 2 * boxes};
    }
    // From 4 to 7 cells, reached by halving.
    int coarsest() const {
        int box = width;
        while (box > 7) box /= 2;
        return box;
    }
};

// The grids of a run: those of benchmark_grids, and one with a box of 64^3 a rank, by which machines of
// different memory compare, unless these have it.
struct Grid {
    Size size;
    Spacing spacing;

    int width() const { return size.width / spacing.ratio; }
};
inline constexpr int fixed_width = 64;
inline std::vector<Grid> grids_of(const Size& size) {
    std::vector<Grid> grids;
    for (const Spacing& spacing : benchmark_grids) grids.push_back({size, spacing});
    if (std::ranges::find(grids, fixed_width, &Grid::width) == grids.end())
        grids.push_back({Size{fixed_width}, Spacing{"64", 1, 10}});
    return grids;
}

}  // namespace keel::benchmark
