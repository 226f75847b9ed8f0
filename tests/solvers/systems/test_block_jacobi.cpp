// Block Jacobi: what M is, by formulas, and what happens where there is none; estimates of the spectrum.

#include <catch2/catch.hpp>

#include "solvers/krylov/methods.hpp"
#include "solvers/krylov/stationary/spectrum_estimate.hpp"
#include "solvers/multigrid/algebraic/level_matrix.hpp"
#include "solvers/multigrid/bottom/level_krylov.hpp"
#include "solvers/systems/grid_system.hpp"
#include "solvers/systems/preconditioners/block_jacobi.hpp"
#include "solvers/systems/sparse/block_ic0.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

const Problem ball_problem{
    .boxes = {3, 2, 1}, .width = 4, .boundaries = mixed, .beta = "ball100", .alpha = "wave"};

BlockJacobi made(Setup& setup) {
    Level& level = setup.finest();
    return {level.operations, *level.reduction, level.L};
}

// -c_f between a cell and its neighbour before it in direction d, where the box has both; else 0.
double below(const Problem& problem, const Index& cell, std::size_t d) {
    return cell[d] % problem.width > 0 ? -problem.face(d, cell) : 0.0;
}
Index step(Index cell, std::size_t d, int by) {
    cell[d] += by;
    return cell;
}
Whole zeros(const Problem& problem) {
    return {problem.cells(), std::vector<double>(product(problem.cells()))};
}

// (E + F) E^-1 (E + F^T) u, E by its recurrence: boxes are walked together, x fastest.
Whole incomplete_times(const Problem& problem, const Whole& u) {
    Whole E = zeros(problem);
    Whole y = zeros(problem);
    for_each_index(problem.cells(), [&](const Index& cell) {
        E(cell) = problem.diagonal(cell);
        for (std::size_t d = 0; d < 3; ++d)
            if (const double f = below(problem, cell, d); f != 0.0) E(cell) -= f * f / E(step(cell, d, -1));
    });
    for_each_index(problem.cells(), [&](const Index& cell) {  // y = E^-1 (E + F^T) u
        y(cell) += u(cell);
        for (std::size_t d = 0; d < 3; ++d)
            if (const double f = below(problem, cell, d); f != 0.0)
                y(step(cell, d, -1)) += f * u(cell) / E(step(cell, d, -1));
    });
    Whole product = zeros(problem);
    for_each_index(problem.cells(), [&](const Index& cell) {
        product(cell) += E(cell) * y(cell);
        for (std::size_t d = 0; d < 3; ++d)
            if (const double f = below(problem, cell, d); f != 0.0) product(cell) += f * y(step(cell, d, -1));
    });
    return product;
}

BottomOptions unscaled(const std::string& solver, Norm norm) {
    return {.solver = solver,
            .tolerance = 1e-9,
            .max_iterations = 500,
            .scaling = Scaling::none,
            .depth = 2,
            .norm = norm};
}

}  // namespace

TEST_CASE("what IC(0) stands for times what block Jacobi makes of r is r") {
    for (const Problem& problem :
         {ball_problem, Problem{.boxes = {2, 2, 2}, .width = 3, .a = 0.0, .beta = "smooth100"}})
        for (const Storage storage : {Storage::boxes, Storage::blocks}) {
            CAPTURE(name(storage), problem.width);
            Setup setup(problem, {.bottom_box = problem.width, .storage = storage});
            Level& level = setup.finest();
            BlockJacobi M = made(setup);
            CHECK(M.vanished().empty());
            CHECK(M.symmetric());
            setup.set(level.f, [](const Index& c) { return std::sin(1.7 * c[0] + 2.3 * c[1] - 3.9 * c[2]); });
            M.apply(level.u, level.f);
            CHECK(M.applications() == 1);
            const Whole z = setup.gather(level.u);
            const Whole r = setup.gather(level.f);
            if (setup.comm.rank() != 0) continue;
            Whole product = incomplete_times(problem, z);
            for (std::size_t n = 0; n < r.values.size(); ++n) product.values[n] -= r.values[n];
            CHECK(max_norm(product) < 1e-13 * max_norm(r));
        }
}

TEST_CASE("a block without a factor is an outcome with a name, and nothing is claimed") {
    const Problem indefinite{.boxes = {2, 2, 2}, .width = 4, .a = -500.0};  // a diagonal that is too small
    Setup setup(indefinite, {.bottom_box = indefinite.width});
    Level& level = setup.finest();
    BlockJacobi M = made(setup);
    CHECK(M.vanished() == "pivot of IC(0)");
    for (const std::string method : {"cg", "bicgstab"}) {
        const auto krylov = make_krylov(level, indefinite.singular(), unscaled(method, Norm::residual), &M);
        const Report report = krylov->solve(level.u, level.f);
        CHECK(report.outcome == Outcome::breakdown);
        CHECK(report.vanished == M.vanished());
        CHECK_FALSE(report.met);
        CHECK(report.true_residual == 1.0);
        CHECK(M.applications() == 0);
    }
}

