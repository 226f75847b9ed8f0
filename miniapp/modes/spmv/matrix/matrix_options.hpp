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

// The keys of [problem] and [run] that only run.mode = spmv knows.
struct MatrixOptions {
    std::string matrix = "stencil7";  // or another generator, or a file's path
    std::int64_t rows = 100000;       // generators but stencil7 and stencil27
    int row_entries = 8;
    Ordering ordering = Ordering::natural;
    bool solve = false;
};

// The word of problem.matrix for the operator of the finest level of a problem on grids.
inline constexpr const char* grid_matrix = "grid";
struct GridOperator {
    ProblemOptions problem;
    Domain domain;
};

// The choice of a matrix, whatever its source.
struct MatrixChoice {
    MatrixOptions options;
    Index cells{};                       // a stencil's grid
    std::optional<GridOperator> grid{};  // only of problem.matrix = grid
    std::uint64_t seed = 1;              // for the matrix random and the random ordering
};

}  // namespace keel
