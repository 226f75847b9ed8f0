// Algebraic multigrid on the bottom level: the matrix is the level's operator, solutions are those of other
// bottoms wherever the level is, coefficients change, and what cannot be set up has a name.

#include <catch2/catch.hpp>

#include "solvers/multigrid/algebraic/algebraic_cycle.hpp"
#include "solvers/multigrid/algebraic/level_home.hpp"
#include "solvers/multigrid/algebraic/level_matrix.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

Problem rough_in(const Boundaries& boundaries, double a = 0.9, int dimensions = 3) {
    Problem problem{.boxes = dimensions == 2 ? Index{4, 2, 1} : Index{2, 2, 2},
                    .width = 8,
                    .boundaries = boundaries,
                    .a = a,
                    .beta = dimensions == 2 ? "const" : "var",
                    .exactly_periodic = true};
    problem.dimensions = dimensions;
    return problem;
}

BottomOptions by_cycles() {
    BottomOptions options;
    options.solver = "amg";
    return options;
}

BottomOptions by_preconditioned(const std::string& solver) {
    BottomOptions options;
    options.solver = solver;
    options.scaling = Scaling::none;
    options.preconditioner = PreconditionerKind::amg;
    return options;
}

// Allows 6 rows on the coarsest level: several levels are above it.
MultigridOptions with_levels(int bottom_box) {
    MultigridOptions options;
    options.bottom_box = bottom_box;
    options.amg.max_coarse = 6;
    return options;
}

}  // namespace

TEST_CASE("the rows of a level are its operator, and its vectors travel there and back") {
    for (const Boundaries& boundaries : {periodic, dirichlet, neumann, mixed})
        for (const int dimensions : {2, 3})
            for (const Storage storage : {Storage::boxes, Storage::blocks}) {
                const Problem problem = rough_in(boundaries, 0.9, dimensions);
                HierarchyOptions options{.bottom_box = 8};
                options.storage = storage;
                Setup setup(problem, options);
                Level& level = setup.finest();
                REQUIRE(level.home);
                const RowPartition partition = rows_of_ranks(level.layout);
                CHECK(partition.ranks == setup.comm.size());
                SparseMatrix A(setup.comm, setup.topology, *setup.backend, partition, rows_of_level(level),
                               level.home->sparse, setup.ledger);
                std::vector<double> diagonal =
                    level.plain->read(level.L.inverse_diagonal, level.layout.box_cells());
                for (double& value : diagonal) value = 1 / value;
                CHECK(A.diagonal() == diagonal);

                LevelVectors vectors(level);
                vectors.bind(A.operations());
                const Field x = A.make_vector();
                const Field y = A.make_vector();
                vectors.from_grid(x, level.f);
                A.apply(std::span(&y, 1), A.plain(), std::span(&x, 1));
                vectors.to_grid(level.u, y);
                const std::vector<double> by_matrix = level.plain->read(level.u, level.layout.box_cells());
                level.ghosts->run(level.f);
                level.plain->apply(level.r, level.L, level.f);
                const std::vector<double> by_grid = level.plain->read(level.r, level.layout.box_cells());
                double worst = 0;
                for (std::size_t n = 0; n < by_grid.size(); ++n)
                    worst = std::max(worst, std::abs(by_matrix[n] - by_grid[n]));
                CHECK(worst <= 1e-14 * *std::ranges::max_element(diagonal));
            }
}

