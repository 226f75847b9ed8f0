// Matrix powers in one pass over memory: the solves of a pass for each power, to the last bit and with the
// same messages.

#include <catch2/catch.hpp>

#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/bottom/level_krylov.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

TEST_CASE("powers in one pass change no bit of a deterministic solve, no message and no flop") {
    struct Variant {
        Index boxes;
        int width;
        Boundaries boundaries;
        double a;
        BottomOptions bottom;
        HierarchyOptions hierarchy{};
        int dimensions = 3;
    };
    const auto steps = [](const std::string& solver, int s, Basis basis, int depth, Scaling scaling) {
        return BottomOptions{.solver = solver,
                             .tolerance = 1e-6,
                             .max_iterations = 40,
                             .scaling = scaling,
                             .s = s,
                             .basis = basis,
                             .powers = Powers::matrix_powers,
                             .powers_depth = depth};
    };
    using enum Basis;
    const Scaling jacobi = Scaling::jacobi, none = Scaling::none;
    // Boxes of two cells, one box that is its own neighbour on every side, odd numbers of boxes, all
    // boundaries, every basis, fewer layers than powers so that a basis goes on after an exchange, blocks of
    // boxes, overlap, staged axes; singular.
    const std::vector<Variant> variants{
        {{2, 2, 2}, 2, mixed, 0.9, steps("ca_cg", 2, monomial, 0, jacobi)},
        {{1, 1, 1}, 8, periodic, 0.9, steps("ca_bicgstab", 4, newton, 8, jacobi)},
        {{3, 1, 2}, 4, dirichlet, 0.9, steps("ca_cg", 4, chebyshev, 3, jacobi)},
        {{3, 2, 1}, 4, mixed, 0.9, steps("ca_bicgstab", 3, chebyshev, 4, none), {.storage = Storage::blocks}},
        {{2, 3, 2}, 5, neumann, 0.0, steps("ca_cg", 4, newton, 3, none), {.exchange = {.overlap = true}}},
        {{2, 2, 2},
         8,
         periodic,
         0.0,
         steps("ca_bicgstab", 2, monomial, 1, jacobi),
         {.storage = Storage::blocks}},
        {{4, 2, 2},
         8,
         mixed,
         0.9,
         steps("ca_cg", 8, chebyshev, 8, jacobi),
         {.scheme = {.scheme = Scheme::staged_axes}}},
        {{3, 2, 1}, 8, dirichlet, 0.9, steps("ca_bicgstab", 4, chebyshev, 3, jacobi), {}, 2},
        {{1, 1, 1}, 16, periodic, 0.0, steps("ca_cg", 4, newton, 0, none), {.storage = Storage::blocks}, 2},
    };
    for (const Variant& variant : variants) {
        CAPTURE(variant.bottom.solver, variant.boxes, variant.width, variant.bottom.powers_depth);
        Problem problem =
            varying(variant.boxes, variant.width, variant.boundaries, variant.a, variant.dimensions);
        problem.rhs = "hash";
        std::vector<Report> reports;
        std::vector<std::vector<double>> solutions;
        std::vector<Traffic> sent;
        std::vector<Work> work;
        for (const Powers powers : {Powers::matrix_powers, Powers::fused_matrix_powers}) {
            BottomOptions bottom = variant.bottom;
            bottom.powers = powers;
            HierarchyOptions options = variant.hierarchy;
            options.bottom_box = problem.width;
            options.bottom_ghosts = powers_need(bottom, problem.width).layers;
            options.deterministic = true;
            Setup setup(problem, options);
            Level& level = setup.finest();
            if (setup.hierarchy.singular()) make_solvable(level);
            const auto krylov = make_krylov(level, setup.hierarchy.singular(), bottom);
            setup.ledger.clear();
            reports.push_back(krylov->solve(level.u, level.f));
            solutions.push_back(level.plain->read(level.u, level.layout.box_cells()));
            sent.push_back(setup.ledger.at(Op::send, 0).traffic);
            work.emplace_back();
            for (const Op op : {Op::bottom_operator, Op::bottom_vector})
                work.back() += setup.ledger.at(op, 0).work;
        }
        CHECK(reports[0].iterations > 5);
        CHECK(reports[1].iterations == reports[0].iterations);
        CHECK(reports[1].residuals == reports[0].residuals);
        CHECK(reports[1].counts.applications == reports[0].counts.applications);
        CHECK(reports[1].counts.exchanges == reports[0].counts.exchanges);
        CHECK(solutions[1] == solutions[0]);
        CHECK(sent[1] == sent[0]);
        if (!solutions[0].empty()) CHECK(work[1].bytes < work[0].bytes);
    }
}
