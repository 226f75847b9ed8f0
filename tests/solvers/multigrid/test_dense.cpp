// Against a direct solve: the operator as a dense matrix, assembled from the formulas, factored by Eigen.

#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <vector>

#include "solvers/multigrid/multigrid.hpp"
#include "tests/solvers/direct_solve.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

Columns dense_operator(const Problem& problem) {
    const Index n = problem.cells();
    Whole unit{n, std::vector<double>(product(n))};
    Columns A;
    for_each_index(n, [&](const Index& cell) {
        Whole column{n, std::vector<double>(product(n))};
        unit(cell) = 1;
        column(cell) = product_by_formula(problem, unit, cell);
        for (std::size_t d = 0; d < problem.directions(); ++d)
            for (const int side : {-1, 1}) {
                Index neighbour = cell;
                neighbour[d] = (neighbour[d] + side + n[d]) % n[d];
                column(neighbour) = product_by_formula(problem, unit, neighbour);
            }
        unit(cell) = 0;
        A.push_back(column.values);
    });
    return A;
}

double norm(const std::vector<double>& x) {
    double sum = 0;
    for (const double value : x) sum += value * value;
    return std::sqrt(sum);
}

double distance(const std::vector<double>& x, const std::vector<double>& y) {
    std::vector<double> difference(x);
    for (std::size_t i = 0; i < x.size(); ++i) difference[i] -= y[i];
    return norm(difference);
}

}  // namespace

TEST_CASE("multigrid finds the solution of the dense matrix") {
    const auto boundaries = GENERATE(periodic, dirichlet, neumann, mixed);
    const auto* const beta = GENERATE("const", "smooth100", "ball10");
    const int dimensions = GENERATE(2, 3);
    const Problem problem{.boxes = dimensions == 2 ? Index{4, 2, 1} : Index{2, 2, 2},
                          .width = dimensions == 2 ? 8 : 4,
                          .boundaries = boundaries,
                          .a = 0.7,
                          .b = 1.3,
                          .beta = beta,
                          .alpha = "wave",
                          .dimensions = dimensions};
    CAPTURE(dimensions, beta, name(boundaries[0].low));

    Setup setup(problem, {.bottom_box = 2});
    const MultigridOptions options{.bottom_box = 2, .tolerance = 1e-12, .max_cycles = 100};
    Multigrid multigrid(setup.hierarchy, options, {});
    REQUIRE(multigrid.solve().converged());

    const Whole u = setup.gather(setup.finest().u);
    const Whole f = setup.gather(setup.finest().f);
    if (setup.comm.rank() != 0) return;
    const Columns A = dense_operator(problem);
    for (std::size_t i = 0; i < A.size(); ++i) {  // symmetric, by rows
        std::vector<double> row;
        for (const std::vector<double>& column : A) row.push_back(column[i]);
        CHECK(distance(row, A[i]) < 1e-12 * norm(A[i]));
    }
    const std::vector<double> exact = direct_solve(A, f.values);
    CHECK(distance(u.values, exact) < 1e-9 * norm(exact));
}