TEST_CASE(
    "algebraic multigrid on the bottom leads to the solution of other bottoms, wherever that level is") {
    for (const Boundaries& boundaries : {periodic, dirichlet, neumann})
        for (const double a : {0.9, 0.0})
            for (const int place : {BottomRanks::owners, BottomRanks::one, BottomRanks::all}) {
                const Problem problem = rough_in(boundaries, a);
                const MultigridOptions multigrid = with_levels(4);
                const auto solved = [&](const BottomOptions& bottom) {
                    Setup setup(problem, {.bottom_box = 4, .bottom_grid = place});
                    const SolveReport report = Multigrid(setup.hierarchy, multigrid, bottom).solve();
                    CHECK(report.converged());
                    for (const auto& visit : report.visits) {
                        if (visit.outcome == Outcome::on_other_ranks) continue;
                        CHECK(visit.outcome == Outcome::converged);
                        CHECK(visit.true_residual <= bottom.tolerance);
                        CHECK(visit.iterations <= 20);
                        CHECK(visit.counts.applications >= visit.iterations);
                    }
                    Whole u = setup.gather(setup.finest().u);
                    const double mean_of_u = problem.singular() ? mean(u) : 0.0;
                    for (double& value : u.values) value -= mean_of_u;
                    return u;
                };
                CAPTURE(name(boundaries[0].low), a, place);
                BottomOptions tight;
                tight.max_iterations = 1000;
                Setup setup(problem, {.bottom_box = 4});
                REQUIRE(Multigrid(setup.hierarchy, multigrid, tight).solve().converged());
                Whole reference = setup.gather(setup.finest().u);
                const double mean_of_u = problem.singular() ? mean(reference) : 0.0;
                for (double& value : reference.values) value -= mean_of_u;
                for (const BottomOptions& bottom : {by_cycles(), by_preconditioned("cg")}) {
                    const Whole u = solved(bottom);
                    double difference = 0;
                    for (std::size_t n = 0; n < u.values.size(); ++n)
                        difference = std::max(difference, std::abs(u.values[n] - reference.values[n]));
                    CHECK(setup.agreed(difference) <= 1e-8 * setup.agreed(max_norm(reference)));
                }
            }
}

TEST_CASE("algebraic multigrid solves an F-cycle's bottom, a merged one and planes") {
    {
        MultigridOptions options = with_levels(2);
        options.cycle = Cycle::f;
        Setup setup(rough_in(dirichlet), {.bottom_box = 2, .all_ghosts = true});
        CHECK(Multigrid(setup.hierarchy, options, by_cycles()).solve().converged());
    }
    {
        MultigridOptions options = with_levels(4);
        options.agglomerate = 1;
        Setup setup(rough_in(periodic), {.bottom_box = 4, .agglomerate = 1});
        CHECK(Multigrid(setup.hierarchy, options, by_preconditioned("bicgstab")).solve().converged());
    }
    for (const double a : {0.9, 0.0}) {
        Setup setup(rough_in(neumann, a, 2), {.bottom_box = 4});
        CHECK(Multigrid(setup.hierarchy, with_levels(4), by_cycles()).solve().converged());
    }
}

TEST_CASE("with other coefficients algebraic multigrid is set up again") {
    const Problem before = rough_in(dirichlet);
    Problem after = before;
    after.beta = "ball100";
    const auto iterations = [](const SolveReport& report) {
        std::vector<int> all;
        for (const auto& visit : report.visits) all.push_back(visit.iterations);
        return all;
    };
    for (const int place : {BottomRanks::owners, BottomRanks::one}) {
        const HierarchyOptions options{.bottom_box = 4, .bottom_grid = place};
        Setup changed(before, options);
        Multigrid multigrid(changed.hierarchy, with_levels(4), by_cycles());
        CHECK(multigrid.solve().converged());
        changed.hierarchy.update(after.formulas(), changed.comm);
        multigrid.update();
        changed.set_f([&](const Index& cell) { return after.f(cell); });
        Setup fresh(after, options);
        const SolveReport of_fresh = Multigrid(fresh.hierarchy, with_levels(4), by_cycles()).solve();
        const SolveReport of_changed = multigrid.solve();
        CHECK(of_changed.converged());
        CHECK(iterations(of_changed) == iterations(of_fresh));
        CHECK(of_changed.residuals == of_fresh.residuals);
    }
}

TEST_CASE("a bottom that algebraic multigrid cannot be set up for is a breakdown with a name") {
    Setup setup(rough_in(dirichlet), {.bottom_box = 4});
    MultigridOptions options = with_levels(4);
    options.amg.max_coarse = 512;
    options.amg.max_dense = 100;
    Multigrid bottom(setup.hierarchy, options, by_cycles());
    const Report visit = bottom.solve_bottom();
    CHECK(visit.outcome == Outcome::breakdown);
    CHECK(visit.vanished.find("whose 512 rows are too many to factorise") != std::string::npos);
    CHECK_FALSE(visit.met);
}
