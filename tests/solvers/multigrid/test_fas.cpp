// Full approximation multigrid: known answers of a sweep and a cycle, histories of an independent program,
// every boundary.

#include <catch2/catch.hpp>
#include <cmath>

#include "solvers/multigrid/nonlinear/fas.hpp"
#include "solvers/systems/grid_system.hpp"
#include "tests/solvers/golden_file.hpp"

using namespace keel;
using namespace keel::test;

namespace {

Problem unit_cube(const nlohmann::json& json) {
    Problem problem{.boxes = {2, 2, 2}, .boundaries = dirichlet, .a = 0, .b = 1, .rhs = "tri"};
    problem.width = json.at("N").get<int>() / 2;
    problem.beta = json.value("beta", "const");
    return problem;
}

MultigridOptions cycle_options(const nlohmann::json& json) {
    MultigridOptions options;
    options.pre = options.post = json.at("nu");
    options.interpolation = json.at("interp") == "pc" ? Interpolation::constant : Interpolation::linear;
    return options;
}

double value_of_f(const nlohmann::json& json) {
    const std::string text = json.value("f", "0");
    return text == "0" ? 0.0 : std::stod(text.substr(0, text.find('*')));
}

using Wanted = std::function<bool(const nlohmann::json&)>;

void try_cases(const Wanted& wanted) {
    const auto cases = golden("fas.json").at("cases");
    for (const auto& want : cases) {
        if (!wanted(want)) continue;
        const Problem problem = unit_cube(want);
        if (!enough_boxes(problem.boxes)) return;
        const int m = want.at("m");
        CAPTURE(want.at("N"), want.at("kappa"), want.at("nu"), want.at("interp"), m);
        Setup setup(problem, {.bottom_box = want.at("Nc").get<int>() / 2, .all_ghosts = true});
        GridSystem vectors = system_of(setup.finest());
        const Field f = vectors.make_vector();
        const Field u = vectors.make_vector();
        setup.set(f, [&](const Index& cell) { return value_of_f(want) * problem.f(cell); });
        FasMap fas(setup.hierarchy, cycle_options(want), want.at("coarse_sweeps"),
                   {ReactionKind::exponential, want.at("kappa")}, f);
        Anderson anderson(vectors, {.depth = m,
                                    .orthogonalisation = "mgs",
                                    .max_condition = 0,
                                    .tolerance = want.at("tol"),
                                    .max_iterations = 40});
        const AndersonReport report = anderson.solve(u, fas);
        const auto& hist = want.at("hist");
        if (report.converged())
            CHECK(std::abs(report.iterations - want.at("cycles").get<int>()) <= (m == 0 ? 0 : 1));
        // The largest change of an entry by rounding alone.
        const double floor =
            4e-16 * setup.finest().gershgorin_bound * vectors.max_norm(u) / want.at("r0_max").get<double>();
        for (std::size_t i = 0; i < hist.size() && i < report.history.size(); ++i) {
            const double entry = hist[i];
            if (m == 0 ? entry > 1e-8 : i < 5)
                CHECK(std::abs(report.history[i] - entry) <= (m == 0 ? 1e-7 : 1e-6) * entry + floor);
        }
        if (!report.converged()) continue;
        CHECK(
            vectors.max_norm(u) ==
            Approx(std::max(want.at("u_max").get<double>(), -want.at("u_min").get<double>())).epsilon(1e-7));
        CHECK(setup.agreed(setup.gather(u)({1, 2, 3})) ==
              Approx(want.at("u_123").get<double>()).epsilon(1e-7));
    }
}

}  // namespace

