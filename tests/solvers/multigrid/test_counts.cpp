// Counts predicted = counts measured: all-reduces, words, exchanges, messages, bytes, arrays.

#include <catch2/catch.hpp>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/bottom/level_krylov.hpp"
#include "solvers/multigrid/bottom/preconditioners.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "solvers/multigrid/smoothers/smoother.hpp"
#include "solvers/systems/grid_system.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

const Problem smooth_cube{.boxes = {2, 2, 2}, .width = 4, .beta = "smooth10", .alpha = "wave"};
const Problem flat{.boxes = {4, 2, 1}, .width = 8, .beta = "smooth10", .alpha = "wave", .dimensions = 2};

struct Spent {
    Counts counts;
    double flops = 0;  // per cell, by the costs that the kernels declare
    long begun = 0;    // all-reduces with a begin and an end
    long preconditioned = 0;

    friend Spent operator-(const Spent& a, const Spent& b) {
        return {a.counts - b.counts, a.flops - b.flops, a.begun - b.begun,
                a.preconditioned - b.preconditioned};
    }
};

// Returns the cost of `iterations` iterations of a bottom solver, the first residual and the verification
// included, when nothing can converge.
Spent spent_by(BottomOptions options, int iterations, const Problem& problem = smooth_cube,
               PreconditionerKind kind = PreconditionerKind::none) {
    const int width = problem.width;
    Setup setup(problem, {.bottom_box = width, .bottom_ghosts = powers_need(options, width).layers});
    options.tolerance = 1e-30;
    options.max_iterations = options.sweeps = iterations;
    Level& level = setup.finest();
    const auto M = make_preconditioner(setup.hierarchy, kind, {}, 0);
    const auto preconditioned = M ? make_krylov(level, problem.singular(), options, M.get()) : nullptr;
    Multigrid bottom(setup.hierarchy, {}, M ? BottomOptions{} : options);
    const auto exchanges_so_far = [&] {
        return level.ghosts->count() + (level.deep_ghosts ? level.deep_ghosts->count() : 0);
    };
    const long exchanges = exchanges_so_far();
    const Reductions reductions = level.reduction->count();
    const Report visit = M ? preconditioned->solve(level.u, level.f) : bottom.solve_bottom();
    CHECK(visit.iterations == iterations);
    const Counts measured{visit.counts.applications, exchanges_so_far() - exchanges,
                          level.reduction->count().calls - reductions.calls,
                          level.reduction->count().words - reductions.words};
    const Method& method = method_named(options.solver);
    if (method.is_krylov() ||
        method.repeats_cycles()) {  // the method's own account is that of the communication room
        if (vectors_at_once(options) == 1 && options.powers == Powers::paired)
            CHECK(visit.counts.applications == measured.exchanges);
        CHECK(visit.counts.exchanges == measured.exchanges);
        CHECK(visit.counts.reductions == measured.reductions);
        CHECK(visit.counts.words == measured.words);
    }
    double flops = 0;
    for (const Op op : {Op::bottom_operator, Op::bottom_vector, Op::bottom_dots})
        flops += setup.ledger.at(op, 0).work.flops;
    const Index cells = problem.cells();
    return {measured, setup.comm.sum(flops) / (cells[0] * cells[1] * cells[2]),
            setup.ledger.at(Op::reduction_begin, 0).calls, M ? M->applications() : 0};
}

// Operations that count the fields they make.
struct Inner {
    std::unique_ptr<Operations> plain;
    Ledger unread{1};
};
class CountedOperations : private Inner, public TimedOperations {
  public:
    CountedOperations(std::unique_ptr<Operations> made, int& fields)
        : Inner{std::move(made)}, TimedOperations(*plain, unread, 0, Caller::multigrid), fields_(fields) {}
    Field make_field() override {
        ++fields_;
        return TimedOperations::make_field();
    }

  private:
    int& fields_;
};

// Exchanges of ghosts of the operator that one V-cycle makes on a level above the bottom.
long predicted(const MultigridOptions& options) {
    const int of_sweep = options.smoother == "gsrb" ? 2 : 1;
    return of_sweep * (options.pre + options.post) + 1;
}

// Runs exactly `cycles` cycles.
SolveReport run_cycles(Setup& setup, MultigridOptions options, int cycles) {
    options.tolerance = 1e-30;
    options.max_cycles = cycles;
    const SolveReport report = Multigrid(setup.hierarchy, options, {}).solve();
    REQUIRE(report.cycles == cycles);
    return report;
}

}  // namespace

