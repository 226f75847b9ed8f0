// Methods that rearrange another make its iterates, with a preconditioner and without.

#include <catch2/catch.hpp>

#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/bottom/level_krylov.hpp"
#include "solvers/multigrid/bottom/preconditioners.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

struct Rearranged {
    BottomOptions options;
    const char* original = "cg";
    double rounding = 1e-9;
    int step = 1;  // iterations between norms that the method knows
};

std::vector<Rearranged> rearranged() {
    std::vector<Rearranged> all;
    for (const char* const name : {"pipelined_cg", "pr_cg", "pipelined_pr_cg"})
        all.push_back({{.solver = name}});
    for (const int depth : {1, 2, 3, 5}) all.push_back({{.solver = "deep_pipelined_cg", .depth = depth}});
    for (const char* const name : {"enlarged_cg", "enlarged_orthomin", "ecg", "sre_cg"})
        all.push_back({{.solver = name, .block = 1}});
    for (const int every : {0, 1, 3})
        all.push_back({{.solver = "pipelined_bicgstab", .replace_every = every}, "bicgstab"});
    for (const auto& [s, basis] : {std::pair{1, Basis::monomial},
                                   {2, Basis::monomial},
                                   {3, Basis::monomial},
                                   {3, Basis::chebyshev},
                                   {5, Basis::chebyshev}})
        for (const char* const name : {"s_step_cg", "pipelined_s_step_cg"})
            all.push_back({{.solver = name, .s = s, .basis = basis}, "cg", 1e-7, s});
    // Rounding grows with the square of the basis's condition; a wrong formula is off by 0.5 or more.
    for (const auto& [powers, depth] : {std::pair{Powers::paired, 0},
                                        {Powers::sequential, 0},
                                        {Powers::matrix_powers, 1},
                                        {Powers::matrix_powers, 3},
                                        {Powers::fused_matrix_powers, 3},
                                        {Powers::matrix_powers, 4}})
        for (const Basis basis : {Basis::monomial, Basis::newton, Basis::chebyshev})
            for (const int s : {1, 2, 4}) {
                BottomOptions options{.solver = "ca_cg", .s = s, .basis = basis, .telescoping = false};
                options.powers = powers;
                options.powers_depth = depth;
                all.push_back({options});
                options.solver = "ca_bicgstab";
                all.push_back({options, "bicgstab", basis == Basis::monomial && s == 4 ? 1e-5 : 1e-9});
            }
    return all;
}

}  // namespace

TEST_CASE("methods make the iterates of the method that they rearrange, whatever the limit of iterations") {
    const Problem problem = GENERATE(
        values<Problem>({{.boxes = {2, 2, 2}, .width = 4, .beta = "smooth10", .alpha = "wave"},
                         {.boxes = {2, 2, 2}, .width = 4, .boundaries = dirichlet, .a = 0.0, .rhs = "hash"},
                         {.boxes = {2, 2, 2}, .width = 4, .a = 0.0, .beta = "smooth10", .rhs = "hash"}}));
    const auto kind = GENERATE(PreconditionerKind::none, PreconditionerKind::block_ic0);
    const bool plain = kind == PreconditionerKind::none;
    for (const auto& [chosen, original, rounding, step] : rearranged()) {
        const Method& method = method_named(chosen.solver);
        if (!plain && (!method.accepts_preconditioner() || exchanges_for_several(chosen.powers))) continue;
        const bool of_pairs = chosen.solver.starts_with("ca_");  // in many ways, each tried once
        if (of_pairs && problem.a == 0.0) continue;
        Setup setup(problem, {.bottom_box = 4, .bottom_ghosts = powers_need(chosen, 4).layers});
        Level& level = setup.finest();
        const auto M = make_preconditioner(setup.hierarchy, kind, {}, 0);
        for (const Norm norm : plain ? std::vector{Norm::residual} : method.norms)
            for (const int iterations : {1, 2, 3, 4, 7, 12}) {
                if (of_pairs && iterations != 7) continue;
                if (!plain && iterations > 7) continue;  // deep pipelines leave CG where M has all but solved
                CAPTURE(chosen.solver, name(chosen.basis), chosen.s, chosen.depth, name(chosen.powers),
                        chosen.powers_depth, name(norm), iterations, plain, problem.a);
                const auto solved = [&](BottomOptions options) {
                    options.tolerance = 1e-30;
                    options.max_iterations = iterations;
                    options.max_restarts = 0;
                    options.scaling = plain ? Scaling::jacobi : Scaling::none;
                    options.norm = norm;
                    const auto krylov = make_krylov(level, problem.singular(), options, M.get());
                    const Report report = krylov->solve(level.u, level.f);
                    return std::pair(report, setup.gather(level.u));
                };
                const auto [expected, u] = solved({.solver = original});
                auto [report, difference] = solved(chosen);
                for (std::size_t n = 0; n < u.values.size(); ++n) difference.values[n] -= u.values[n];
                CHECK(setup.agreed(max_norm(difference)) <= rounding * setup.agreed(max_norm(u)));
                CHECK(report.iterations == iterations);
                REQUIRE(report.residuals.size() == expected.residuals.size());
                for (int k = 0; k < iterations; k += step) {
                    const auto n = static_cast<std::size_t>(k);
                    CHECK(relative(report.residuals[n], expected.residuals[n]) < 100 * rounding);
                }
                CHECK(relative(report.residuals.back(), expected.residuals.back()) < 100 * rounding);
            }
    }
}
