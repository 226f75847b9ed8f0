// Half sweeps of a GPU that keep ghosts current themselves: the same solutions to the last bit with fewer
// launches.

#include <catch2/catch.hpp>

#include "kernels/backends/gpu/padding.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "solvers/multigrid/v_cycle.hpp"
#include "tests/solvers/emulated_gpu.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

struct SolvedByCycles {
    SolveReport report;
    std::vector<double> u;
    std::vector<long> exchanges;  // by level
    long kernels = 0;
};

SolvedByCycles solved_by_cycles(const Problem& problem, HierarchyOptions options,
                                const MultigridOptions& multigrid, bool keeps_ghosts) {
    options.keeps_ghosts = keeps_ghosts;
    Setup setup(problem, options, Communicator::self());
    if (setup.hierarchy.singular()) make_solvable(setup.finest());
    Multigrid solver(setup.hierarchy, multigrid, {.max_iterations = 20});
    CHECK(setup.hierarchy.cycled(0).keeps_ghosts == keeps_ghosts);
    setup.finest().plain->wait();
    const long before = emulated::device().kernels;
    SolvedByCycles result{solver.solve(), {}, {}, 0};
    setup.finest().plain->wait();
    result.kernels = emulated::device().kernels - before;
    result.u = setup.finest().plain->read(setup.finest().u, setup.finest().layout.box_cells());
    for (int l = 0; l + 1 < setup.hierarchy.levels(); ++l)
        result.exchanges.push_back(setup.hierarchy.cycled(l).ghosts->count());
    result.exchanges.push_back(setup.hierarchy.bottom().ghosts->count());
    return result;
}

}  // namespace

TEST_CASE("half sweeps that keep ghosts change no bit and no count of exchanges") {
    if (!OnEmulatedGpu::usable_alone()) return;
    struct Variant {
        Index boxes;
        int width;
        Boundaries boundaries;
        double a;
        MultigridOptions multigrid;
        Storage storage = Storage::boxes;
        int dimensions = 3;
    };
    // Up to 4,096 cells a level is one block of threads, above that a launch is a half sweep.
    const Variant variants[] = {
        {{2, 1, 2}, 12, mixed, 0.9, {.pre = 2, .post = 2}},
        {{2, 2, 1}, 12, periodic, 0.9, {.pre = 2, .post = 2}, Storage::blocks},
        {{1, 1, 1}, 20, periodic, 0.0, {.pre = 2, .post = 2}},
        {{1, 1, 3}, 12, dirichlet, 0.9, {.cycle = Cycle::f, .pre = 2, .post = 1}},
        {{2, 1, 2}, 12, periodic, 0.9, {.pre = 3, .post = 0}},
        {{1, 3, 1}, 12, neumann, 0.0, {.pre = 1, .post = 3, .interpolation = Interpolation::linear}},
        {{3, 1, 1}, 12, periodic, 0.9, {.pre = 0, .post = 2, .relaxation = 1.3}, Storage::blocks},
        {{1, 3, 1}, 12, mixed, 0.9, {.pre = 2, .post = 1, .relaxation = 1.3}},
        {{3, 1, 1}, 12, mixed, 0.9, {.accelerator = Accelerator::cg, .pre = 1, .post = 2}},
        {{3, 2, 1}, 32, dirichlet, 0.9, {.pre = 2, .post = 2}, Storage::boxes, 2},
        {{1, 1, 1}, 72, periodic, 0.0, {.pre = 2, .post = 1}, Storage::blocks, 2},
        {{2, 2, 1}, 4, mixed, 0.9, {.pre = 2, .post = 2, .relaxation = 1.1}},
    };
    int number = 0;
    for (const auto& [boxes, width, boundaries, a, multigrid, storage, dimensions] : variants) {
        const std::string sync = number++ % 2 == 0 ? "graphs" : "lazy";
        const OnEmulatedGpu gpu(sync);
        CAPTURE(sync, boxes, width, a, dimensions, name(storage));
        const Problem problem = varying(boxes, width, boundaries, a, dimensions);
        for (const bool single : {false, true}) {
            if (single && multigrid.accelerator != Accelerator::none) continue;
            CAPTURE(single);
            const HierarchyOptions options{.bottom_box = width / 4,
                                           .storage = storage,
                                           .all_ghosts = true,
                                           .mixed = single,
                                           .deterministic = true};
            const SolvedByCycles expected = solved_by_cycles(problem, options, multigrid, false);
            const SolvedByCycles found = solved_by_cycles(problem, options, multigrid, true);
            CHECK(expected.report.converged());
            CHECK(found.report.residuals == expected.report.residuals);
            CHECK(found.u == expected.u);
            CHECK(found.exchanges == expected.exchanges);
            CHECK(found.kernels < expected.kernels);
        }
    }
}

TEST_CASE("ghosts are kept where an exchange is copies of whole faces, one layer deep") {
    if (!OnEmulatedGpu::usable()) return;
    const OnEmulatedGpu gpu("lazy");
    const Problem problem{.boxes = {2, 2, 2}, .width = 12, .beta = "smooth10", .exactly_periodic = true};
    const auto keeps = [&](HierarchyOptions options, const Communicator& comm = Communicator::self()) {
        options.bottom_box = 6;
        options.keeps_ghosts = true;
        Setup setup(problem, options, comm);
        return setup.finest().keeps_ghosts;
    };
    CHECK(keeps({}));
    CHECK_FALSE(keeps({.ghost_depth = 2}));
    CHECK_FALSE(keeps({.neighbours = Neighbours::all}));
    CHECK_FALSE(keeps({.fused = 4, .fused_width = 12}));
    if (Communicator::world().size() == 2) CHECK_FALSE(keeps({}, Communicator::world()));
}