TEST_CASE("every row of the table of bottom solvers is what a run counts") {
    for (const Method& row : methods())
        for (const Scaling scaling : {Scaling::none, Scaling::jacobi})
            for (const auto& [s, basis, depth, form] :
                 {std::tuple{4, Basis::monomial, 2, Orthogonalisation::delayed},
                  {4, Basis::newton, 1, Orthogonalisation::cgs2},
                  {2, Basis::chebyshev, 2, Orthogonalisation::mgs},
                  {1, Basis::chebyshev, 1, Orthogonalisation::icwy}}) {
                INFO(row.name << (scaling == Scaling::none ? "" : ", scaled") << ", s = t = m = " << s
                              << ", l = " << depth);
                BottomOptions options;
                options.solver = row.name;
                options.scaling = scaling;
                options.s = s;
                options.basis = basis;
                options.depth = depth;
                options.block = s;
                options.restart = s;
                options.orthogonalisation = form;
                // It wants a lower bound above 0, and that one a basis that knows its own products.
                if (row.name == "chebyshev" && scaling == Scaling::none) continue;
                if (row.multiplies_basis && basis == Basis::newton) continue;
                // Whole outer steps of an s-step method, after s = 1, 2, 4.
                for (const Problem& problem : {smooth_cube, flat}) {
                    CAPTURE(problem.dimensions);
                    const auto [eight, flops, begun, none] =
                        spent_by(options, 15, problem) - spent_by(options, 7, problem);
                    CHECK(static_cast<double>(eight.exchanges) == 8 * row.exchanges.of(options));
                    CHECK(static_cast<double>(eight.reductions) == 8 * row.reductions.of(options));
                    CHECK(static_cast<double>(eight.words) == 8 * row.words.of(options));
                    CHECK((begun > 0) == row.hides_all_reduces);
                    CHECK(static_cast<double>(eight.applications) == 8 * row.applications.of(options));
                    const double of_operator =
                        row.applications.of(options) *
                        GridSystem::application_flops(scaling_of(options), problem.directions());
                    // A relaxation is as much as an application; its row has that of three dimensions.
                    const bool relaxes = !row.is_krylov() && !row.repeats_cycles();
                    const double less = !relaxes ? 0.0 : problem.dimensions == 2 ? 4.0 : 0.0;
                    CHECK(flops == Approx(8 * (of_operator + row.flops.of(options) - less)));
                }
            }
    for (const std::string name : {"ca_bicgstab", "ca_cg", "ca_gmres"})
        for (const Powers powers : {Powers::sequential, Powers::matrix_powers, Powers::fused_matrix_powers})
            for (const int s : {2, 4})
                for (const int depth : {0, 1, 2, 3, 4}) {
                    CAPTURE(name, keel::name(powers), s, depth);
                    BottomOptions options;
                    options.solver = name;
                    options.s = s;
                    options.powers = powers;
                    // Automatically as deep as there are powers, but here a box is no deeper than 4.
                    options.powers_depth = depth == 0 && name == "ca_bicgstab" && s == 4 ? 4 : depth;
                    const Method& row = method_named(name);
                    const Counts eight = (spent_by(options, 15) - spent_by(options, 7)).counts;
                    CHECK(static_cast<double>(eight.exchanges) == 8 * row.exchanges.of(options));
                }
}

TEST_CASE(
    "a preconditioner adds its applications to a method's row, and words where another norm is tested") {
    for (const Method& row : methods())
        for (const Norm norm : row.norms) {
            if (!row.is_krylov() || !row.accepts_preconditioner()) continue;
            CAPTURE(row.name, name(norm));
            BottomOptions options{.solver = row.name, .scaling = Scaling::none, .norm = norm};
            // Powers of M A, which is nearly 1, are dependent.
            if (row.reads("spectrum") && row.reads("basis")) options.basis = Basis::chebyshev;
            options.restart = options.s;
            const auto spent = [&](int iterations) {
                return spent_by(options, iterations, smooth_cube, PreconditionerKind::block_ic0);
            };
            const auto [eight, flops, begun, applications] = spent(15) - spent(7);
            CHECK(static_cast<double>(eight.exchanges) == 8 * row.exchanges.of(options));
            CHECK(static_cast<double>(eight.reductions) == 8 * row.reductions.of(options));
            CHECK(static_cast<double>(eight.words) == 8 * (row.words.of(options) + row.words_of_norm(norm)));
            CHECK(static_cast<double>(eight.applications) == 8 * row.applications.of(options));
            // GMRES corrects x by M V y before each restart.
            const int corrections = row.reads("restart") ? 8 / options.restart : 0;
            CHECK(static_cast<double>(applications - corrections) == 8 * row.applications.of(options));
        }
}