TEST_CASE("IC(0) of the rows of a rank is that of a box, if they are one box") {
    const int ranks = Communicator::world().size();
    const Problem problem{.boxes = {ranks, 1, 1}, .width = 5, .boundaries = dirichlet, .beta = "ball100"};
    Setup setup(problem, {.bottom_box = problem.width});
    Level& level = setup.finest();
    const GlobalRows rows = rows_of_level(level);
    SparseMatrix A(setup.comm, setup.topology, *setup.backend, rows_of_ranks(level.layout), rows, {},
                   setup.ledger);
    BlockIncompleteCholesky M(setup.comm, A, rows, setup.ledger);
    REQUIRE(M.vanished().empty());
    setup.set(level.f, [](const Index& c) { return std::sin(1.7 * c[0] + 2.3 * c[1] - 3.9 * c[2]); });
    made(setup).apply(level.u, level.f);
    const std::vector<double> of_box = level.plain->read(level.u, level.layout.box_cells());
    LevelVectors vectors(level);
    vectors.bind(A.operations());
    const Field r = A.make_vector();
    const Field z = A.make_vector();
    vectors.from_grid(r, level.f);
    M.apply(z, r);
    CHECK(setup.ledger.at(Op::bottom_preconditioner, 0).work.flops > 0);
    const std::vector<double> of_rows = A.read(z);
    REQUIRE(of_rows.size() == of_box.size());
    const double size = max_norm({problem.cells(), of_box});
    for (std::size_t n = 0; n < of_box.size(); ++n) CHECK(std::abs(of_rows[n] - of_box[n]) <= 1e-13 * size);

    GlobalRows indefinite = rows;
    if (setup.comm.rank() == ranks - 1) indefinite.values.back() = -1;
    CHECK(BlockIncompleteCholesky(setup.comm, A, indefinite, setup.ledger).vanished() == "pivot of IC(0)");
}

TEST_CASE("the extreme eigenvalues of a tridiagonal matrix are those of the second difference") {
    const std::size_t n = 17;
    const Spectrum found = extreme_eigenvalues(std::vector<double>(n, 2.0), std::vector<double>(n - 1, -1.0));
    CHECK(found.lowest == Approx(2 - 2 * std::cos(two_pi / 2 / (n + 1.0))).epsilon(1e-12));
    CHECK(found.highest == Approx(2 + 2 * std::cos(two_pi / 2 / (n + 1.0))).epsilon(1e-12));
    const Spectrum one = extreme_eigenvalues(std::vector{3.0}, {});
    CHECK(one.lowest == Approx(3.0));
    CHECK(one.highest == Approx(3.0));
}

TEST_CASE("the spectrum is estimated once, counted, and used by p(l)-CG") {
    const Problem problem{.boxes = {2, 2, 2}, .width = 4, .beta = "smooth10", .rhs = "hash"};
    Setup setup(problem, {.bottom_box = problem.width});
    Level& level = setup.finest();
    BottomOptions options{.solver = "deep_pipelined_cg", .tolerance = 1e-8};
    const auto solved = [&](SpectrumFrom from) {
        options.spectrum = from;
        const auto krylov = make_krylov(level, false, options);
        const Report first = krylov->solve(level.u, level.f);
        return std::pair{first, krylov->solve(level.u, level.f)};
    };
    const auto [plain, plain_again] = solved(SpectrumFrom::automatic);
    const auto [estimated, again] = solved(SpectrumFrom::estimate);
    CHECK(estimated.succeeded());
    REQUIRE(estimated.spectrum);
    CHECK(estimated.spectrum->lowest > plain.spectrum->lowest);
    CHECK(estimated.spectrum->highest < plain.spectrum->highest);
    CHECK(estimated.iterations == plain.iterations);
    const Counts estimate = estimated.counts - again.counts;
    CHECK(estimate.applications == SpectrumEstimate::steps);
    CHECK(estimate.reductions == 2 * SpectrumEstimate::steps);
    CHECK(estimate.words == 2 * SpectrumEstimate::steps);
    CHECK(again.counts.reductions == plain_again.counts.reductions);
    CHECK(again.residuals == estimated.residuals);

    options.spectrum_lowest = 0.1;
    options.spectrum_highest = 1.9;
    const auto [given, given_again] = solved(SpectrumFrom::given);
    CHECK(given.succeeded());
    CHECK(given.spectrum->lowest == 0.1);
    CHECK(given.spectrum->highest == 1.9);

    // A right-hand side with nothing to learn from: the bounds stay.
    setup.set(level.f, [](const Index&) { return 0.0; });
    options.spectrum = SpectrumFrom::estimate;
    CHECK(make_krylov(level, false, options)->solve(level.u, level.f).succeeded());
}
