// The rows of methods and smoothers: what they say of keys is what the code does.

#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <set>

#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/bottom/preconditioners.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "solvers/multigrid/smoothers/smoother.hpp"
#include "tests/solvers/krylov/one_level.hpp"

using namespace keel;
using namespace keel::test;

namespace {

BottomOptions with(const std::string& solver, int BottomOptions::*key, int value) {
    BottomOptions options;
    options.solver = solver;
    options.*key = value;
    return options;
}

}  // namespace

TEST_CASE("names of methods and of smoothers are found, once each, and others refused") {
    const std::vector<std::string> names = method_names();
    CHECK(std::set(names.begin(), names.end()).size() == methods().size());
    for (const std::string& name : names) CHECK(method_named(name).name == name);
    CHECK(default_method() == "bicgstab");
    CHECK(BottomOptions{}.solver == default_method());
    CHECK_THROWS_AS(method_named("bicgstabb"), std::invalid_argument);

    CHECK(smoother_names() == std::vector<std::string>{"gsrb", "jacobi", "chebyshev"});
    CHECK(MultigridOptions{}.smoother == "gsrb");
    CHECK_THROWS_AS(smoother_named("gauss"), std::invalid_argument);
}

TEST_CASE("a key of [bottom] that a method does not read changes nothing in its solve") {
    const std::vector<std::pair<std::string, std::function<void(BottomOptions&)>>> keys{
        {"tolerance", [](BottomOptions& o) { o.tolerance = 1e-9; }},
        {"max_iterations", [](BottomOptions& o) { o.max_iterations = 3; }},
        {"scaling", [](BottomOptions& o) { o.scaling = Scaling::none; }},
        {"preconditioner", [](BottomOptions& o) { o.preconditioner = PreconditionerKind::amg; }},
        {"max_restarts", [](BottomOptions& o) { o.max_restarts = 0; }},
        {"sweeps", [](BottomOptions& o) { o.sweeps = 7; }},
        {"depth", [](BottomOptions& o) { o.depth = 3; }},
        {"s", [](BottomOptions& o) { o.s = 2; }},
        {"basis", [](BottomOptions& o) { o.basis = Basis::chebyshev; }},
        {"telescoping", [](BottomOptions& o) { o.telescoping = false; }},
        {"gram_precision", [](BottomOptions& o) { o.gram_precision = GramPrecision::twofold; }},
        {"powers", [](BottomOptions& o) { o.powers = Powers::sequential; }},
        {"powers_depth", [](BottomOptions& o) { o.powers_depth = 1; }},
        {"small_system", [](BottomOptions& o) { o.small_system = SmallSystemBy::gauss_seidel; }},
        {"block", [](BottomOptions& o) { o.block = 2; }},
        {"splitting", [](BottomOptions& o) { o.splitting = Splitting::interleaved; }},
        {"spectrum", [](BottomOptions& o) { o.spectrum = SpectrumFrom::estimate; }},
        {"norm", [](BottomOptions& o) { o.norm = Norm::natural; }},
        {"restart", [](BottomOptions& o) { o.restart = 3; }},
        {"orthogonalisation", [](BottomOptions& o) { o.orthogonalisation = Orthogonalisation::mgs; }}};
    Setup setup(rough, {.bottom_box = 4, .deterministic = true});
    Level& level = setup.finest();
    for (const Method& row : methods()) {
        std::set<std::string> known{"solver"};
        for (const auto& [key, set] : keys) known.insert(key);
        for (const std::string& key : row.keys) CHECK(known.contains(key));
        CHECK(row.reads("solver"));

        BottomOptions plain;
        plain.solver = row.name;
        const auto solution = [&](const BottomOptions& options) {
            const auto visit = Multigrid(setup.hierarchy, {}, options).solve_bottom();
            auto values = level.plain->read(level.u, cube(rough.width));
            values.push_back(visit.iterations);
            values.push_back(static_cast<double>(visit.counts.reductions));
            return values;
        };
        const std::vector<double> expected = solution(plain);
        for (const auto& [key, set] : keys) {
            INFO(row.name << ", " << key);
            if (row.reads(key)) continue;
            BottomOptions other = plain;
            set(other);
            CHECK(solution(other) == expected);
        }
    }
}

TEST_CASE("s is lowered to the largest whose basis vectors can be independent") {
    BottomOptions four = with("ca_bicgstab", &BottomOptions::s, 4);  // 17 vectors
    CHECK_FALSE(fit(four, 17));
    CHECK(four.s == 4);
    CHECK(fit(four, 16));
    CHECK(four.s == 3);
    CHECK(fit(four, 8));
    CHECK(four.s == 1);
    CHECK_FALSE(fit(four, 4));  // not even one step: refused elsewhere
    CHECK(four.s == 1);
    BottomOptions cg = with("ca_cg", &BottomOptions::s, 4);  // 9 vectors
    CHECK(fit(cg, 8));
    CHECK(cg.s == 3);

    // Keys that change a method's iterates keep the user's values.
    BottomOptions block = with("enlarged_cg", &BottomOptions::block, 9);
    CHECK(method_named("enlarged_cg").independent->vectors(block) == 9);
    CHECK_FALSE(fit(block, 8));
    CHECK(block.block == 9);
    BottomOptions plain = with("cg", &BottomOptions::s, 4);
    CHECK_FALSE(fit(plain, 1));

    // No overflow where a deck asks for nonsense.
    const BottomOptions huge = with("ca_bicgstab", &BottomOptions::s, std::numeric_limits<int>::max());
    CHECK(method_named("ca_bicgstab").independent->vectors(huge) > 8e9);
}

TEST_CASE("words of enumerations are those of decks, in their order") {
    using Words = std::vector<std::string>;
    CHECK(words_of<Scaling>() == Words{"jacobi", "none"});
    CHECK(words_of<Basis>() == Words{"monomial", "newton", "chebyshev"});
    CHECK(words_of<GramPrecision>() == Words{"double", "double_double"});
    CHECK(words_of<Powers>() == Words{"paired", "sequential", "matrix_powers", "fused_matrix_powers"});
    CHECK(words_of<SmallSystemBy>() == Words{"cholesky", "gauss_seidel"});
    CHECK(words_of<Splitting>() == Words{"boxes", "interleaved", "slabs"});
    CHECK(words_of<Norm>() == Words{"residual", "natural", "max"});
    CHECK(words_of<Orthogonalisation>() == Words{"mgs", "cgs2", "icwy", "delayed"});
    CHECK(words_of<SpectrumFrom>() == Words{"auto", "estimate", "interval"});
    CHECK(words_of<PreconditionerKind>() == Words{"none", "amg", "v_cycle", "block_ic0"});
    CHECK(words_of<Cycle>() == Words{"V", "F"});
    CHECK(words_of<Interpolation>() == Words{"constant", "linear"});
    CHECK(words_of<Outcome>() ==
          Words{"converged", "iteration_limit", "stagnated", "breakdown", "not_tested", "on_other_ranks"});
    CHECK(words_of<Boundary>() == Words{"periodic", "dirichlet", "neumann"});
    CHECK(words_of<Placement>() == Words{"curve", "lexicographic", "round_robin", "scattered"});
    CHECK(words_of<Neighbours>() == Words{"faces", "all"});
    CHECK(words_of<GpuSync>() == Words{"per_operation", "lazy", "graphs"});
}