TEST_CASE("a V-cycle whose half sweeps keep ghosts preconditions as another does") {
    if (!OnEmulatedGpu::usable_alone()) return;
    const OnEmulatedGpu gpu("graphs");
    const Problem problem{
        .boxes = {2, 2, 2}, .width = 12, .boundaries = mixed, .beta = "smooth10", .exactly_periodic = true};
    std::vector<std::vector<double>> results;
    for (const bool keeps : {false, true}) {
        Setup setup(problem, {.bottom_box = 3, .keeps_ghosts = keeps, .deterministic = true},
                    Communicator::self());
        Level& finest = setup.finest();
        VCycle M(setup.hierarchy, {.pre = 2, .post = 2}, 4);
        const Field z = finest.plain->make_field();
        for (int n = 0; n < 2; ++n) {  // the second does not start from what the first has left
            finest.plain->fill(z, 3.0);
            M.apply(z, finest.f);
        }
        results.push_back(finest.plain->read(z, cube(problem.width)));
    }
    CHECK(results[0] == results[1]);
}

TEST_CASE("a V(2,2)-cycle takes ten launches a level, and four where a level is one block's") {
    if (!OnEmulatedGpu::usable_alone()) return;
    const OnEmulatedGpu gpu("lazy");
    const Problem problem{.boxes = {2, 2, 2}, .width = 12, .beta = "smooth10", .exactly_periodic = true};
    const auto launches = [&](bool keeps) {
        Setup setup(problem, {.bottom_box = 3, .storage = Storage::blocks, .keeps_ghosts = keeps},
                    Communicator::self());
        Level& finest = setup.finest();
        Multigrid multigrid(setup.hierarchy, {.pre = 2, .post = 2}, {.solver = "cg"});
        finest.plain->wait();
        const long before = emulated::device().kernels;
        multigrid.cycle(finest.u, finest.f);
        finest.plain->wait();
        return emulated::device().kernels - before;
    };
    // 24^3 cells: four half sweeps from zeros, the residual, the interpolation and four half sweeps; 12^3: a
    // launch for a leg; 6^3: the bottom.
    CHECK(launches(true) == 10 + 4 + 1);
    // A copy before each half sweep and residual, and zeros before the first.
    CHECK(launches(false) == 20 + 20 + 1);
}

TEST_CASE("a cycle that follows another copies no ghosts, unless the mean was removed between them") {
    if (!OnEmulatedGpu::usable_alone()) return;
    const OnEmulatedGpu gpu("lazy");
    const auto launches_of_third = [](double a) {
        const Problem problem{.boxes = {2, 2, 2}, .width = 12, .a = a, .beta = "smooth10"};
        const auto launches = [&](int cycles) {
            Setup setup(problem, {.bottom_box = 3, .keeps_ghosts = true}, Communicator::self());
            if (setup.hierarchy.singular()) make_solvable(setup.finest());
            Multigrid solver(setup.hierarchy, {.tolerance = 1e-30, .max_cycles = cycles}, {.solver = "cg"});
            const long before = setup.finest().ghosts->count();
            setup.finest().plain->wait();
            const long kernels = emulated::device().kernels;
            solver.solve();
            setup.finest().plain->wait();
            return std::pair(emulated::device().kernels - kernels, setup.finest().ghosts->count() - before);
        };
        const auto [three, exchanges_of_three] = launches(3);
        const auto [two, exchanges_of_two] = launches(2);
        CHECK(exchanges_of_three - exchanges_of_two == 10);  // counted all the same
        return three - two;
    };
    // The residual's norm has one.
    CHECK(launches_of_third(0.9) == 10 + 1 + 4 + 1);
    // Before half sweeps and the residual a copy; sums and shifts of the bottom's f and of u.
    CHECK(launches_of_third(0.0) == 10 + 1 + 4 + 1 + 2 + 4);
}

TEST_CASE("a cycle that is known is one graph, with the bottom's launch and with the norm") {
    if (!OnEmulatedGpu::usable_alone() || !clears_padding) return;
    const OnEmulatedGpu gpu("graphs");
    const Problem problem{.boxes = {2, 2, 2}, .width = 12, .beta = "smooth10"};
    for (const bool mixed_precision : {false, true})
        for (const double relaxation : {1.0, 1.1}) {
            CAPTURE(mixed_precision, relaxation);
            Setup setup(problem, {.bottom_box = 3, .keeps_ghosts = true, .mixed = mixed_precision},
                        Communicator::self());
            Multigrid solver(setup.hierarchy, {.relaxation = relaxation}, {.solver = "cg"});
            for (int known = 0; known < 2; ++known) solver.solve();
            const long before = setup.backend->device_log()->total().replays;
            const SolveReport report = solver.solve();
            CHECK(setup.backend->device_log()->total().replays - before >= report.cycles);
        }
}
