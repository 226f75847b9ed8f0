// Anderson acceleration: histories, evaluations and all-reduces of an independent program, its outcomes, and
// multigrid cycles.

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "solvers/anderson/mixture.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/krylov/sparse_krylov.hpp"
#include "solvers/multigrid/nonlinear/fixed_points.hpp"
#include "solvers/systems/grid_system.hpp"
#include "tests/solvers/golden_file.hpp"
#include "tests/solvers/nonlinear/row_space.hpp"

using namespace keel;
using namespace keel::test;

namespace {

// Options by the golden files' key "variant"; the file of two dimensions has "kind".
AndersonOptions anderson_options(const nlohmann::json& json) {
    const std::string variant = json.value("variant", json.value("kind", ""));
    AndersonOptions options{.depth = json.at("m"),
                            .orthogonalisation = "mgs",
                            .max_condition = 0,
                            .tolerance = json.at("tol"),
                            .max_iterations = 300};
    if (json.at("problem") == "em" && variant == "Picard") options.max_iterations = 60;
    if (json.at("problem") != "em" && variant.rfind("A-AA", 0) == 0) options.max_iterations = 60;
    for (const auto& [word, name] : {std::pair{"mgs", "mgs"},
                                     {"icwy", "icwy"},
                                     {"icwy2", "icwy_rotated"},
                                     {"cgs2", "cgs2"},
                                     {"dcgs2", "dcgs2"},
                                     {"fused icwy2", "icwy_fused"},
                                     {"fused dcgs2", "dcgs2_fused"}})
        if (variant == word) options.orthogonalisation = name;
    if (variant.rfind("A-AA", 0) == 0) options.inner = AndersonOptions::picard;
    if (variant.rfind("C-AA", 0) == 0) options.inner = variant.at(8) - '0';
    if (variant.rfind("beta", 0) == 0) options.damping = 0.7;
    if (variant.rfind("condmax", 0) == 0) options.max_condition = 1e5;
    return options;
}

// Histories to 1e-6 where they are above that, the first so many entries; iterations within a slack.
void check_history(const nlohmann::json& want, const AndersonReport& report, std::size_t entries) {
    const auto& hist = want.at("hist");
    for (std::size_t i = 0; i < std::min(entries, hist.size()); ++i)
        if (hist[i].is_number() && hist[i].get<double>() > 1e-6 && hist[i].get<double>() < 1e10)
            CHECK(report.history.at(i) == Approx(hist[i].get<double>()).epsilon(1e-6));
}

void check_case(const nlohmann::json& want, const AndersonOptions& options, const AndersonReport& report,
                std::size_t entries) {
    check_history(want, report, entries);
    const int its = want.at("its");
    const bool alternates = options.inner == AndersonOptions::picard;
    if (want.at("conv").get<bool>()) {
        const int slack = alternates ? its / 4 : want.at("problem") == "heat2" ? 3 : 1;
        CHECK(std::abs(report.iterations - its) <= slack);
        if (!alternates) CHECK(report.converged());
    }
    if (report.converged()) CHECK(report.true_residual <= Anderson::slack * options.tolerance);
    if (report.iterations != its || options.depth == 0) return;
    CHECK(report.evaluations == want.at("evals").get<int>());
    if (want.contains("qr_reductions"))
        CHECK(report.orthogonalisation.reductions == want.at("qr_reductions").get<long>());
    if (want.contains("qr_words") &&
        report.orthogonalisation.reductions == want.at("qr_reductions").get<long>())
        CHECK(report.orthogonalisation.words == want.at("qr_words").get<long>());
    if (options.max_condition > 0 || report.dropped > 0 || report.dependent > 0) return;
    const QRCost predicted = Anderson::predicted(options, report.iterations);
    CHECK(report.orthogonalisation.reductions == predicted.reductions);
    CHECK(report.orthogonalisation.words == predicted.words);
}

// -Laplace on n x n interior vertices; u = sin^2 sin^2, and a Poisson problem solved by conjugate gradients.
class VertexMap : public FixedPoint {
  public:
    VertexMap(RowSpace& space, int n, const Reaction& phi, bool heat)
        : space_(space),
          phi_(phi),
          f_(space.system.make_vector()),
          rows_(space.make([](std::int64_t) { return 1.0; })),
          b_(f_) {
        const auto x = [n](std::int64_t k) { return static_cast<double>(k + 1) / (n + 1); };
        b_ = space.make([&](std::int64_t row) {
            if (!heat) return 0.0;
            constexpr double pi = std::numbers::pi;
            const double sx = std::pow(std::sin(pi * x(row / n)), 2);
            const double sy = std::pow(std::sin(pi * x(row % n)), 2);
            const double laplace =
                2 * pi * pi * (std::cos(2 * pi * x(row / n)) * sy + std::cos(2 * pi * x(row % n)) * sx);
            return -laplace + phi(sx * sy);
        });
        BottomOptions options;
        options.solver = "cg";
        options.scaling = Scaling::none;
        options.tolerance = 1e-14;
        options.max_iterations = 2000;
        options.max_restarts = 5;
        solver_ = make_krylov(space.matrix, space.comm, options);
    }
    void evaluate(Vector g, Vector u) override {
        auto& operations = space_.matrix.operations();
        operations.add_reaction(f_, b_, -1, phi_, u);
        operations.multiply(f_, f_, rows_);  // zero behind the last row
        solver_->solve(g, f_);
    }

