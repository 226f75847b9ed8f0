// Hierarchies against a reference in Python (tests/golden/README.md): whatever the number of ranks,
// the same roots, aggregates and entries exactly, and values to rounding.

#include <catch2/catch.hpp>

#include "tests/solvers/amg/amg_problem.hpp"
#include "tests/solvers/golden_file.hpp"

using namespace keel;
using namespace keel::test;
using Json = nlohmann::json;

namespace {

const Json& amg_golden() {
    static const Json file = golden("amg.json");
    return file;
}

bool close(double a, double b, double size) {
    return std::abs(a - b) <= 1e-12 * size;
}

// This rank's entries that are not those of the triples, or that it lacks; values to 1e-12 of the largest.
double wrong_entries(const PartRows& A, const Json& triples) {
    std::map<std::pair<std::int64_t, std::int64_t>, double> wanted;
    double largest = 0;
    for (const Json& t : triples) {
        largest = std::max(largest, std::abs(t[2].get<double>()));
        if (A.partition.owns(A.rank, t[0])) wanted[{t[0], t[1]}] = t[2];
    }
    double wrong = 0;
    for (std::size_t r = 0; r < A.rows.rows(); ++r)
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e) {
            const auto found = wanted.find({A.first() + static_cast<std::int64_t>(r), A.rows.columns[e]});
            if (found == wanted.end() || !close(found->second, A.rows.values[e], largest)) ++wrong;
            if (found != wanted.end()) wanted.erase(found);
        }
    return wrong + static_cast<double>(wanted.size());
}

// More ranks than cores take their time for each message of a solve: of their hierarchies all are looked at,
// of their histories those of this problem.
bool solves(const Json& one) {
    return Communicator::world().size() <= 3 || one.at("name") == "stencil27";
}

// Histories agree in their first entries to `tolerance`, and in their lengths to one.
void check_history(const Json& record, const Report& report, std::size_t entries, double tolerance) {
    CHECK(std::abs(report.iterations - record.at("iterations").get<int>()) <= 1);
    const Json& history = record.at("history");
    for (std::size_t n = 0; n < std::min({entries, history.size(), report.residuals.size()}); ++n) {
        INFO("entry " << n);
        CHECK(report.residuals[n] == Approx(history[n].get<double>()).epsilon(tolerance).margin(0));
    }
}

}  // namespace

TEST_CASE("one step of coarsening is the golden one, entry by entry, by every scheme and ownership",
          "[golden]") {
    for (const Json& tiny : amg_golden().at("tiny"))
        for (const auto& [scheme, rows_scheme] :
             {std::pair{Scheme::standard, as_all_else}, std::pair{Scheme::two_step, as_all_else},
              std::pair{Scheme::three_step, "standard"}, std::pair{Scheme::standard, "split"},
              std::pair{Scheme::standard, "three_step"}})
            for (const Ownership ownership : {Ownership::root, Ownership::condensed}) {
                INFO(tiny.at("problem").dump()
                     << ", scheme " << static_cast<int>(scheme) << ", " << name(ownership));
                AmgSetup setup(problem_of(tiny.at("problem")), scheme);
                AmgOptions options = options_of(tiny.at("options"));
                options.ownership = ownership;
                options.rows_scheme = rows_scheme;
                const PartRows A = setup.part();
                const auto next =
                    coarsen(setup.context, A, setup.near_null, options, setup.scheme, setup.ledger, 0);
                REQUIRE(next.has_value());
                const auto own = [&](std::int64_t row) { return A.partition.owns(A.rank, row); };
                std::vector<std::int64_t> roots;
                for (const std::int64_t root : tiny.at("roots"))
                    if (own(root)) roots.push_back(root);
                double wrong = next->roots != roots;
                if (tiny.contains("aggregates")) {
                    const std::vector<std::int64_t> all = tiny.at("aggregates");
                    const int node = setup.near_null.node;
                    const std::vector<std::int64_t> aggregates(
                        all.begin() + A.first() / node, all.begin() + A.partition.first(A.rank + 1) / node);
                    wrong += next->aggregates != aggregates;
                    wrong += !close(next->bound, tiny.at("rho"), 10.0);
                }
                CHECK(setup.comm.sum(wrong) == 0);
                CHECK(setup.comm.sum(wrong_entries(next->P, tiny.at("P"))) == 0);
                CHECK(setup.comm.sum(wrong_entries(next->A, tiny.at("A_c"))) == 0);
                CHECK(next->A.partition.rows ==
                      static_cast<std::int64_t>(tiny.at("roots").size()) * setup.near_null.vectors);
            }
}

