// Chebyshev's iteration: its residuals are those of an independent program, its bound holds, and it reduces
// nothing.

#include <catch2/catch.hpp>

#include "solvers/multigrid/bottom/level_krylov.hpp"
#include "tests/solvers/golden_file.hpp"
#include "tests/solvers/krylov/one_level.hpp"

using namespace keel;
using namespace keel::test;

TEST_CASE("Chebyshev's iteration has the golden residuals after any number of steps", "[golden]") {
    int cases = 0;
    const auto file = golden("krylov_new.json");
    for (const auto& json : file.at("cases")) {
        if (json.at("solver") != "chebyshev") continue;
        ++cases;
        INFO(json.at("problem").dump());
        const bool scaled = json.at("problem").value("jacobi", 0) == 1;
        OneLevel system(problem_of(json.at("problem"), 2),
                        scaled ? DiagonalScaling::symmetric : DiagonalScaling::none);
        const Spectrum bounds{json.at("options").at("lo"), json.at("options").at("hi")};
        Restarted solver(system.A, made("chebyshev", {}, bounds));
        for (const int k : {1, 2, 7, 20}) {
            CAPTURE(k);
            const Report report = system.solve(solver, {1e-30, k, 0});
            CHECK(report.outcome == Outcome::iteration_limit);
            CHECK(report.iterations == k);
            CHECK(relative(report.true_residual, json.at("hist").at(static_cast<std::size_t>(k - 1))) < 1e-8);
            CHECK(report.true_residual <= report.residuals.back() * (1 + 1e-12));
            CHECK(report.counts.applications == k + 1);
            CHECK(report.counts.reductions == 2);
        }
        const int steps = json.at("options").at("k");
        if (steps >= 60) continue;  // the golden program's limit
        const Report report = system.solve(solver, {1e-3, 100, 0});
        CHECK(report.succeeded());
        CHECK(report.iterations == steps);
    }
    CHECK(cases == 6);
}

TEST_CASE(
    "Chebyshev's iteration solves where an end of the interval is missed, by restarts, and says where it "
    "cannot") {
    const Problem problem{
        .boxes = {2, 2, 2}, .width = 4, .boundaries = dirichlet, .a = 0.0, .beta = "smooth10", .rhs = "hash"};
    Setup setup(problem, {.bottom_box = problem.width});
    Level& level = setup.finest();
    BottomOptions options{.solver = "chebyshev", .tolerance = 1e-6, .max_iterations = 2000};
    const auto solved = [&] { return make_krylov(level, false, options)->solve(level.u, level.f); };
    options.spectrum =
        SpectrumFrom::estimate;  // the largest and the least Ritz value, both inside the spectrum
    CHECK(solved().succeeded());
    options.spectrum = SpectrumFrom::automatic;  // no positive lower bound follows from the rows
    const Report none = solved();
    CHECK(none.outcome == Outcome::breakdown);
    CHECK(none.vanished == "lowest eigenvalue");
    CHECK_FALSE(none.met);
    options.spectrum = SpectrumFrom::given;
    options.spectrum_lowest = 0.5;  // far above the least: much is left of every run
    options.spectrum_highest = 2.0;
    options.max_restarts = 100;
    const Report restarted = solved();
    CHECK(restarted.met);
    CHECK(restarted.restarts > 2);
}