  private:
    RowSpace& space_;
    Reaction phi_;
    Field f_, rows_, b_;
    std::unique_ptr<BottomSolver> solver_;
};

EntriesOfRow five_points(int n) {
    const double weight = (n + 1.0) * (n + 1.0);
    return [=](std::int64_t row) {
        std::map<std::int64_t, double> entries{{row, 4 * weight}};
        if (row % n > 0) entries[row - 1] = -weight;
        if (row % n < n - 1) entries[row + 1] = -weight;
        if (row >= n) entries[row - n] = -weight;
        if (row + n < n * n) entries[row + n] = -weight;
        return entries;
    };
}

Reaction reaction_of(const std::string& problem) {
    if (problem == "heat1") return {ReactionKind::heat_1, -1};
    if (problem == "heat2") return {ReactionKind::heat_2, -1};
    return {ReactionKind::exponential, -6.7};
}

// Maps of the plane, on vectors of two rows.
class SmallMap : public FixedPoint {
  public:
    using Function = std::function<std::array<double, 2>(double x, double y)>;
    SmallMap(RowSpace& space, Function function) : space_(space), function_(std::move(function)) {}
    void evaluate(Vector g, Vector u) override {
        const std::vector<double> mine = space_.read(u);
        double x = 0, y = 0;
        for (std::size_t r = 0; r < mine.size(); ++r)
            (space_.partition.first(space_.comm.rank()) + static_cast<std::int64_t>(r) == 0 ? x : y) =
                mine[r];
        const auto next = function_(space_.comm.sum(x), space_.comm.sum(y));
        space_.matrix.assign(g, [&](std::int64_t row) { return next[static_cast<std::size_t>(row)]; });
        ++evaluations;
    }
    int evaluations = 0;

