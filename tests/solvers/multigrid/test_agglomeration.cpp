// Coarse levels in merged boxes on fewer ranks: the same mathematics as larger boxes, to the last bit where
// no sums over cells of the finest level are in it.

#include <catch2/catch.hpp>

#include "solvers/multigrid/multigrid.hpp"
#include "solvers/multigrid/v_cycle.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

constexpr std::int64_t all_at_once = 1 << 30;  // cells per rank

struct Variant {
    Index boxes;
    int width;
    Boundaries boundaries;
    double a;
    MultigridOptions multigrid = {};
    std::string solver = "bicgstab";
    int dimensions = 3;
    int fused = 0;
    bool in_blocks = false;
    bool mixed = false;
};

Problem problem_of(const Variant& variant) {
    return varying(variant.boxes, variant.width, variant.boundaries, variant.a, variant.dimensions);
}

// The same cells in boxes that cannot be merged any more.
Problem in_large_boxes(Problem problem) {
    const int factor = most_merged(problem.boxes, problem.directions());
    for (std::size_t d = 0; d < problem.directions(); ++d) problem.boxes[d] /= factor;
    problem.width *= factor;
    return problem;
}

HierarchyOptions options_of(const Variant& variant, std::int64_t agglomerate) {
    HierarchyOptions options{.bottom_box = variant.multigrid.bottom_box, .agglomerate = agglomerate};
    options.storage = variant.in_blocks ? Storage::blocks : Storage::boxes;
    options.all_ghosts =
        variant.multigrid.cycle == Cycle::f || variant.multigrid.interpolation == Interpolation::linear;
    options.fused = variant.fused;
    options.fused_width = variant.fused;
    options.mixed = variant.mixed;
    options.deterministic = true;
    return options;
}

BottomOptions bottom_of(const Variant& variant) {
    BottomOptions bottom;
    bottom.solver = variant.solver;
    bottom.max_iterations = 30;
    return bottom;
}

struct Found {
    SolveReport report;
    Whole u;
};

Found solve(Setup& setup, const Variant& variant) {
    Found found{Multigrid(setup.hierarchy, variant.multigrid, bottom_of(variant)).solve(), {}};
    found.u = setup.gather(setup.finest().u);
    return found;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size()) return HUGE_VAL;
    double most = 0;
    for (std::size_t n = 0; n < a.size(); ++n) most = std::max(most, std::abs(a[n] - b[n]));
    return most;
}

std::vector<int> iterations_of(const SolveReport& report) {
    std::vector<int> iterations;
    for (const auto& visit : report.visits) iterations.push_back(visit.iterations);
    return iterations;
}

MultigridOptions cycles_to(int bottom_box, MultigridOptions options = {}) {
    options.bottom_box = bottom_box;
    options.max_cycles = 12;
    return options;
}

void compare_with_large_boxes(const Variant& variant) {
    if (!enough_boxes(variant.boxes)) return;
    const Problem problem = problem_of(variant);
    const bool single = variant.mixed;
    if (single && !backend_info(chosen_backend()->name()).features.single_precision) return;
    CAPTURE(variant.boxes, variant.width, variant.solver, variant.dimensions, variant.fused, single);
    HierarchyOptions whole = options_of(variant, 0);
    whole.bottom_box =
        level_shapes(variant.boxes, problem.directions(), variant.width, 1, {whole.bottom_box, 1})
            .back()
            .width;
    Setup large(in_large_boxes(problem), whole, Communicator::self());
    const Found expected = solve(large, variant);
    CHECK(expected.report.residuals.back() < 1e-4);
    // Sums over the finest level are over other boxes, and so are rounded otherwise.
    const bool sums = problem.singular() || variant.multigrid.accelerator == Accelerator::cg;
    for (const std::int64_t cells : {std::int64_t{1}, all_at_once}) {
        CAPTURE(cells);
        Setup merged(problem, options_of(variant, cells));
        CHECK(merged.hierarchy.levels() == large.hierarchy.levels());
        const Found found = solve(merged, variant);
        CHECK(found.report.cycles == expected.report.cycles);
        CHECK(found.report.visits.size() == expected.report.visits.size());
        const double most = sums ? 1e-11 : 0;
        CHECK(largest_difference(found.report.residuals, expected.report.residuals) <= most);
        if (merged.comm.rank() != 0) {
            if (!merged.hierarchy.has(merged.hierarchy.levels() - 1))
                CHECK(found.report.visits.front().outcome == Outcome::on_other_ranks);
            continue;
        }
        CHECK(largest_difference(found.u.values, expected.u.values) <= most);
        if (!sums) CHECK(iterations_of(found.report) == iterations_of(expected.report));
    }
}

}  // namespace

