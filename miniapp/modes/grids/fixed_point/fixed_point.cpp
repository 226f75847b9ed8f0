// run.mode = fixed_point: Anderson acceleration of nonlinear equations, multigrid cycles and a statistical
// iteration.

#include "miniapp/modes/grids/fixed_point/fixed_point.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "miniapp/deck/section.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

FixedPointOptions equation_of(const Deck& deck) {
    return deck.parameters.mode_options.of<FixedPointOptions>();
}
AndersonOptions acceleration_of(const Deck& deck) {
    return deck.parameters.mode_options.of<AndersonOptions>();
}

bool times_orthogonalisers(const Deck& deck) {
    return acceleration_of(deck).orthogonalisation == all_orthogonalisers;
}

std::vector<NamedSolver> solvers_of(const Deck& deck) {
    const FixedPointOptions equation = equation_of(deck);
    const bool none = times_orthogonalisers(deck) || equation.is_mixture() || equation.by_fas();
    return none ? std::vector<NamedSolver>() : solver_of_deck(deck);
}

// The cost of an iteration by the row of its orthogonalisation, with all columns there.
std::string iteration_text(const AndersonOptions& options) {
    if (options.depth == 0) return "per iteration: one evaluation of G, and the all-reduce of the test\n";
    const QRCost cost = options.outer().iteration(options.depth, options.depth);
    return fmt::format(
        "per iteration with all {} differences, by {}: {} all-reduces of {} words together, beside "
        "G and the test\n",
        options.depth, options.outer().name, cost.reductions, cost.words);
}

// Each method, the pair of section 6.5.2 of Lockhart 2023, and all.
std::vector<std::string> orthogonalisations() {
    std::vector<std::string> words = orthogonaliser_names();
    words.insert(words.end(), {"icwy/mgs", all_orthogonalisers});
    return words;
}

// The keys of the kernels alone; the others play no part there.
void restrict_to_iterations(std::vector<KeyUse>& uses) {
    const Condition iterates{"anderson.orthogonalisation", {}, {all_orthogonalisers}};
    for (KeyUse& use : uses)
        if (use.key != "comm." && use.key != "run." && use.key != "output.") use.needs.push_back(iterates);
    uses.push_back({"comm.scheme", {iterates}});
    uses.push_back({"run.map", {iterates}, "", true});
    for (const char* key : {"anderson.depth", "anderson.orthogonalisation", "problem.dimensions",
                            "problem.box", "problem.boxes_per_rank", "problem.boxes", "problem.ranks",
                            "problem.placement", "problem.storage", "multigrid.reference_path"})
        uses.push_back({key});
}

class FixedPointMode : public HierarchyMode {
  public:
    std::string name() const override { return "fixed_point"; }
    std::string meaning() const override { return "Anderson acceleration of fixed points"; }

    void add_keys(Table& table) const override {
        using Options = FixedPointOptions;
        Section<Options> problem(table, "problem", name());
        problem.choice("equation", &Options::equation,
                       "L u plus a term of u = f; mixture: means of quantiles; _random: of samples");
        problem.experts()
            .real("kappa", &Options::kappa, {}, "factor kappa of the nonlinear term")
            .needs("problem.equation", {"bratu"});
        Section<Options> run(table, "run", name());
        run.experts()
            .choice("map", &Options::map, "map G: a solve of the linear part, or one multigrid (FAS) cycle")
            .needs("problem.equation", {"bratu", "heat_1", "heat_2", "linear"});

        using Anderson = AndersonOptions;
        Section<Anderson> own(table, "anderson", name());
        own.integer("depth", &Anderson::depth, between(0, 100),
                    "differences that are kept; 0 = Picard's iteration");
        own.choice("orthogonalisation", &Anderson::orthogonalisation, orthogonalisations(),
                   "QR factorisation of differences; icwy/mgs: mgs inside; all: each timed alone");
        own.experts().real("damping", &Anderson::damping, {.lowest = 0, .highest = 1, .highest_open = false},
                           "damping of G(u) - u; 1 = none");
        own.experts().real("max_condition", &Anderson::max_condition, from(0),
                           "condition number beyond which the oldest differences are dropped; 0 = never");
        own.experts().integer_or(
            {{"none", 0}, {"picard", Anderson::picard}}, "inner", &Anderson::inner, between(1, 100),
            "inner iteration: Picard's (alternating), or accelerated by a depth (composite)");
        own.experts().choice(
            "test", &Anderson::test,
            "test: max|u_{i+1} - u_i|, max|G(u) - u| or |G(u) - u|_2; of cycles the residual");
        own.real("tolerance", &Anderson::tolerance, above(0), "value of the test that ends the iteration");
        own.experts().integer("max_iterations", &Anderson::max_iterations, at_least(1),
                              "limit on the iterations");
    }