  private:
    RowSpace& space_;
    Function function_;
};

AndersonReport solved(RowSpace& space, SmallMap& map, const AndersonOptions& options, double x, double y) {
    Anderson anderson(space.system, options);
    const Field u = space.make([=](std::int64_t row) { return row == 0 ? x : y; });
    return anderson.solve(u, map);
}

// Chooses cases of a golden file: some, in seconds, or all of them, in minutes.
using WantedVariant = std::function<bool(const std::string& problem, const std::string& variant)>;

void try_square(const WantedVariant& wanted) {
    const int n = 31;
    RowSpace space(n * n, five_points(n));
    const auto cases = in_turns(golden("anderson_2d.json").at("cases"));
    for (const auto& want : cases) {
        const std::string problem = want.at("problem");
        if (!wanted(problem, want.at("kind"))) continue;
        const AndersonOptions options = anderson_options(want);
        CAPTURE(problem, want.at("kind"));
        VertexMap map(space, n, reaction_of(problem), problem != "bratu");
        Anderson anderson(space.system, options);
        const Field u = space.system.make_vector();
        const AndersonReport report = anderson.solve(u, map);
        check_case(want, options, report, 6);
        if (want.contains("xmax") && report.converged())
            CHECK(space.system.max_norm(u) == Approx(want.at("xmax").get<double>()).epsilon(1e-8));
    }
}

void try_cube(const WantedVariant& wanted) {
    const Problem problem{
        .boxes = {2, 2, 2}, .width = 8, .boundaries = dirichlet, .a = 0, .b = 1, .rhs = "point"};
    if (!enough_boxes(problem.boxes)) return;
    Setup setup(problem, {.all_ghosts = true});
    Level& level = setup.finest();
    GridSystem vectors = system_of(level);
    const Field f = vectors.make_vector();
    const Field u = vectors.make_vector();
    const MultigridOptions multigrid{
        .interpolation = Interpolation::linear, .tolerance = 1e-12, .max_cycles = 60};
    const auto cases = in_turns(golden("anderson_3d.json").at("cases"));
    for (const auto& want : cases) {
        const std::string name = want.at("problem");
        if (name == "em" || !wanted(name, want.at("variant"))) continue;
        const AndersonOptions options = anderson_options(want);
        CAPTURE(name, want.at("variant"));
        const Reaction phi = reaction_of(name);
        setup.set(f, [&](const Index& cell) {
            if (name == "bratu") return 0.0;
            constexpr double pi = std::numbers::pi;
            std::array<double, 3> s{}, c{};
            for (std::size_t d = 0; d < 3; ++d) {
                s[d] = std::pow(std::sin(pi * problem.centre(cell)[d]), 2);
                c[d] = 2 * pi * pi * std::cos(2 * pi * problem.centre(cell)[d]);
            }
            return -(c[0] * s[1] * s[2] + s[0] * c[1] * s[2] + s[0] * s[1] * c[2]) + phi(s[0] * s[1] * s[2]);
        });
        SolveMap map(setup.hierarchy, multigrid, BottomOptions{}, phi, f);
        vectors.fill(u, 0.0);
        Anderson anderson(vectors, options);
        const AndersonReport report = anderson.solve(u, map);
        check_case(want, options, report, 5);
        if (report.converged() && options.inner != AndersonOptions::picard)
            CHECK(vectors.max_norm(u) == Approx(want.at("x_max").get<double>()).epsilon(1e-8));
        if (name == "heat2" && options.depth == 0)
            CHECK((report.outcome == AndersonOutcome::not_finite ||
                   report.outcome == AndersonOutcome::diverged));
    }
}

void try_mixture(const WantedVariant& wanted) {
    const Problem problem{.boxes = {2, 2, 2}, .width = 3};
    if (!enough_boxes(problem.boxes)) return;
    Setup setup(problem, {.bottom_box = 3});
    Level& level = setup.finest();
    GridSystem vectors = system_of(level);
    Mixture mixture(*level.plain, *level.reduction, 100000);
    const Field u = vectors.make_vector();
    const auto cases = golden("anderson_3d.json").at("cases");
    for (const auto& want : cases) {
        if (want.at("problem") != "em" || !wanted("em", want.at("variant"))) continue;
        CAPTURE(want.at("variant"));
        const AndersonOptions options = anderson_options(want);
        mixture.set(u, Mixture::start);
        Anderson anderson(vectors, options);
        const AndersonReport report = anderson.solve(u, mixture);
        check_case(want, options, report, 5);
        CHECK(report.converged() == want.at("conv").get<bool>());
        if (!report.converged()) continue;
        const auto means = mixture.means(u);
        CHECK(means[0] == Approx(want.at("x_0").get<double>()).margin(1e-6));
        CHECK(means[1] == Approx(want.at("x_max").get<double>()).margin(1e-6));
    }
}

}  // namespace

TEST_CASE("heat takes the iterations of an independent program [golden]", "[golden]") {
    try_square([](const std::string& problem, const std::string& kind) {
        return problem == "heat1" && kind == "icwy2";
    });
    try_cube([](const std::string& problem, const std::string& variant) {
        return problem == "heat1" && (variant == "fused dcgs2" || variant == "beta=0.7" ||
                                      variant == "condmax=1e5" || variant.rfind("C-AA mN=1", 0) == 0);
    });
}

TEST_CASE("all problems take the iterations of an independent program by every variant [golden]",
          "[.][nightly]") {
    const WantedVariant all = [](const std::string&, const std::string&) { return true; };
    try_square(all);
    try_cube(all);
    try_mixture(all);
}

// KINSOL tests max|u_{i+1} - u_i|; its histories are of max|G(u) - u|.
TEST_CASE("all problems take the evaluations of KINSOL by every method that it has [golden]",
          "[.][nightly]") {
    const int n = 62;
    RowSpace space(n * n, five_points(n));
    const auto cases = golden("kinsol.json").at("cases");
    for (const auto& want : cases) {
        const std::string problem = want.at("problem");
        AndersonOptions options{.depth = want.at("m"),
                                .orthogonalisation = want.at("orth"),
                                .max_condition = 0,
                                .tolerance = want.at("tol"),
                                .max_iterations = 300};
        CAPTURE(problem, options.orthogonalisation);
        VertexMap map(space, n, reaction_of(problem), problem != "bratu");
        const Field u = space.system.make_vector();
        const AndersonReport report = Anderson(space.system, options).solve(u, map);
        CHECK(report.converged());
        CHECK(std::abs(report.evaluations - want.at("gcalls").get<int>()) <= (problem == "heat2" ? 3 : 1));
        CHECK(space.system.max_norm(u) == Approx(want.at("max_u").get<double>()).epsilon(1e-8));
        options.test = AndersonTest::residual;
        options.max_iterations = 5;
        space.system.fill(u, 0.0);
        check_history(want, Anderson(space.system, options).solve(u, map), 5);
    }
}

