#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "kernels/layout/domain.hpp"
#include "kernels/names.hpp"
#include "miniapp/deck/parameters.hpp"

namespace keel {

// The order of a matrix' rows.
enum class Ordering { natural, random, rcm };
constexpr auto names_of(Ordering) {
    using Name = Named<Ordering>;
    return std::array{Name{Ordering::natural, "natural"}, Name{Ordering::random, "random"},
                      Name{Ordering::rcm, "rcm"}};
}

// What algebraic multigrid does in solves.
enum class AmgUse { none, preconditioner, solver };
constexpr auto names_of(AmgUse) {
    using Name = Named<AmgUse>;
    return std::array{Name{AmgUse::none, "none"}, Name{AmgUse::preconditioner, "preconditioner"},
                      Name{AmgUse::solver, "solver"}};
}

// The keys of [problem] and [run] that only run.mode = spmv knows.
struct MatrixOptions {
    std::string matrix = "stencil7";  // or another generator, or a file's path
    std::int64_t rows = 100000;       // generators but stencil7 and stencil27
    int row_entries = 8;
    double epsilon = 0.001;              // of rotated: conductivity across over that along
    double angle = 0.39269908169872414;  // pi/8
    Ordering ordering = Ordering::natural;
    bool solve = false;
    AmgUse amg = AmgUse::none;
};

// The word of problem.matrix for the operator of the finest level of a problem on grids.
inline constexpr const char* grid_matrix = "grid";
struct GridOperator {
    ProblemOptions problem;
    Domain domain;
};

// Which matrix, whatever its source.
struct MatrixChoice {
    MatrixOptions options;
    Index cells{};                       // of a stencil's grid
    std::optional<GridOperator> grid{};  // of the matrix grid
    std::uint64_t seed = 1;              // of the matrix random and of the random ordering
};

}  // namespace keel
