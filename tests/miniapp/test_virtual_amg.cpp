#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "miniapp/modes/spmv/amg/virtual_amg.hpp"
#include "tests/solvers/amg/amg_problem.hpp"
#include "tests/solvers/golden_file.hpp"

using namespace keel;
using namespace keel::test;
using GoldenJson = nlohmann::json;

namespace {

Resolved on_nodes_of(int ranks, int per_node) {
    Resolved resolved;
    resolved.ranks = ranks;
    resolved.topology = virtual_topology(ranks, per_node);
    return resolved;
}

VirtualAmg planned(const AmgProblem& problem, const AmgOptions& options, int ranks, int per_node) {
    return plan_virtual_amg(options, on_nodes_of(ranks, per_node), {problem.rows, ranks},
                            rows_of(problem, 0, static_cast<std::size_t>(problem.rows)), 1e12);
}

}  // namespace

TEST_CASE("virtual ranks send the golden messages on every level, 8 of them and 32", "[golden]") {
    using Use = VectorEntries::Use;
    const std::map<Use, std::string> words{{Use::amg_values, "A_x"},
                                           {Use::amg_rows, "A_P_rows"},
                                           {Use::amg_transfers, "P_e"},
                                           {Use::amg_returns, "PT_r"},
                                           {Use::amg_partial_rows, "PT_AP_rows"}};
    int compared = 0;
    const GoldenJson file = golden("amg_messages.json");
    for (const GoldenJson& one : file.at("cases"))
        for (const GoldenJson& run : one.at("runs")) {
            const AmgOptions options = options_of(run.at("options"));
            const VirtualAmg amg =
                planned(problem_of(one.at("problem")), options, one.at("ranks"), one.at("ranks_on_nodes")[0]);
            REQUIRE(amg.missing.empty());
            REQUIRE(amg.levels.size() == run.at("levels").size());
            for (const SchemeTable& table : amg.exchanges) {
                const GoldenJson& level = run.at("levels")[static_cast<std::size_t>(table.use.level)];
                const GoldenJson& operation = level.at("ops").at(words.at(table.use.entries()->use));
                for (const SchemeRow& row : table.rows) {
                    const std::string scheme = name(row.scheme);
                    if (!operation.contains(scheme)) continue;
                    INFO(one.at("name") << ", " << run.at("options").dump() << ", level " << table.use.level
                                        << ", " << words.at(table.use.entries()->use) << ", " << scheme);
                    Volume wanted;
                    for (const auto& [phase, counted] : operation.at(scheme).items()) {
                        wanted.messages += counted.at("messages").get<double>();
                        wanted.bytes += counted.at("bytes").get<double>();
                        if (phase != "global") continue;
                        wanted.off_node_messages += counted.at("messages").get<double>();
                        wanted.off_node_bytes += counted.at("bytes").get<double>();
                    }
                    for (const auto number : volume_members) CHECK(row.all.*number == wanted.*number);
                    ++compared;
                }
            }
        }
    CHECK(compared > 100);
}

TEST_CASE("rows of coarse levels live with their roots, or on fewer ranks") {
    const AmgProblem problem = problem_of(GoldenJson{{"kind", "stencil7"}, {"cells", {8, 8, 8}}});
    AmgOptions options;
    options.max_coarse = 4;
    const VirtualAmg by_roots = planned(problem, options, 100, 10);
    options.ownership = Ownership::condensed;
    const VirtualAmg condensed = planned(problem, options, 100, 10);
    REQUIRE(by_roots.levels.size() == condensed.levels.size());
    REQUIRE(by_roots.levels.size() > 1);
    CHECK(by_roots.levels[0].ranks_with_rows == 100);
    const double share = by_roots.levels[0].entries / 100;
    for (std::size_t l = 1; l < condensed.levels.size(); ++l) {
        const auto wanted = static_cast<std::int64_t>(std::ceil(condensed.levels[l].entries / share));
        CHECK(condensed.levels[l].ranks_with_rows == std::min(wanted, condensed.levels[l].rows));
        CHECK(condensed.levels[l].rows == by_roots.levels[l].rows);
    }
}

TEST_CASE("what does not fit is not set up, or not planned, and says so") {
    const AmgProblem problem = problem_of(GoldenJson{{"kind", "stencil7"}, {"cells", {8, 8, 8}}});
    const GlobalRows rows = rows_of(problem, 0, 512);
    const VirtualAmg nothing = plan_virtual_amg({}, on_nodes_of(64, 8), {512, 64}, rows, 1e5);
    CHECK(nothing.levels.empty());
    CHECK_THAT(nothing.too_large, Catch::Contains("not set up here"));
    const VirtualAmg unplanned = plan_virtual_amg({}, on_nodes_of(512, 8), {512, 512}, rows, 6e5);
    CHECK(unplanned.levels.size() > 1);
    for (const SchemeTable& table : unplanned.exchanges) CHECK(table.use.level > 0);
    CHECK_THAT(unplanned.too_large, Catch::Contains("level 0: to plan"));
}