TEST_CASE("a Krylov solve costs what its start and its verification do beside its iterations") {
    struct Beside {
        BottomOptions options;
        long exchanges, reductions, words;  // these without the norms of b and of the verified residual
    };
    for (const auto& [options, exchanges, reductions, words] :
         {Beside{{.solver = "bicgstab"}, 1, 2, 0},
          {{.solver = "bicgstab_fused"}, 1, 2, 0},
          {{.solver = "cg"}, 1, 2, 0},
          {{.solver = "pipelined_cg"}, 3, 3, 2},
          {{.solver = "pr_cg"}, 2, 3, 4},
          {{.solver = "pipelined_pr_cg"}, 3, 3, 4},
          {{.solver = "deep_pipelined_cg", .depth = 1}, 2, 2, 0},
          {{.solver = "deep_pipelined_cg", .depth = 2}, 3, 3, 2},
          {{.solver = "deep_pipelined_cg", .depth = 3}, 4, 4, 5},
          {{.solver = "pipelined_bicgstab", .replace_every = 0}, 3, 3, 1},
          {{.solver = "pipelined_bicgstab", .replace_every = 2}, 3 + 2 * 6, 3, 1},
          {{.solver = "enlarged_cg", .block = 4}, 2, 3, 25},
          {{.solver = "enlarged_orthomin", .block = 4}, 2, 3, 11},
          {{.solver = "ecg", .block = 4}, 2, 3, 1},
          {{.solver = "sre_cg", .block = 4}, 1, 1, -48}}) {  // blocks that are not there yet
        CAPTURE(options.solver, options.depth, options.replace_every);
        const Method& row = method_named(options.solver);
        const Counts counts = spent_by(options, 5).counts;
        // A system scaled from the left reduces two words: its own norm, and the norm without the scaling.
        const int norms = scaling_of(options) == DiagonalScaling::symmetric ? 4 : 2;
        CHECK(static_cast<double>(counts.exchanges - exchanges) == 5 * row.exchanges.of(options));
        CHECK(static_cast<double>(counts.reductions - reductions) == 5 * row.reductions.of(options));
        CHECK(static_cast<double>(counts.words - words - norms) == 5 * row.words.of(options));
    }
}

TEST_CASE("a half-step exit of BiCGStab saves four of the six all-reduces and one exchange") {
    // A right-hand side that is an eigenvector: the first half step is exact.
    Problem problem{.boxes = {2, 2, 2}, .width = 4};
    Setup setup(problem, {.bottom_box = 4});
    setup.set(setup.finest().f, [&](const Index& c) { return std::cos(two_pi * problem.centre(c)[0]); });
    for (const auto& [solver, reductions, exchanges] :
         {std::tuple{"bicgstab", 2, 1}, {"bicgstab_fused", 2, 2}, {"cg", 2, 1}}) {
        CAPTURE(solver);
        BottomOptions options;
        options.solver = solver;
        options.tolerance = 1e-9;
        const auto visit = Multigrid(setup.hierarchy, {}, options).solve_bottom();
        CHECK(visit.outcome == Outcome::converged);
        CHECK(visit.iterations == 1);
        CHECK(visit.counts.reductions == reductions + 2);
        CHECK(visit.counts.exchanges == exchanges + 1);
    }
}

TEST_CASE("the table of bottom solvers tells how many vectors a method keeps") {
    const int size = GENERATE(1, 2, 4, 7);
    for (const Method& row : methods()) {
        if (!row.is_krylov()) continue;
        CAPTURE(row.name, size);
        const BottomOptions options{.depth = size, .s = size, .block = size, .restart = size};
        int fields = 0;
        Setup setup(smooth_cube, {.bottom_box = 4});
        CountedOperations operations(setup.backend->make_operations(setup.finest().layout, 1), fields);
        GridSystem system(operations, *setup.finest().ghosts, *setup.finest().reduction, setup.finest().L,
                          DiagonalScaling::none);
        REQUIRE(fields == 0);
        const auto method = row.make({system, options, {0.0, 2.0}});
        CHECK(fields == row.vectors.of(options));
        if (!row.make_preconditioned) continue;
        struct Copy : Preconditioner {
            void multiply(Vector, Vector) override {}
        } M;
        const auto preconditioned = row.make_preconditioned({system, options, {0.0, 2.0}, &M});
        CHECK(fields == 2 * row.vectors.of(options) + row.preconditioned_vectors.of(options));
    }
}