TEST_CASE("the means of a mixture take the iterations of an independent program [golden]", "[golden]") {
    try_mixture([](const std::string&, const std::string& variant) {
        return variant == "icwy2" || variant == "fused icwy2" || variant == "A-AA p=2";
    });
}

TEST_CASE("samples of a mixture are the quantiles of its distributions, whoever has them") {
    CHECK(normal_quantile(0.5) == Approx(0).margin(1e-15));
    CHECK(normal_quantile(0.975) == Approx(1.959963984540054).epsilon(1e-14));
    CHECK(normal_quantile(1e-9) == Approx(-5.997807015007773).epsilon(1e-13));
    for (const double p : {1e-12, 0.001, 0.2, 0.7, 0.9999})
        CHECK(0.5 * std::erfc(-normal_quantile(p) / std::numbers::sqrt2) == Approx(p).epsilon(1e-13));
    CHECK(Mixture::samples_of(0, 101) + Mixture::samples_of(1, 101) + Mixture::samples_of(2, 101) == 101);
    CHECK(Mixture::samples_of(2, 100000) == 40000);
}

TEST_CASE("V-cycles with acceleration around them take fewer cycles, and without it are multigrid") {
    Problem problem{.boxes = {2, 2, 2}, .width = 8, .rhs = "hash"};
    const bool singular = GENERATE(false, true);
    if (singular) problem.a = 0;
    if (!enough_boxes(problem.boxes)) return;
    Setup setup(problem);
    const MultigridOptions options{.pre = 1, .post = 1, .tolerance = 1e-9};
    const SolveReport plain = Multigrid(setup.hierarchy, options, BottomOptions{}).solve();
    Level& level = setup.finest();
    GridSystem vectors = system_of(level);
    const Field u = vectors.make_vector();
    CycleMap map(setup.hierarchy, options, BottomOptions{});
    int fewest = 0;
    for (const int depth : {0, 1, 5}) {
        CAPTURE(depth);
        vectors.fill(u, 0.0);
        Anderson anderson(vectors, {.depth = depth, .tolerance = 1e-9});
        const AndersonReport report = anderson.solve(u, map);
        CHECK(report.converged());
        CHECK(report.true_residual <= 1e-9);
        CHECK(report.history.size() == static_cast<std::size_t>(report.iterations) + 1);
        if (depth == 0) {
            CHECK(std::abs(report.iterations - plain.cycles) <= 1);
            for (std::size_t i = 0; i < 6; ++i)
                CHECK(report.history[i] == Approx(plain.residuals[i]).epsilon(0.05));
            fewest = report.iterations;
            continue;
        }
        CHECK(report.iterations < fewest);
        fewest = report.iterations;
    }
}

TEST_CASE("every outcome has its name") {
    RowSpace space(2);
    const auto outcome = [&](const AndersonOptions& options, const SmallMap::Function& function) {
        SmallMap map(space, function);
        return solved(space, map, options, 0.1, 0.2);
    };
    const auto contracts = [](double x, double y) {
        return std::array{0.5 * std::cos(y), 0.3 * x * x + 0.2};
    };
    for (const auto test : {AndersonTest::step, AndersonTest::residual, AndersonTest::residual_2}) {
        const AndersonReport report = outcome({.depth = 2, .test = test}, contracts);
        CHECK(report.outcome == AndersonOutcome::converged);
        CHECK(report.true_residual < 1e-9);
        CHECK(report.iterations == static_cast<int>(report.history.size()));
    }
    CHECK(outcome({.depth = 2, .max_iterations = 3}, contracts).outcome == AndersonOutcome::iteration_limit);
    const auto expands = [](double x, double y) { return std::array{1e4 * x + y, 1e4 * y - 1}; };
    CHECK(outcome({.depth = 0}, expands).outcome == AndersonOutcome::diverged);
    int calls = 0;
    const auto breaks = [&](double x, double y) {
        return std::array{++calls == 3 ? std::nan("") : 0.5 * x + 1, 0.7 * y + x * x};
    };
    const AndersonReport broken = outcome({.depth = 1}, breaks);
    CHECK(broken.outcome == AndersonOutcome::not_finite);
    CHECK(broken.iterations == 3);
    // Steps that become small far from a fixed point, of which there is none.
    int evaluation = 0;
    const auto creeps = [&](double x, double y) {
        return std::array{x + (++evaluation < 2 ? 1e-13 : 1.0), y};
    };
    CHECK(outcome({.depth = 0}, creeps).outcome == AndersonOutcome::not_verified);
    // A damped step is as small as one likes, and what it leaves is not: up to ten times the tolerance are
    // believed.
    for (const auto& [left, damping, wanted] :
         {std::tuple{9.0, 0.1, AndersonOutcome::converged}, {11.0, 0.05, AndersonOutcome::not_verified}}) {
        const double residual = left * 1e-6;
        const auto drifts = [=](double x, double y) { return std::array{x + residual, y}; };
        const AndersonReport report = outcome({.depth = 0, .damping = damping, .tolerance = 1e-6}, drifts);
        CHECK(report.outcome == wanted);
        CHECK(report.iterations == 1);
        CHECK(report.true_residual == Approx(residual).epsilon(1e-6));
    }
}