TEST_CASE("hierarchies are the golden ones on any number of ranks, and so are their histories with Jacobi",
          "[golden]") {
    for (const Json& one : in_turns(amg_golden().at("cases")))
        for (const Json& run : one.at("runs")) {
            INFO(one.at("name") << ": " << run.at("options").dump());
            AmgSetup setup(problem_of(one.at("problem")));
            const AmgOptions options = options_of(run.at("options"));
            AmgHierarchy hierarchy = setup.hierarchy(options);
            REQUIRE(hierarchy.missing().empty());
            const Json& levels = run.at("levels");
            REQUIRE(hierarchy.levels() == levels.size());
            for (std::size_t l = 0; l < levels.size(); ++l) {
                const AmgLevelFacts& facts = hierarchy.facts()[l];
                CHECK(facts.rows == levels[l].at("rows"));
                CHECK(facts.entries == levels[l].at("nnz").get<double>());
                CHECK(facts.entries_of_P == levels[l].value("nnz_P", 0.0));
                CHECK(facts.bound == Approx(levels[l].value("rho", 0.0)).epsilon(1e-12));
            }
            CHECK(hierarchy.operator_complexity() ==
                  Approx(run.at("operator_complexity").get<double>()).epsilon(1e-5));
            CHECK(hierarchy.grid_complexity() ==
                  Approx(run.at("grid_complexity").get<double>()).epsilon(1e-5));
            if (!solves(one)) continue;
            AmgCycle M(hierarchy);
            check_history(run.at("stationary").at("jacobi"), setup.solve(M, false, 100), 10, 1e-4);
            check_history(run.at("pcg").at("jacobi"), setup.solve(M, true, 200), 10, 1e-4);
        }
}

TEST_CASE("Jacobi and hybrid Gauss-Seidel do as golden ones on as many ranks", "[golden]") {
    const int ranks = Communicator::world().size();
    for (const Json& one : amg_golden().at("cases"))
        for (const Json& record : one.at("ranks")) {
            if (record.at("ranks") != ranks) continue;
            INFO(one.at("name") << ": " << record.at("options").dump());
            AmgSetup setup(problem_of(one.at("problem")));
            AmgOptions options = options_of(record.at("options"));
            for (const AmgSmoother smoother : {AmgSmoother::jacobi, AmgSmoother::gauss_seidel}) {
                options.smoother = smoother;
                AmgHierarchy hierarchy = setup.hierarchy(options);
                REQUIRE(hierarchy.missing().empty());
                std::vector<std::int64_t> rows;
                std::vector<double> entries;
                for (const AmgLevelFacts& facts : hierarchy.facts()) {
                    rows.push_back(facts.rows);
                    entries.push_back(facts.entries);
                }
                CHECK(rows == record.at("rows").get<std::vector<std::int64_t>>());
                CHECK(entries == record.at("nnz").get<std::vector<double>>());
                if (!solves(one)) continue;
                AmgCycle M(hierarchy);
                const std::string word = smoother == AmgSmoother::jacobi ? "jacobi" : "gs";
                const int cycles = setup.solve(M, false, 100).iterations;
                CHECK(std::abs(cycles - record.at("stationary_" + word).get<int>()) <= 1);
                const int steps = setup.solve(M, true, 200).iterations;
                CHECK(std::abs(steps - record.at("pcg_" + word).get<int>()) <= 1);
            }
        }
}

TEST_CASE("every operation on every level sends the golden messages", "[golden]") {
    const Json file = golden("amg_messages.json");
    for (const Json& one : file.at("cases")) {
        if (one.at("ranks") != Communicator::world().size()) continue;
        const int per_node = one.at("ranks_on_nodes")[0];
        // The last is RAPtor's rule.
        for (const Json& run : one.at("runs"))
            for (const auto& [scheme, rows_scheme] :
                 {std::pair{Scheme::standard, as_all_else}, std::pair{Scheme::two_step, as_all_else},
                  std::pair{Scheme::three_step, as_all_else}, std::pair{Scheme::standard, "three_step"},
                  std::pair{Scheme::three_step, "two_step"}}) {
                AmgSetup setup(problem_of(one.at("problem")), scheme, per_node);
                const std::string of_vectors = planner(scheme).word;
                AmgOptions options = options_of(run.at("options"));
                options.rows_scheme = rows_scheme;
                AmgHierarchy hierarchy = setup.hierarchy(options);
                REQUIRE(hierarchy.levels() == run.at("levels").size());
                for (std::size_t l = 0; l < hierarchy.levels(); ++l) {
                    const AmgLevelFacts& facts = hierarchy.facts()[l];
                    const std::map<std::string, Traffic> sent{{"A_x", facts.product},
                                                              {"P_e", facts.interpolate},
                                                              {"PT_r", facts.restrict_},
                                                              {"A_P_rows", facts.setup.rows},
                                                              {"PT_AP_rows", facts.setup.partial_rows}};
                    for (const auto& [operation, phases] : run.at("levels")[l].at("ops").items()) {
                        const bool apart =
                            rows_scheme != std::string(as_all_else) && operation.ends_with("rows");
                        const std::string word = apart ? rows_scheme : of_vectors;
                        INFO(one.at("name") << ", " << run.at("options").dump() << ", level " << l << ", "
                                            << operation << ", " << word);
                        double messages = 0, bytes = 0, off_node_messages = 0, off_node_bytes = 0;
                        for (const auto& [phase, counted] : phases.at(word).items()) {
                            messages += counted.at("messages").get<double>();
                            bytes += counted.at("bytes").get<double>();
                            if (phase != "global") continue;
                            off_node_messages += counted.at("messages").get<double>();
                            off_node_bytes += counted.at("bytes").get<double>();
                        }
                        const Traffic& mine = sent.at(operation);
                        CHECK(setup.comm.sum(static_cast<double>(mine.messages)) == messages);
                        CHECK(setup.comm.sum(static_cast<double>(mine.bytes)) == bytes);
                        CHECK(setup.comm.sum(static_cast<double>(mine.off_node_messages)) ==
                              off_node_messages);
                        CHECK(setup.comm.sum(static_cast<double>(mine.off_node_bytes)) == off_node_bytes);
                    }
                }
            }
    }
}