constexpr Interpolation linear = Interpolation::linear;

TEST_CASE("merged boxes give what larger boxes give") {
    // One round of merging and two, domains that are no cube; periodic and Neumann with a = 0 are singular.
    const Variant variants[] = {
        {{4, 4, 4}, 4, neumann, 0.0, cycles_to(2), "ca_bicgstab"},
        {{4, 2, 2}, 8, dirichlet, 0.9, cycles_to(4, {.cycle = Cycle::f, .interpolation = linear}), "ca_cg"},
        {{2, 2, 2}, 6, mixed, 0.9, cycles_to(3), "enlarged_cg"},
        {{4, 4, 4}, 4, mixed, 0.9, cycles_to(2, {.smoother = "chebyshev"})},
        {{2, 2, 2}, 8, periodic, 0.9, cycles_to(4, {.accelerator = Accelerator::cg})},
        {{4, 4, 2}, 8, neumann, 0.0, cycles_to(2, {.interpolation = linear}), "cg", 3, 4, true},
        {{8, 4, 1},
         4,
         periodic,
         0.0,
         cycles_to(2, {.cycle = Cycle::f, .interpolation = linear}),
         "cg",
         2,
         0,
         true},
        {{2, 2, 2}, 8, mixed, 0.9, cycles_to(2), "bicgstab", 3, 4, false, true},
        // Odd numbers: three boxes at once, two and then three, five of which one is left that cannot halve.
        {{3, 3, 3}, 8, mixed, 0.9, cycles_to(4), "bicgstab", 3, 4},
        {{6, 6, 6}, 4, neumann, 0.0, cycles_to(2, {.interpolation = linear}), "ca_bicgstab"},
        {{5, 5, 1}, 8, dirichlet, 0.9, cycles_to(4, {.cycle = Cycle::f, .interpolation = linear}), "cg", 2},
    };
    for (const Variant& variant : variants) compare_with_large_boxes(variant);
}

TEST_CASE("merged levels take other coefficients, precondition symmetrically and travel by every scheme") {
    const Variant variant{{4, 2, 2}, 8, mixed, 0.9, {.bottom_box = 2, .max_cycles = 6}, "cg"};
    const Problem problem = problem_of(variant);
    Problem other = problem;
    other.beta = "ball50";
    const auto solved_anew = [&](Setup& setup) {
        Multigrid multigrid(setup.hierarchy, variant.multigrid, bottom_of(variant));
        multigrid.solve();
        setup.hierarchy.update(other.formulas(), setup.comm);
        multigrid.update();
        return multigrid.solve().residuals;
    };
    Setup large(in_large_boxes(problem), options_of(variant, 0), Communicator::self());
    const std::vector<double> expected = solved_anew(large);
    for (const SchemeOptions& scheme : candidates({.message_cap = 1000}))
        for (const int cells : {1, 300}) {
            INFO(name(scheme) << " merged below " << cells);
            HierarchyOptions options = options_of(variant, cells);
            options.scheme = scheme;
            Setup merged(problem, options);
            CHECK(solved_anew(merged) == expected);
        }

    Setup merged(problem, options_of(variant, all_at_once));
    VCycle M(merged.hierarchy, variant.multigrid, 2);
    Setup anew(in_large_boxes(problem), options_of(variant, 0), Communicator::self());
    VCycle N(anew.hierarchy, variant.multigrid, 2);
    const auto applied = [&](Setup& setup, VCycle& preconditioner) {
        const Field z = setup.finest().plain->make_field();
        preconditioner.apply(z, setup.finest().f);
        return setup.gather(z).values;
    };
    const std::vector<double> of_large = applied(anew, N);
    const std::vector<double> of_merged = applied(merged, M);
    CHECK(std::ranges::max(of_large) > 1e-6);
    if (merged.comm.rank() == 0) CHECK(largest_difference(of_merged, of_large) == 0);
}

