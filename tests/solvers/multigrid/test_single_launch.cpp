// A bottom solve in one launch of a device against the same solve driven by the host, on the emulated GPU.

#include <catch2/catch.hpp>

#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "tests/solvers/emulated_gpu.hpp"
#include "tests/solvers/golden_problem.hpp"
#include "tests/solvers/krylov/one_level.hpp"

using namespace keel;
using namespace keel::test;

namespace {

const std::vector<std::string> launched_methods{"bicgstab",     "bicgstab_fused", "cg",
                                                "pipelined_cg", "chebyshev",      "smooth"};

// A solve of the bottom level: its report, its u on rank 0, the kernels that it took, the all-reduces of the
// level's ledger.
struct Visited {
    Report report;
    Whole u;
    long kernels = 0;
    long reductions = 0;
};

// With deterministic sums the host drives each operation.
enum class Driven { by_host, by_device };

Visited solved(const Problem& problem, const BottomOptions& options, Driven driven, double size = 1.0) {
    Setup setup(problem,
                {.bottom_box = problem.width,
                 .keeps_ghosts = driven == Driven::by_device,
                 .deterministic = driven == Driven::by_host},
                Communicator::self());
    setup.set_f([&](const Index& cell) { return size * problem.f(cell); });
    Multigrid multigrid(setup.hierarchy, {}, options);
    setup.finest().plain->wait();
    const long kernels = emulated::device().kernels;
    Visited result{multigrid.solve_bottom(), {}, 0, 0};
    setup.finest().plain->wait();
    result.kernels = emulated::device().kernels - kernels;
    result.u = setup.gather(setup.finest().u);
    for (const Op op : {Op::reduction, Op::reduction_begin})
        result.reductions += setup.ledger.at(op, 0).calls;
    return result;
}

double distance(const Whole& u, const Whole& reference) {
    Whole difference = u;
    for (std::size_t n = 0; n < u.values.size(); ++n) difference.values[n] -= reference.values[n];
    return max_norm(difference) / std::max(max_norm(reference), 1e-300);
}

// The same verdict, counts and, but for rounding, residuals and solution. Ordered sums have a word for each
// box, maxima have one: `maxima` tells that there are some.
void check_alike(const Visited& launched, const Visited& driven, int boxes, bool maxima = false) {
    const Report& mine = launched.report;
    const Report& other = driven.report;
    const auto like = [](double residual) { return Approx(residual).epsilon(1e-9).margin(1e-300); };
    CHECK(mine.outcome == other.outcome);
    CHECK(mine.vanished == other.vanished);
    CHECK(mine.restarts == other.restarts);
    CHECK(mine.met == other.met);
    CHECK(std::abs(mine.iterations - other.iterations) <= 1);
    if (mine.iterations != other.iterations) return;
    CHECK(mine.counts.applications == other.counts.applications);
    CHECK(mine.counts.exchanges == other.counts.exchanges);
    CHECK(mine.counts.reductions == other.counts.reductions);
    if (!maxima) CHECK(boxes * mine.counts.words == other.counts.words);
    CHECK(launched.reductions == driven.reductions);
    REQUIRE(mine.residuals.size() == other.residuals.size());
    for (std::size_t n = 0; n < mine.residuals.size(); ++n)
        CHECK(mine.residuals[n] == like(other.residuals[n]));
    CHECK(mine.true_residual == like(other.true_residual));
    CHECK(mine.unscaled_residual == like(other.unscaled_residual));
    CHECK(distance(launched.u, driven.u) < (mine.iterations <= 5 ? 1e-12 : 1e-9));
}

// A few cycles above a bottom of 2^3 cells, and how often the host waited for a stream meanwhile.
struct Cycled {
    SolveReport report;
    long waits = 0;
};

Cycled cycled(const Problem& problem, const MultigridOptions& multigrid, bool mixed, Driven driven) {
    Setup setup(problem,
                {.bottom_box = 1,
                 .all_ghosts = true,
                 .keeps_ghosts = driven == Driven::by_device,
                 .mixed = mixed,
                 .deterministic = driven == Driven::by_host},
                Communicator::self());
    if (setup.hierarchy.singular()) make_solvable(setup.finest());
    Multigrid solver(setup.hierarchy, multigrid, {.solver = "bicgstab"});
    setup.finest().plain->wait();
    const long before = emulated::device().waits;
    Cycled result{solver.solve(), 0};
    result.waits = emulated::device().waits - before;
    return result;
}

const Problem eight{.boxes = {2, 2, 2}, .width = 4, .beta = "smooth10", .alpha = "wave"};
const Problem lone{.boxes = {1, 1, 1}, .width = 5, .beta = "smooth10", .alpha = "wave"};
const Problem flat{.boxes = {3, 2, 1}, .width = 3, .beta = "smooth10", .alpha = "wave", .dimensions = 2};
const Problem walled{
    .boxes = {2, 1, 3}, .width = 3, .boundaries = dirichlet, .beta = "smooth10", .alpha = "wave"};
const Problem poisson{.boxes = {2, 1, 1}, .width = 4, .a = 0.0, .beta = "smooth10"};

}  // namespace