TEST_CASE("one nonlinear sweep and one full approximation cycle are those of an independent program [golden]",
          "[golden]") {
    const auto answers = golden("fas.json").at("known_answers");
    for (const auto& want : answers) {
        const Problem problem = unit_cube(want);
        if (!enough_boxes(problem.boxes)) return;
        CAPTURE(want.at("interp"));
        Setup setup(problem, {.bottom_box = 2, .all_ghosts = true});
        GridSystem vectors = system_of(setup.finest());
        const Field f = vectors.make_vector();
        const Field u = vectors.make_vector();
        const Field g = vectors.make_vector();
        FasMap fas(setup.hierarchy, cycle_options(want), 60, {ReactionKind::exponential, want.at("kappa")},
                   f);
        const auto check_answer = [&](Field field, const nlohmann::json& answer) {
            const Whole whole = setup.gather(field);
            for (const auto& [key, value] : answer.items()) {
                CAPTURE(key);
                const double got = key == "u_l2"
                                       ? vectors.norm(field) / std::sqrt(512.0)
                                       : setup.agreed(whole({key[2] - '0', key[3] - '0', key[4] - '0'}));
                CHECK(got == Approx(value.get<double>()).epsilon(1e-11));
            }
        };
        fas.evaluate(g, u);
        check_answer(g, want.at("cycle"));
        fas.smooth(u, 1);
        check_answer(u, want.at("sweep"));
    }
}

TEST_CASE(
    "full approximation cycles, with and without acceleration, are those of an independent program [golden]",
    "[golden]") {
    try_cases([](const nlohmann::json& want) {
        const int m = want.at("m");
        return want.at("N") == 16 && (m == 0 || m == 2) &&
               (want.at("beta") != "const" || (want.at("kappa") == -6.0 && want.at("nu") == 2));
    });
}

TEST_CASE("all full approximation cycles are those of an independent program [golden]", "[.][nightly]") {
    try_cases([](const nlohmann::json&) { return true; });
}

TEST_CASE("full approximation solves with every boundary, and sooner from full multigrid") {
    const auto boundaries = GENERATE(periodic, dirichlet, neumann, mixed);
    const Problem problem{
        .boxes = {2, 1, 1}, .width = 8, .boundaries = boundaries, .beta = "ball10", .exactly_periodic = true};
    if (!enough_boxes(problem.boxes)) return;
    CAPTURE(boundaries);
    Setup setup(problem, {.bottom_box = 2, .all_ghosts = true});
    GridSystem vectors = system_of(setup.finest());
    const Reaction phi{ReactionKind::exponential, 0.7};
    MultigridOptions options;
    options.interpolation = Interpolation::linear;
    FasMap fas(setup.hierarchy, options, 30, phi, setup.finest().f);
    const Field u = vectors.make_vector();
    Anderson anderson(vectors, {.depth = 2, .tolerance = 1e-10, .max_iterations = 40});
    const AndersonReport plain = anderson.solve(u, fas);
    CHECK(plain.converged());
    // By the formulas, without a kernel of the solver's.
    const Whole solution = setup.gather(u);
    const Whole f = setup.gather(setup.finest().f);
    if (setup.comm.rank() == 0) {
        Whole rest = residual_by_formula(problem, solution, f);
        for (std::size_t n = 0; n < rest.values.size(); ++n) rest.values[n] -= phi(solution.values[n]);
        CHECK(max_norm(rest) <= 1e-9 * max_norm(f) + 1e-12);
    }
    fas.start(u);
    const AndersonReport started = anderson.solve(u, fas);
    CHECK(started.converged());
    CHECK(started.history.front() < 0.5);
    CHECK(started.iterations <= plain.iterations);
}

TEST_CASE("beyond the turning point of Bratu's problem nothing is called a solution") {
    const Problem problem{.boxes = {2, 1, 1}, .width = 8, .boundaries = dirichlet, .a = 0, .b = 1};
    if (!enough_boxes(problem.boxes)) return;
    Setup setup(problem, {.bottom_box = 2, .all_ghosts = true});
    GridSystem vectors = system_of(setup.finest());
    const Field f = vectors.make_vector();
    const Field u = vectors.make_vector();
    FasMap fas(setup.hierarchy, {}, 30, {ReactionKind::exponential, -100.0}, f);
    for (const int depth : {0, 3}) {
        vectors.fill(u, 0.0);
        const AndersonReport report = Anderson(vectors, {.depth = depth, .max_iterations = 30}).solve(u, fas);
        CHECK_FALSE(report.converged());
        CHECK(report.outcome == AndersonOutcome::not_finite);
    }
}