    KeyUses keys() const override {
        const Condition solve{"run.map", {"solve"}};
        const Condition on_grid{"problem.equation", {"bratu", "heat_1", "heat_2", "linear"}};
        const Condition linear{"problem.equation", {"linear"}};
        const Condition nonlinear{"problem.equation", {"bratu", "heat_1", "heat_2"}};
        const Condition cycle{"run.map", {"cycle"}};
        const Condition gsrb{"multigrid.smoother", {"gsrb"}};
        const Condition relaxed_bottom{"bottom.solver", {relaxation().name}};
        // A cycle of full approximation smooths in its own way, also on the coarsest level.
        const std::string in_its_own_way =
            "what run.mode = fixed_point predicts is computed, and no schedule of it is written; leave it "
            "out";
        std::vector<KeyUse> uses{{"multigrid.tolerance", {nonlinear, solve}},
                                 {"multigrid.max_cycles", {nonlinear, solve}},
                                 {"multigrid.accelerator", {nonlinear, solve}},
                                 {"multigrid.cycle", {nonlinear}},
                                 {"multigrid.smoother", {nonlinear, solve}},
                                 {"multigrid.smoother", {linear}},
                                 {"multigrid.relaxation", {gsrb, nonlinear, solve}},
                                 {"multigrid.relaxation", {gsrb, linear}},
                                 {"multigrid.", {on_grid}},
                                 {"bottom.assumed_iterations", {}, in_its_own_way},
                                 {"bottom.sweeps", {nonlinear, cycle}},
                                 {"bottom.sweeps", {on_grid, relaxed_bottom}},
                                 {"bottom.", {nonlinear, solve}},
                                 {"bottom.", {linear}},
                                 {"problem.rhs", {linear}},
                                 {"problem.seed", {{"problem.equation", {"mixture_random"}}}},
                                 {"anderson.test", {solve}},
                                 {"anderson."}};
        for (const char* key :
             {"multigrid.fused_box", "multigrid.fused_half_sweeps", "multigrid.ghost_colours"})
            for (const std::vector<Condition>& needs : {std::vector{nonlinear, solve}, std::vector{linear}})
                uses.push_back({key, needs, "", true});
        const std::vector<KeyUse> of_grids = keys_of_grids();
        std::ranges::copy_if(of_grids, std::back_inserter(uses),
                             [](const KeyUse& use) { return use.key != "bottom."; });
        restrict_to_iterations(uses);
        return {uses, "plays no part in run.mode = fixed_point; leave it out"};
    }

    std::vector<NamedSolver> solvers(const Deck& deck) const override { return solvers_of(deck); }

    void check(Rules& rules, int ranks) const override {
        GridMode::check(rules, ranks);
        if (times_orthogonalisers(rules.deck())) return check_orthogonalisers(rules, ranks);
        check_equation(rules);
        check_depth(rules, ranks);
    }

    Prediction predict(const PreparedGrids& prepared, const std::vector<SchemeTable>& tables,
                       const Communicator& comm, const SharedMemory& memory, Progress&) const override {
        if (!prepared.grids().use.predicted) return {};
        return predict_fixed_point(prepared, tables, comm, memory);
    }
    void add_to_dry_run(const PreparedGrids& prepared, const Communicator& comm, DryRun& dry) const override {
        if (!prepared.grids().use.predicted)
            add_orthogonalisers(prepared, comm, dry);
        else if (comm.rank() == 0)
            dry.text += iteration_text(prepared.options<AndersonOptions>());
    }

  protected:
    GridUse use(const Deck& deck) const override { return use_of_fixed_point(deck); }
    void make_solvers(const PreparedGrids& prepared, Hierarchy& hierarchy,
                      const GridSetup& grids) const override {
        if (!grids.use.predicted) return make_orthogonalisers(prepared, hierarchy);
        const auto equation = prepared.options<FixedPointOptions>();
        PosedFixedPoint posed(hierarchy, grids, equation);
        const Anderson made(posed.vectors(), prepared.options<AndersonOptions>());
        if (!equation.is_mixture()) posed.map().evaluate(posed.u(), posed.u());
    }
    void measure(const Setting& setting, Findings& findings) const override {
        if (!setting.grids.use.predicted) return measure_orthogonalisers(setting, findings);
        measure_fixed_point(setting, findings);
    }