TEST_CASE("a bottom solve in one launch is the one that the host drives, but for rounding") {
    if (!OnEmulatedGpu::usable_alone()) return;
    for (const std::string sync : {"per_operation", "lazy", "graphs"}) {
        const OnEmulatedGpu gpu(sync);
        for (const Problem& problem : {eight, lone, flat, walled, poisson})
            for (const std::string& method : launched_methods)
                for (const Scaling scaling : {Scaling::jacobi, Scaling::none}) {
                    CAPTURE(sync, method, problem.boxes, problem.width, name(scaling));
                    const BottomOptions options{
                        .solver = method, .max_iterations = 30, .scaling = scaling, .sweeps = 3};
                    const Visited launched = solved(problem, options, Driven::by_device);
                    check_alike(launched, solved(problem, options, Driven::by_host),
                                static_cast<int>(product(problem.boxes)));
                    // A sum and a shift remove the mean of a singular problem; a fill gives relaxation its
                    // zeros.
                    CHECK(launched.kernels ==
                          1 + (problem.singular() ? 2 : 0) + (method == "smooth" ? 1 : 0));
                }
    }
}

TEST_CASE(
    "a solve in one launch ends as others do: at its limit, by a breakdown, of extreme right-hand sides") {
    if (!OnEmulatedGpu::usable_alone()) return;
    const OnEmulatedGpu gpu("graphs");
    const auto alike = [](const Problem& problem, const BottomOptions& options, double size,
                          Outcome outcome) {
        CAPTURE(options.solver, size, name(outcome));
        const Visited launched = solved(problem, options, Driven::by_device, size);
        CHECK(launched.kernels == 1);
        CHECK(launched.report.outcome == outcome);
        check_alike(launched, solved(problem, options, Driven::by_host, size),
                    static_cast<int>(product(problem.boxes)), size != 1.0);
    };
    Problem indefinite = walled;
    indefinite.a = -200;
    indefinite.beta = "const";
    for (const std::string method : {"bicgstab", "bicgstab_fused", "cg", "pipelined_cg", "chebyshev"}) {
        alike(walled, {.solver = method, .tolerance = 1e-14, .max_iterations = 3}, 1.0,
              Outcome::iteration_limit);
        for (const double size : {1e-180, 1e180})  // whose squares are zero and infinity
            alike(walled, {.solver = method, .tolerance = 1e-2}, size, Outcome::converged);
        alike(walled, {.solver = method}, HUGE_VAL, Outcome::breakdown);
    }
    alike(indefinite, {.solver = "cg"}, 1.0, Outcome::breakdown);
    alike(indefinite, {.solver = "pipelined_cg"}, 1.0, Outcome::breakdown);
}

TEST_CASE("a cycle waits for the device once, since the next wait brings the report of its bottom solve") {
    if (!OnEmulatedGpu::usable_alone()) return;
    for (const std::string sync : {"lazy", "graphs"}) {
        const OnEmulatedGpu gpu(sync);
        const auto waits_of_two = [&](bool symmetric, Driven driven) {
            const auto waits = [&](int cycles) {
                return cycled(eight, {.tolerance = 1e-30, .max_cycles = cycles, .symmetric = symmetric},
                              false, driven)
                    .waits;
            };
            return waits(3) - waits(1);
        };
        for (const bool symmetric : {false, true}) {
            CAPTURE(sync, symmetric);
            CHECK(waits_of_two(symmetric, Driven::by_device) == 2);
            CHECK(waits_of_two(symmetric, Driven::by_host) > 10);
        }
    }
}

TEST_CASE("no report of a bottom solve in one launch is lost, whatever the cycle") {
    if (!OnEmulatedGpu::usable_alone()) return;
    struct Variant {
        Problem problem;
        MultigridOptions multigrid;
        bool mixed = false;
    };
    const Variant variants[] = {{eight, {}},
                                {eight, {.cycle = Cycle::f}},
                                {eight, {}, true},
                                {eight, {.cycle = Cycle::f}, true},
                                {eight, {.accelerator = Accelerator::cg}},
                                {poisson, {}}};
    for (const std::string sync : {"per_operation", "lazy", "graphs"})
        for (const auto& [problem, multigrid, mixed_precision] : variants) {
            const OnEmulatedGpu gpu(sync);
            CAPTURE(sync, name(multigrid.cycle), mixed_precision, problem.a);
            MultigridOptions few = multigrid;
            few.max_cycles = 4;
            const SolveReport launched = cycled(problem, few, mixed_precision, Driven::by_device).report;
            const SolveReport driven = cycled(problem, few, mixed_precision, Driven::by_host).report;
            REQUIRE(launched.visits.size() == driven.visits.size());
            for (std::size_t n = 0; n < driven.visits.size(); ++n) {
                CAPTURE(n);
                const Report& mine = launched.visits[n];
                const Report& other = driven.visits[n];
                CHECK(other.iterations > 0);
                CHECK(mine.outcome == other.outcome);
                CHECK(std::abs(mine.iterations - other.iterations) <= 1);
                if (mine.iterations != other.iterations) continue;
                CHECK(mine.counts.applications == other.counts.applications);
                CHECK(mine.counts.reductions == other.counts.reductions);
                CHECK(mine.true_residual == Approx(other.true_residual).epsilon(1e-3).margin(1e-12));
            }
        }
}

