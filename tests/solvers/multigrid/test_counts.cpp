// Counts predicted = counts measured: all-reduces, words, exchanges, messages, bytes, arrays.

#include <catch2/catch.hpp>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/bottom/level_krylov.hpp"
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

    friend Spent operator-(const Spent& a, const Spent& b) {
        return {a.counts - b.counts, a.flops - b.flops, a.begun - b.begun};
    }
};

// Returns the cost of `iterations` iterations of a bottom solver, the first residual and the verification
// included, when nothing can converge.
Spent spent_by(BottomOptions options, int iterations, const Problem& problem = smooth_cube) {
    const int width = problem.width;
    Setup setup(problem, {.bottom_box = width, .bottom_ghosts = powers_need(options, width).layers});
    options.tolerance = 1e-30;
    options.max_iterations = options.sweeps = iterations;
    Level& level = setup.finest();
    Multigrid bottom(setup.hierarchy, {}, options);
    const auto exchanges_so_far = [&] {
        return level.ghosts->count() + (level.deep_ghosts ? level.deep_ghosts->count() : 0);
    };
    const long exchanges = exchanges_so_far();
    const Reductions reductions = level.reduction->count();
    const Report visit = bottom.solve_bottom();
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
            setup.ledger.at(Op::reduction_begin, 0).calls};
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
                    const auto [eight, flops, begun] =
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
        for (const int s : {2, 4})
            for (const int depth : {0, 1, 2, 3, 4}) {
                CAPTURE(name, s, depth);
                BottomOptions options;
                options.solver = name;
                options.s = s;
                options.powers = Powers::matrix_powers;
                // Automatically as deep as there are powers, but here a box is no deeper than 4.
                options.powers_depth = depth == 0 && name == "ca_bicgstab" && s == 4 ? 4 : depth;
                const Counts eight = (spent_by(options, 15) - spent_by(options, 7)).counts;
                CHECK(static_cast<double>(eight.exchanges) == 8 * method_named(name).exchanges.of(options));
            }
    CHECK(method_names().size() == methods().size());
    CHECK_THROWS_AS(method_named("bicgstabb"), std::invalid_argument);
}

TEST_CASE("a Krylov solve costs one all-reduce to start and one exchange and all-reduce to verify") {
    // A system scaled from the left reduces two words: its own norm, and the norm without the scaling.
    for (const auto& [solver, reductions, words, exchanges, norms] :
         {std::tuple{"bicgstab", 6, 6, 2, 1}, {"bicgstab_fused", 2, 6, 2, 1}, {"cg", 2, 2, 1, 2}}) {
        CAPTURE(solver);
        BottomOptions options;
        options.solver = solver;
        const Counts counts = spent_by(options, 5).counts;
        CHECK(counts.reductions == 5 * reductions + 2);
        CHECK(counts.words == 5 * words + 2 * norms);
        CHECK(counts.exchanges == 5 * exchanges + 1);
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
    for (const Method& row : methods()) {
        if (!row.is_krylov()) continue;
        INFO(row.name);
        int fields = 0;
        Setup setup(smooth_cube, {.bottom_box = 4});
        CountedOperations operations(setup.backend->make_operations(setup.finest().layout, 1), fields);
        GridSystem system(operations, *setup.finest().ghosts, *setup.finest().reduction, setup.finest().L,
                          DiagonalScaling::none);
        REQUIRE(fields == 0);
        const auto method = row.make({system, {}, {0.0, 2.0}});
        CHECK(fields == row.vectors.of({}));
        if (!row.make_preconditioned) continue;
        struct Copy : Preconditioner {
            void multiply(Vector, Vector) override {}
        } M;
        const auto preconditioned = row.make_preconditioned({system, {}, {0.0, 2.0}, &M});
        CHECK(fields == 2 * row.vectors.of({}) + row.preconditioned_vectors.of({}));
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

TEST_CASE("messages and bytes in the ledger are the plan's, times the exchanges") {
    const Problem problem{.boxes = {4, 2, 2}, .width = 8, .boundaries = mixed, .beta = "smooth10"};
    MultigridOptions options;
    options.interpolation = Interpolation::linear;
    Setup setup(problem, {.bottom_box = 2, .all_ghosts = true});
    run_cycles(setup, options, 2);
    long off_node = 0;
    for (int l = 0; l < setup.hierarchy.levels(); ++l) {
        CAPTURE(l);
        Traffic expected;
        long exchanges = 0;
        const auto add = [&](const Exchange& exchange) {
            const Traffic once = exchange.plan().traffic(setup.comm.rank(), setup.topology, 1);
            for (long n = 0; n < exchange.count(); ++n) expected += once;
            if (once.messages > 0) exchanges += exchange.count();
        };
        add(*setup.hierarchy.level(l).ghosts);
        if (l > 0) add(*setup.hierarchy.level(l).all_ghosts);
        const Entry& send = setup.ledger.at(Op::send, l);
        CHECK(send.traffic == expected);
        CHECK(send.calls == exchanges);
        CHECK(setup.ledger.at(Op::wait, l).calls == exchanges);
        off_node += send.traffic.off_node_messages;
        // 16 boxes on several ranks must talk, and on more than one pretended node beyond it.
        CHECK((expected.messages > 0) == (setup.comm.size() > 1));
    }
    const double all_off_node = setup.comm.sum(static_cast<double>(off_node));
    CHECK((all_off_node > 0) == (setup.comm.size() > Setup::ranks_per_node));
}

TEST_CASE("a face exchange sends every outer face of a rank's boxes once") {
    // One box a rank where there are 8: six neighbours of 16 cells each - in a periodic 2x2x2 domain three
    // peers, each met on two sides.
    const Problem problem{.boxes = {2, 2, 2}, .width = 4};
    Setup setup(problem, {.bottom_box = 4});
    const Traffic once = setup.finest().ghosts->plan().traffic(setup.comm.rank(), setup.topology, 1);
    const double bytes = setup.comm.sum(static_cast<double>(once.bytes));
    const double messages = setup.comm.sum(static_cast<double>(once.messages));
    if (setup.comm.size() == 8) {
        CHECK(messages == 8 * 3);
        CHECK(bytes == 8 * 6 * 16 * 8);
    }
    if (setup.comm.size() == 2) {  // 4 boxes a rank, the cut is one plane of 4 boxes on both sides
        CHECK(messages == 2);
        CHECK(bytes == 2 * 2 * 4 * 16 * 8);
    }
    if (setup.comm.size() == 1) CHECK(bytes == 0);
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