  private:
    static void check_equation(Rules& rules) {
        const Parameters& p = rules.parameters();
        const FixedPointOptions equation = equation_of(rules.deck());
        const std::string word = keel::name(equation.equation);
        const auto require = [&](bool holds, std::initializer_list<std::string> keys,
                                 const std::string& what) {
            rules.require(holds, keys, fmt::format("problem.equation = \"{}\": {}", word, what));
        };
        if (equation.is_mixture()) {
            require(p.problem.box % Mixture::components == 0, {"problem.box", "problem.equation"},
                    fmt::format(
                        "problem.box = {}: boxes hold whole copies of three means; choose a multiple of 3",
                        p.problem.box));
            return;
        }
        const bool whole = p.problem.shape == DomainShape::cube;
        bool walls = !whole && p.problem.outside == Outside::dirichlet;
        const auto sides =
            std::span(p.problem.boundary).first(static_cast<std::size_t>(p.problem.dimensions));
        for (const auto& [low, high] : sides)
            walls = walls || low == Boundary::dirichlet || high == Boundary::dirichlet;
        if (equation.is_heat()) {
            const bool all = std::ranges::count(sides, Sides(Boundary::dirichlet)) == p.problem.dimensions;
            require(
                all && whole, {"problem.boundary", "problem.shape", "problem.equation"},
                "its solution is zero on the boundary of a box; give problem.boundary = \"dirichlet\" and "
                "problem.shape = \"cube\"");
            require(p.problem.a == 0 && p.problem.b == 1, {"problem.a", "problem.b", "problem.equation"},
                    fmt::format("its operator is -Laplace, and problem.a = {}, problem.b = {}; give 0 and 1",
                                p.problem.a, p.problem.b));
            require(p.problem.coefficients == Coefficients::constant,
                    {"problem.coefficients", "problem.equation"},
                    "its coefficients are constant; give problem.coefficients = \"constant\"");
        }
        require(
            equation.is_linear() || walls || p.problem.a != 0,
            {"problem.boundary", "problem.outside", "problem.a", "problem.equation"},
            "constants are in the null space of L, and nothing says which it is; give problem.a > 0, or a "
            "dirichlet boundary");
        require(!equation.is_linear() || equation.map == MapKind::cycle, {"run.map", "problem.equation"},
                "solved, nothing is left to iterate; give run.map = \"cycle\"");
        require(!equation.by_fas() || p.multigrid.bottom_grid == BottomRanks::owners,
                {"multigrid.bottom_grid", "run.map", "problem.equation"},
                "its coarsest level is relaxed where its boxes are; give multigrid.bottom_grid = "
                "\"distributed\"");
    }

    // More differences than unknowns depend on each other, and the triangle would be rounding.
    static void check_depth(Rules& rules, int ranks) {
        const Parameters& p = rules.parameters();
        const AndersonOptions acceleration = acceleration_of(rules.deck());
        const Index boxes = resolved_boxes(p.problem, ranks);
        double unknowns = p.problem.box_cells() * boxes[0] * boxes[1] * boxes[2];
        if (equation_of(rules.deck()).is_mixture()) unknowns = Mixture::components;
        for (const auto& [key, depth] : {std::pair{"anderson.depth", acceleration.depth},
                                         std::pair{"anderson.inner", acceleration.inner}})
            rules.require(depth <= unknowns, {key, "problem.equation", "problem.box"},
                          fmt::format("{} = {}: more than the {:.0f} unknowns, so that differences depend on "
                                      "each other; choose at most {:.0f}",
                                      key, depth, unknowns, unknowns));
        rules.require(acceleration.inner <= 0 || acceleration.depth > 0, {"anderson.inner", "anderson.depth"},
                      fmt::format("anderson.inner = {}: there is no acceleration around it; give "
                                  "anderson.depth = 1 or more, or leave it out",
                                  acceleration.inner));
        const std::string& methods = acceleration.orthogonalisation;
        rules.require(acceleration.inner > 0 || methods.find('/') == methods.npos,
                      {"anderson.orthogonalisation", "anderson.inner"},
                      fmt::format("anderson.orthogonalisation = \"{}\": there is no inner acceleration; give "
                                  "anderson.inner = 1 or more, or \"{}\"",
                                  methods, acceleration.outer().name));
    }
};

}  // namespace

GridUse use_of_fixed_point(const Deck& deck) {
    if (times_orthogonalisers(deck)) return {.coarsens = false, .solvers = {}, .predicted = false};
    const FixedPointOptions equation = equation_of(deck);
    std::optional<int> sweeps;
    if (equation.by_fas()) sweeps = deck.parameters.bottom.sweeps;
    return {.coarsens = !equation.is_mixture(),
            .solvers = solvers_of(deck),
            .full_approximation = sweeps,
            .more_bytes = equation.is_mixture() ? sizeof(double) * 1.0 * Mixture::all_samples : 0.0};
}

std::unique_ptr<Mode> make_fixed_point_mode() {
    return std::make_unique<FixedPointMode>();
}

}  // namespace keel