TEST_CASE("levels, merged or not, send what their plans say, and nothing else") {
    const Variant variant{
        {4, 4, 4}, 4, mixed, 0.9, {.interpolation = Interpolation::linear, .bottom_box = 2}};
    const bool merges = GENERATE(false, true);
    for (const Scheme scheme : {Scheme::standard, Scheme::two_step, Scheme::three_step, Scheme::split}) {
        CAPTURE(static_cast<int>(scheme), merges);
        HierarchyOptions options = options_of(variant, merges ? 1 : 0);
        options.scheme.scheme = scheme;
        Setup setup(problem_of(variant), options);
        Multigrid multigrid(setup.hierarchy, variant.multigrid, bottom_of(variant));
        setup.ledger.clear();
        const SolveReport report = multigrid.solve();
        const Topology all = setup.topology;
        const auto places =
            level_distributions(setup.finest().layout, {options.bottom_box, options.agglomerate});
        int redistributions = 0;
        for (int l = 0; l < setup.hierarchy.levels(); ++l) {
            const LevelDistribution& place = places[static_cast<std::size_t>(l)];
            const Topology above = all.among(places[static_cast<std::size_t>(std::max(l - 1, 0))].ranks);
            Traffic expected;
            const auto add = [&](const Plan& plan, int rank, const Topology& topology, long times) {
                const Traffic each = plan.traffic(rank, topology, 1);
                for (long n = 0; n < times; ++n) expected += each;
            };
            if (const LevelRedistribution* const moved = setup.hierarchy.redistribution(l)) {
                ++redistributions;
                CHECK(moved->runs() == 2 * report.cycles);
                const int rank = place.agglomeration->before.rank();
                add(moved->gather().plan(), rank, above, report.cycles);
                add(moved->scatter().plan(), rank, above, report.cycles);
                const Exchange& ghosts = *moved->before().all_ghosts;
                CHECK(ghosts.count() == report.cycles);
                add(ghosts.plan(), rank, above, report.cycles);
            }
            CHECK(setup.hierarchy.has(l) == place.here());
            if (setup.hierarchy.has(l)) {
                const Topology own = all.among(place.ranks);
                Level& level = setup.hierarchy.level(l);
                add(level.ghosts->plan(), level.layout.rank(), own, level.ghosts->count());
                if (level.all_ghosts)
                    add(level.all_ghosts->plan(), level.layout.rank(), own, level.all_ghosts->count());
            }
            const Traffic counted = setup.ledger.at(Op::send, l).traffic;
            CHECK(counted == expected);
        }
        if (setup.comm.rank() == 0) CHECK(redistributions == (merges ? 2 : 0));
    }
}

