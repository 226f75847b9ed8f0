// s-step conjugate gradients by blocks of directions, pipelined and not: golden histories, CG's iterates,
// what is in flight, and no false claim where the basis fails.

#include <catch2/catch.hpp>

#include "tests/solvers/golden_file.hpp"
#include "tests/solvers/krylov/one_level.hpp"

using namespace keel;
using namespace keel::test;

namespace {

// A system, and the bounds that the golden file's Chebyshev bases are for.
struct BoundedSystem : OneLevel {
    using OneLevel::OneLevel;

    Spectrum bounds() const {
        if (scaling == DiagonalScaling::symmetric) return {2 - level.jacobi_bound, level.jacobi_bound};
        double least = setup.problem.a_alpha({0, 0, 0});
        for_each_index(setup.problem.cells(),
                       [&](const Index& cell) { least = std::min(least, setup.problem.a_alpha(cell)); });
        return {std::max(0.0, least), level.gershgorin_bound};
    }
    Report solve(int s, Basis basis, const Stop& stop, const std::string& method = "pipelined_s_step_cg") {
        return OneLevel::solve(made(method, {.s = s, .basis = basis}, bounds()), stop);
    }
};

}  // namespace

TEST_CASE("pipelined s-step CG matches the golden histories and counts", "[golden]") {
    int cases = 0;
    const auto file = golden("krylov_new.json");
    const double tolerance = file.at("tol");
    const auto chosen = in_turns(file.at("cases"));
    for (const auto& json : chosen) {
        if (json.at("solver") != "pipe_scg") continue;
        ++cases;
        const auto& options = json.at("options");
        const int s = options.at("s");
        INFO(json.at("problem").dump() << options.dump());
        BoundedSystem system(problem_of(json.at("problem"), 2), json.at("problem").value("jacobi", 0) == 1
                                                                    ? DiagonalScaling::symmetric
                                                                    : DiagonalScaling::none);
        const Report report = system.solve(s, named<Basis>(options.at("basis").get<std::string>()).value(),
                                           {tolerance, 2000, 8});
        CHECK(report.met == (report.true_residual <= tolerance));
        CHECK((report.outcome == Outcome::converged) == report.met);
        if (json.at("fragile").get<bool>()) continue;

        CHECK(report.met);
        const int iterations = json.at("its");
        const auto [fewest, most] = std::minmax({iterations, json.at("its_reference").get<int>()});
        CHECK(report.iterations >= fewest - s);
        CHECK(report.iterations <= most + s);
        const auto history = json.at("hist").get<std::vector<double>>();
        const auto agree8 = json.at("agree8").get<std::size_t>();
        const auto agree4 = json.at("agree4").get<std::size_t>();
        REQUIRE(report.residuals.size() > agree4 * static_cast<std::size_t>(s));
        for (std::size_t block = 0; block < agree4; ++block) {
            CAPTURE(block);
            CHECK(relative(report.residuals[(block + 1) * static_cast<std::size_t>(s)], history[block]) <
                  (block < agree8 ? 1e-6 : 1e-2));
        }
        if (report.restarts > 0 || report.iterations != iterations ||
            json.at("status").get<std::string>() != "conv(rs=0)")
            continue;
        // One all-reduce more than the golden program, |b|; a product less, the first residual.
        CHECK(report.counts.reductions == json.at("reductions").get<long>() + 1);
        CHECK(report.counts.exchanges == json.at("exchanges").get<long>() - 1);
        const long norms = system.scaling == DiagonalScaling::symmetric ? 4 : 2;
        CHECK(report.counts.words == json.at("words").get<long>() - 1 + norms);
    }
    CHECK(cases > 0);
    if (chosen.size() == file.at("cases").size()) CHECK(cases == 35);
}

TEST_CASE("s-step CG by blocks has CG's iterates, whatever the limit leaves of the last block") {
    const Problem problem{.boxes = {2, 2, 2}, .width = 4, .beta = "smooth10", .alpha = "wave", .rhs = "hash"};
    BoundedSystem system(problem, DiagonalScaling::symmetric);
    const Field x = system.A.make_vector();
    for (const int iterations : {1, 2, 3, 4, 5, 7, 8, 12}) {
        const Report cg = system.OneLevel::solve(made("cg"), {1e-30, iterations, 0});
        system.A.copy(x, system.y);
        for (const auto& [s, basis] : {std::pair{1, Basis::monomial},
                                       {2, Basis::monomial},
                                       {3, Basis::monomial},
                                       {3, Basis::chebyshev},
                                       {5, Basis::chebyshev}}) {
            CAPTURE(s, static_cast<int>(basis), iterations);
            const Report report = system.solve(s, basis, {1e-30, iterations, 0});
            CHECK(report.iterations == iterations);
            CHECK(report.residuals.size() == cg.residuals.size());
            CHECK(relative(report.residuals.back(), cg.residuals.back()) < 1e-6);
            CHECK(system.distance(x) < 1e-7);
            const int blocks = (iterations + s - 1) / s;
            CHECK(report.counts.reductions == blocks + 1 + 2);
            CHECK(report.counts.applications == s * (blocks + 2) + 1);

            const Report plain = system.solve(s, basis, {1e-30, iterations, 0}, "s_step_cg");
            CHECK(plain.iterations == iterations);
            CHECK(relative(plain.residuals.back(), cg.residuals.back()) < 1e-6);
            CHECK(system.distance(x) < 1e-7);
            // The norms after the first block and at the limit are asked for alone.
            CHECK(plain.counts.reductions == blocks + (blocks == 1 ? 1 : 2) + 2);
            CHECK(plain.counts.applications == iterations + 1);
        }
    }
}

TEST_CASE("s-step CG by blocks halves s where a space has fewer directions; pipelined has no Newton basis") {
    // Four iterations of CG exhaust it.
    BoundedSystem system({.boxes = {2, 2, 2}, .width = 4, .rhs = "tri"}, DiagonalScaling::none);
    for (const std::string method : {"pipelined_s_step_cg", "s_step_cg"}) {
        const Report report = system.solve(8, Basis::chebyshev, {1e-8, 100, 8}, method);
        CHECK(report.met);
        CHECK(report.outcome == Outcome::converged);
    }
    CHECK_THROWS_AS(system.solve(2, Basis::newton, {1e-8, 100, 8}), std::invalid_argument);
}