TEST_CASE("exchanges per level and cycle are predicted: twice the sweeps plus one, one more on the finest") {
    const Problem problem{.boxes = {2, 2, 2}, .width = 8, .beta = "smooth10"};
    for (const std::string smoother : {"gsrb", "jacobi", "chebyshev"})
        for (const auto& [pre, post] : {std::pair{2, 2}, {1, 3}, {0, 2}})
            for (const auto interpolation : {Interpolation::constant, Interpolation::linear}) {
                const bool linearly = interpolation == Interpolation::linear;
                CAPTURE(smoother, pre, post, linearly);
                MultigridOptions options;
                options.smoother = smoother;
                options.interpolation = interpolation;
                options.pre = pre;
                options.post = post;
                const long per_sweep = smoother == "gsrb" ? 2 : 1;
                CHECK(predicted(options) == per_sweep * (pre + post) + 1);

                Setup setup(problem, {.bottom_box = 2, .all_ghosts = linearly});
                const long cycles = 3;
                const SolveReport report = run_cycles(setup, options, cycles);
                long bottom_exchanges = 0;
                for (const auto& visit : report.visits) bottom_exchanges += visit.counts.exchanges;
                CHECK(setup.hierarchy.level(0).ghosts->count() == cycles * (predicted(options) + 1));
                CHECK(setup.hierarchy.level(1).ghosts->count() == cycles * predicted(options));
                CHECK(setup.hierarchy.level(2).ghosts->count() == bottom_exchanges);
                CHECK(bottom_exchanges >= 3 * cycles);
                for (int l = 1; l <= 2 && linearly; ++l)
                    CHECK(setup.hierarchy.level(l).all_ghosts->count() == cycles);
            }
}

TEST_CASE("a full multigrid pass visits a level once for every finer level and once itself") {
    const Problem problem{.boxes = {2, 2, 2}, .width = 8, .beta = "smooth10"};
    MultigridOptions options;
    options.cycle = Cycle::f;
    Setup setup(problem, {.bottom_box = 2, .all_ghosts = true});
    const SolveReport report = run_cycles(setup, options, 1);
    CHECK(setup.hierarchy.level(0).ghosts->count() == predicted(options) + 1);
    CHECK(setup.hierarchy.level(1).ghosts->count() == 2 * predicted(options));
    CHECK(report.visits.size() == 3);
    CHECK(setup.hierarchy.level(1).all_ghosts->count() == 1);
    CHECK(setup.hierarchy.level(2).all_ghosts->count() == 1);
}

TEST_CASE("the cycle reduces once per cycle for the stopping test and nowhere else") {
    for (const double a : {0.9, 0.0}) {
        CAPTURE(a);
        const Problem problem{.boxes = {2, 2, 2}, .width = 8, .a = a, .beta = "smooth10"};
        Setup setup(problem, {.bottom_box = 2});
        std::array<Reductions, 3> before;
        for (int l = 0; l < 3; ++l)
            before[static_cast<std::size_t>(l)] = setup.hierarchy.level(l).reduction->count();
        const SolveReport report = run_cycles(setup, {}, 3);
        const auto reductions = [&](int l) {
            return setup.hierarchy.level(l).reduction->count().calls -
                   before[static_cast<std::size_t>(l)].calls;
        };
        const bool singular = problem.singular();
        long bottom = singular ? 3 : 0;  // the mean of the right-hand side
        for (const auto& visit : report.visits) bottom += visit.counts.reductions;
        CHECK(reductions(0) == 1 + 3 * (singular ? 2 : 1));
        CHECK(reductions(1) == 0);
        CHECK(reductions(2) == bottom);
        CHECK(setup.ledger.at(Op::reduction, 0).calls == reductions(0));
        CHECK(setup.ledger.at(Op::reduction, 0).words == reductions(0));
        CHECK(setup.ledger.at(Op::reduction, 2).calls == bottom);
    }
}
