// Against a direct solve: the operator as a dense matrix, assembled from the formulas, factored by Eigen.

#include <Eigen/Dense>
#include <catch2/catch.hpp>

#include "solvers/multigrid/multigrid.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

Eigen::MatrixXd dense_operator(const Problem& problem) {
    const Index n = problem.cells();
    const auto size = static_cast<Eigen::Index>(product(n));
    Eigen::MatrixXd A(size, size);
    Whole unit{n, std::vector<double>(product(n))};
    const Whole zero = unit;
    for (Eigen::Index column = 0; column < size; ++column) {
        unit.values[static_cast<std::size_t>(column)] = 1;
        const Whole minus_column = residual_by_formula(problem, unit, zero);
        unit.values[static_cast<std::size_t>(column)] = 0;
        A.col(column) = -Eigen::Map<const Eigen::VectorXd>(minus_column.values.data(), size);
    }
    return A;
}

}  // namespace

TEST_CASE("multigrid finds the solution of the dense matrix") {
    const auto boundaries = GENERATE(periodic, dirichlet, neumann, mixed);
    const auto* const beta = GENERATE("const", "smooth100", "ball10");
    const Problem problem{.boxes = {2, 2, 2},
                          .width = 4,
                          .boundaries = boundaries,
                          .a = 0.7,
                          .b = 1.3,
                          .beta = beta,
                          .alpha = "wave"};
    CAPTURE(beta, static_cast<int>(boundaries[0]));

    Setup setup(problem, {.bottom_box = 2});
    const MultigridOptions options{.bottom_box = 2, .tolerance = 1e-12, .max_cycles = 100};
    Multigrid multigrid(setup.hierarchy, options, {});
    REQUIRE(multigrid.solve().converged);

    const Whole u = setup.gather(setup.finest().u);
    const Whole f = setup.gather(setup.finest().f);
    if (setup.comm.rank() != 0) return;
    const Eigen::MatrixXd A = dense_operator(problem);
    CHECK((A - A.transpose()).norm() < 1e-12 * A.norm());
    const auto size = static_cast<Eigen::Index>(u.values.size());
    const Eigen::VectorXd exact =
        A.partialPivLu().solve(Eigen::Map<const Eigen::VectorXd>(f.values.data(), size));
    CHECK((Eigen::Map<const Eigen::VectorXd>(u.values.data(), size) - exact).norm() < 1e-9 * exact.norm());
}