TEST_CASE("a map that repeats itself is no division by zero, and no difference is taken twice") {
    RowSpace space(2);
    for (const Orthogonaliser& row : orthogonalisers()) {
        CAPTURE(row.name);
        SmallMap constant(space, [](double, double) { return std::array{0.25, -3.0}; });
        AndersonReport report =
            solved(space, constant,
                   {.depth = 2, .orthogonalisation = row.name, .tolerance = 0, .max_iterations = 6}, 1, 1);
        CHECK(report.converged());  // to no difference at all
        CHECK(report.true_residual == 0);
        // Two unknowns have two independent differences: they solve a linear map.
        SmallMap linear(space, [](double x, double y) { return std::array{2 * x + y - 1, 0.5 * x - 3 * y}; });
        report = solved(space, linear, {.depth = 2, .orthogonalisation = row.name, .max_condition = 0}, 5, 7);
        CHECK(report.converged());
        CHECK(report.iterations <= 5);
        // With one column the oldest goes before each.
        SmallMap again(space, [](double x, double y) {
            return std::array{0.5 * std::cos(y), 0.3 * x * x + 0.2};
        });
        CHECK(solved(space, again, {.depth = 1, .orthogonalisation = row.name}, 0, 0).converged());
    }
}

TEST_CASE("icwy around mgs goes on as mgs in both, with the all-reduces of icwy outside") {
    RowSpace space(2);
    const auto function = [](double x, double y) { return std::array{0.5 * std::cos(y), 0.3 * x + 0.4 * y}; };
    const auto ends = [&](const char* outer, int inner) {
        SmallMap map(space, function);
        return solved(space, map,
                      {.depth = 2, .orthogonalisation = outer, .inner = inner, .max_iterations = 5}, 1, 1);
    };
    const AndersonReport pair = ends("icwy/mgs", 1);
    const AndersonReport mgs = ends("mgs", 1);
    REQUIRE(pair.history.size() == mgs.history.size());
    for (std::size_t i = 0; i < 3; ++i) CHECK(pair.history[i] == Approx(mgs.history[i]).epsilon(1e-6));
    const auto cost = [](const char* methods) {
        return Anderson::predicted({.depth = 5, .orthogonalisation = methods, .inner = 1}, 9);
    };
    CHECK(cost("icwy/mgs") == cost("icwy"));
    CHECK_FALSE(cost("icwy/mgs") == cost("mgs"));
}

TEST_CASE("alternating and damped iterations are Picard's where they say so") {
    RowSpace space(2);
    const auto function = [](double x, double y) { return std::array{0.5 * std::cos(y), 0.3 * x + 0.4 * y}; };
    const auto first = [&](AndersonOptions options) {
        options.max_iterations = 4;
        options.tolerance = 0;
        SmallMap map(space, function);
        return solved(space, map, options, 1, 1).history;
    };
    const auto picard = first({.depth = 0});
    const auto same = [&](const std::vector<double>& history) {
        int count = 0;
        while (count < 4 && history[static_cast<std::size_t>(count)] ==
                                Approx(picard[static_cast<std::size_t>(count)]).epsilon(1e-12))
            ++count;
        return count;
    };
    CHECK(same(first({.depth = 2})) == 1);
    CHECK(same(first({.depth = 2, .inner = AndersonOptions::picard})) == 2);
    CHECK(first({.depth = 0, .damping = 0.25})[0] == Approx(0.25 * picard[0]));
    CHECK_THROWS(Anderson(space.system, {.damping = 1.5}));
}