TEST_CASE("residuals beyond those that come with the result come after it") {
    if (!OnEmulatedGpu::usable_alone()) return;
    const OnEmulatedGpu gpu("lazy");
    const BottomOptions options{
        .solver = "chebyshev", .tolerance = 1e-300, .max_iterations = 300, .max_restarts = 0};
    const Visited launched = solved(lone, options, Driven::by_device);
    const Visited driven = solved(lone, options, Driven::by_host);
    REQUIRE(launched.report.residuals.size() == driven.report.residuals.size());
    REQUIRE(launched.report.residuals.size() > 280);
    CHECK(launched.report.residuals.back() == Approx(driven.report.residuals.back()));
}

TEST_CASE("a gathered bottom grid is solved in one launch by its rank, a larger one and in steps it is not") {
    if (!OnEmulatedGpu::usable()) return;
    const OnEmulatedGpu gpu("lazy");
    Problem finer = eight;
    finer.width = 8;
    const auto visit = [&](const Communicator& comm, int bottom_grid) {
        Setup setup(finer, {.bottom_box = 4, .bottom_grid = bottom_grid, .keeps_ghosts = true}, comm);
        setup.set_f([&](const Index& cell) { return finer.f(cell); });
        Multigrid multigrid(setup.hierarchy, {.bottom_box = 4, .max_cycles = 1}, {.solver = "cg"});
        return multigrid.solve().visits.front();
    };
    const Communicator& world = Communicator::world();
    if (!enough_boxes(finer.boxes)) return;
    for (const int how : {BottomRanks::one, BottomRanks::all}) {
        const Report gathered = visit(world, how);
        if (how == BottomRanks::one && world.rank() != 0)
            CHECK(gathered.outcome == Outcome::on_other_ranks);
        else
            CHECK(gathered.residuals == visit(Communicator::self(), BottomRanks::owners).residuals);
    }
    const Problem large{.boxes = {1, 1, 1}, .width = 26};
    CHECK(solved(large, {.solver = "cg", .max_iterations = 1}, Driven::by_device).kernels > 10);
    for (const std::string in_steps : {"ca_cg", "ca_bicgstab"})
        CHECK(solved(eight, {.solver = in_steps, .max_iterations = 1}, Driven::by_device).kernels > 10);
}

TEST_CASE("an s-step method launches two kernels for each all-reduce, beside those of its exchange") {
    if (!OnEmulatedGpu::usable()) return;
    for (const std::string sync : {"per_operation", "lazy", "graphs"})
        for (const int dimensions : {2, 3})
            for (const bool cg : {false, true})
                for (const Basis basis : {Basis::monomial, Basis::chebyshev})
                    for (const int s : {1, 2, 4}) {
                        const int degree = cg ? s : 2 * s;
                        Problem problem = dimensions == 2 ? flat : eight;
                        problem.width = 8;
                        if (!enough_boxes(problem.boxes)) return;
                        const OnEmulatedGpu gpu(sync);
                        OneLevel one(problem, cg ? DiagonalScaling::symmetric : DiagonalScaling::right,
                                     {.bottom_ghosts = degree}, true);
                        const BottomOptions options{.s = s,
                                                    .basis = basis,
                                                    .telescoping = false,
                                                    .powers = Powers::fused_matrix_powers};
                        const Spectrum spectrum{2 - one.level.jacobi_bound, one.level.jacobi_bound};
                        Restarted solver(one.A, made(cg ? "ca_cg" : "ca_bicgstab", options, spectrum));
                        const auto kernels = [&](const auto& action) {
                            one.level.plain->wait();
                            const long before = emulated::device().kernels;
                            action();
                            one.level.plain->wait();
                            return emulated::device().kernels - before;
                        };
                        const auto of_steps = [&](int steps) {
                            Report report;
                            const long launched = kernels([&] {
                                report = one.solve(solver, {1e-30, steps * s, 0});
                            });
                            CHECK(report.iterations == steps * s);
                            return launched;
                        };
                        const std::array sent{one.y, one.b};
                        const long of_exchange = kernels([&] { one.level.deep_ghosts->run(sent); });
                        CAPTURE(sync, dimensions, cg, name(basis), s, of_exchange);
                        CHECK(of_steps(3) - of_steps(1) == 2 * (2 + of_exchange));
                    }
}