TEST_CASE("boxes are merged where they cannot be halved, and where ranks have too few cells") {
    using Shapes = std::vector<LevelShape>;
    // 128^3 in boxes of 64^3 on 8 ranks.
    const Shapes last{{{2, 2, 2}, 64, 1, 8}, {{2, 2, 2}, 32, 1, 8}, {{2, 2, 2}, 16, 1, 8},
                      {{2, 2, 2}, 8, 1, 8},  {{1, 1, 1}, 8, 2, 1},  {{1, 1, 1}, 4, 1, 1}};
    CHECK(level_shapes({2, 2, 2}, 3, 64, 8, {4, 1}) == last);
    CHECK(level_shapes({2, 2, 2}, 3, 64, 8, {4, 512}) == last);
    Shapes early = last;
    early[3] = {{1, 1, 1}, 16, 2, 1};
    early[4].merged = 1;
    CHECK(level_shapes({2, 2, 2}, 3, 64, 8, {4, 513}) == early);
    CHECK(level_shapes({2, 2, 2}, 3, 64, 8, {4}).size() == 5);
    // Ranks that drop out; boxes of a rank that are merged with each other; as far as they tile.
    CHECK(level_shapes({8, 4, 4}, 3, 8, 16, {4, 64}) ==
          Shapes{{{8, 4, 4}, 8, 1, 16}, {{4, 2, 2}, 8, 2, 16}, {{2, 1, 1}, 8, 2, 2}, {{2, 1, 1}, 4, 1, 2}});
    CHECK(level_shapes({8, 4, 4}, 3, 8, 16, {4, 4096}) ==
          Shapes{{{8, 4, 4}, 8, 1, 16}, {{2, 1, 1}, 16, 4, 2}, {{2, 1, 1}, 8, 1, 2}, {{2, 1, 1}, 4, 1, 2}});
    // Squares; three boxes that become one, at last; boxes that cannot be merged.
    CHECK(level_shapes({6, 2, 1}, 2, 4, 3, {2, 1}) ==
          Shapes{{{6, 2, 1}, 4, 1, 3}, {{3, 1, 1}, 4, 2, 3}, {{3, 1, 1}, 2, 1, 3}});
    CHECK(level_shapes({3, 2, 2}, 3, 8, 12, {4, 100000}) == level_shapes({3, 2, 2}, 3, 8, 12, {4}));
    CHECK(level_shapes({3, 3, 3}, 3, 8, 27, {4, 1}) ==
          Shapes{{{3, 3, 3}, 8, 1, 27}, {{1, 1, 1}, 12, 3, 1}, {{1, 1, 1}, 6, 1, 1}});
    CHECK(level_shapes({9, 3, 3}, 3, 8, 12, {4, 100000}) ==
          Shapes{{{9, 3, 3}, 8, 1, 12}, {{3, 1, 1}, 12, 3, 3}, {{3, 1, 1}, 6, 1, 3}});
    CHECK(level_shapes({6, 6, 6}, 3, 8, 216, {4, 1}) ==
          Shapes{{{6, 6, 6}, 8, 1, 216}, {{3, 3, 3}, 8, 2, 27}, {{1, 1, 1}, 12, 3, 1}, {{1, 1, 1}, 6, 1, 1}});
    CHECK(level_shapes({8, 8, 1}, 3, 8, 64, {4, 1}) == level_shapes({8, 8, 1}, 3, 8, 64, {4}));
    CHECK(most_merged({12, 8, 4}, 3) == 4);
    CHECK(most_merged({12, 8, 1}, 2) == 4);
}

TEST_CASE(
    "boxes, merged or not, are dealt out evenly, to ranks that had some of them where these lie together") {
    const auto [factor, ranks] = GENERATE(table<int, int>(
        {{1, 1}, {1, 3}, {1, 8}, {1, 13}, {2, 1}, {2, 2}, {2, 3}, {2, 5}, {2, 8}, {2, 13}, {2, 64}}));
    for (const Placement placement : {Placement::curve, Placement::lexicographic, Placement::scattered}) {
        CAPTURE(ranks, static_cast<int>(placement), factor);
        const Index boxes{4, 4, 4};
        const int all = 64 / (factor * factor * factor);
        std::vector<int> found(static_cast<std::size_t>(all), 0);  // ranks that say they have the box
        for (int rank = 0; rank < ranks; ++rank) {
            const Layout spread(boxes, 4, {}, place(boxes, ranks, placement), rank);
            const int left = std::min(ranks, 8);
            const Agglomeration merged = agglomerated(spread, factor, left);
            CHECK(merged.ranks.size() == static_cast<std::size_t>(left));
            CHECK(merged.ranks.front() == 0);
            const Layout& layout = merged.after;
            CHECK(layout.width() == 4 * factor);
            CHECK((layout.rank() >= 0) == std::ranges::binary_search(merged.ranks, rank));
            if (layout.rank() >= 0) {
                CHECK(layout.local_count() >= all / left);
                CHECK(layout.local_count() <= (all + left - 1) / left);
            }
            for (const int box : layout.local()) ++found[static_cast<std::size_t>(box)];
            const BoxPattern there = merged.gather(64);
            for (int box = 0; box < spread.box_count(); ++box) {
                Index at = spread.position(box);
                for (int& along : at) along /= factor;
                const int owner = layout.owner(*layout.domain().box_at(at));
                CHECK(there.to().ranks_of(box).front() == merged.ranks[static_cast<std::size_t>(owner)]);
                CHECK(there.from().ranks_of(box).front() == spread.owner(box));
                // Along the curve each has eight boxes that are one, or all of a rank's boxes are in one.
                if (placement == Placement::curve && (ranks == 8 || ranks == 64))
                    CHECK(spread.owner(box) / (ranks / 8) * (ranks / 8) == there.to().ranks_of(box).front());
            }
        }
        CHECK(found == std::vector<int>(static_cast<std::size_t>(all), 1));
    }
}
