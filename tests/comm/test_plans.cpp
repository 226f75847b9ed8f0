// The schemes' plans for virtual ranks: golden plans, invariants, delivery.

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "comm/plans/counts.hpp"
#include "comm/plans/schemes.hpp"
#include "tests/boundaries.hpp"
#include "tests/comm/costs/stage_totals.hpp"
#include "tests/comm/naive_delivery.hpp"
#include "tests/comm/random_case.hpp"

using namespace keel;
using namespace keel::test;
using nlohmann::json;
using test::Dice;
using test::PhaseTotals;
using test::random_case;
using test::RandomCase;
using test::totals;

namespace {

json golden_plans() {
    std::ifstream file(std::string(KEEL_SOURCE_DIR) + "/tests/golden/plans.json");
    return json::parse(file);
}

// Seeds of random cases: a third of them by day.
unsigned by_day_or_night(unsigned seeds) {
    return std::getenv("KEEL_NIGHTLY") ? seeds : seeds / 3;
}

std::vector<int> every(int ranks) {
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

ListedPattern pattern_of(const json& golden) {
    std::vector<Request> requests;
    if (golden.contains("halo")) {
        const json& halo = golden.at("halo");
        const Index boxes{halo.at("px"), halo.at("py"), halo.at("pz")};
        const int ranks = static_cast<int>(product(boxes));
        const auto neighbours = halo.at("neighbours") == 6 ? Neighbours::faces : Neighbours::all;
        // An item is a cell. The file numbers a rank's cells as it first needs them, direction by direction.
        const GhostPattern cells(Layout(boxes, halo.at("n"), periodic, every(ranks), 0), halo.at("depth"),
                                 neighbours, 1);
        std::map<Item, std::int64_t> number;
        for (int box = 0; box < ranks; ++box) {
            std::int64_t next = 0;
            for (const Index& direction : cells.sides())
                for (const Item& item : cells.items(box, cells.ghosts_from(box, -direction)->source))
                    next += number.try_emplace(item, next).second ? 1 : 0;
        }
        requests = cells.needed_by(every(ranks));
        for (Request& r : requests) r.item.name = number.at(r.item);
        return ListedPattern(requests);
    }
    for (const json& message : golden.at("pattern"))
        for (const json& item : message.at("items"))
            requests.push_back({{message.at("src"), 1, item}, message.at("dst")});
    return ListedPattern(requests);
}

SchemeOptions options_named(const std::string& plan, const json& golden) {
    SchemeOptions options{.message_cap = golden.at("message_cap"), .columns = golden.at("columns")};
    if (plan == "standard") options.scheme = Scheme::standard;
    if (plan == "nap2" || plan == "nap2_max_need") options.scheme = Scheme::two_step;
    if (plan == "nap2_max_need") options.partner_rule = PartnerRule::max_need;
    if (plan == "nap3") options.scheme = Scheme::three_step;
    if (plan == "split" || plan == "split_always") options.scheme = Scheme::split;
    if (plan == "split_always") options.cap_rule = CapRule::always;
    return options;
}

constexpr Phase phases[] = {Phase::local, Phase::local_s, Phase::global, Phase::local_r};

}  // namespace

TEST_CASE("every scheme has one row, with all that users and planners ask of it") {
    std::set<std::string> words;
    std::set<Scheme> schemes;
    CHECK(planners().front().scheme == Scheme::standard);
    for (const Planner& row : planners()) {
        INFO(row.word);
        CHECK(words.insert(row.word).second);
        CHECK(schemes.insert(row.scheme).second);
        CHECK(&planner(row.scheme) == &row);
        CHECK_FALSE(std::string(row.meaning).empty());
        CHECK_FALSE(std::string(row.source).empty());
        CHECK((row.plan != nullptr) + (row.split != nullptr) + (row.plan_by_axes != nullptr) == 1);
        CHECK((row.rule != nullptr) == (row.candidates.size() > 1));
        REQUIRE_FALSE(row.candidates.empty());
        CHECK(name(row.candidates.front()) == row.word);
        for (const SchemeOptions& candidate : row.candidates) CHECK(candidate.scheme == row.scheme);
    }
}

TEST_CASE("the candidates are all schemes under all rules, with the cap and columns that are given") {
    std::vector<std::string> names;
    for (const SchemeOptions& one : candidates({.partner_rule = PartnerRule::max_need,
                                    .message_cap = 5,
                                    .cap_rule = CapRule::always,
                                    .columns = 3})) {
        names.push_back(name(one));
        CHECK(one.message_cap == 5);
        CHECK(one.columns == 3);
    }
    const std::vector<std::string> expected{"standard", "two_step",     "two_step/max_need", "three_step",
                                            "split",    "split/always", "staged_axes"};
    CHECK(names == expected);
    CHECK(candidates_without_axes({}).size() == 6);
    CHECK(candidates_without_axes({.ranks_per_device = 2}).size() == 7);
    CHECK(candidates({.ranks_per_device = 2})[6].ranks_per_device == 2);
    CHECK(candidate_named("helpers", {})->ranks_per_device == 1);
    CHECK(without_axes({.scheme = Scheme::staged_axes}).scheme == Scheme::standard);
    CHECK(without_axes({.scheme = Scheme::split}).scheme == Scheme::split);
}

TEST_CASE("plans are the golden ones: every message, item and total, and the counts of closed forms") {
    const json golden = golden_plans();
    int phases_compared = 0;
    int with_messages = 0;
    for (const json& g : golden.at("cases")) {
        const std::vector<int> labels = g.at("node_of_rank");
        const Topology topology(labels, NodeSource::map);
        const ListedPattern pattern = pattern_of(g);
        const PatternCounts c = counts(pattern.requests(), topology);
        const double columns = g.at("columns");
        const std::pair<const char*, double> numbers[] = {{"m", c.messages},
                                                          {"s", c.bytes * columns},
                                                          {"s_proc", c.bytes_per_rank * columns},
                                                          {"s_node", c.bytes_per_node * columns},
                                                          {"m_proc2node", c.nodes_per_rank},
                                                          {"m_node2node", c.nodes_per_node},
                                                          {"s_node2node", c.bytes_per_node_pair * columns}};
        for (const auto& [letters, number] : numbers) {
            INFO(g.at("name") << " " << letters);
            CHECK(number == g.at("counts").at(letters));
        }
        for (const auto& [key, expected] : g.at("plans").items()) {
            const Plan plan = make_plan(pattern, topology, options_named(key, g), {});
            for (const Phase phase : phases) {
                INFO(g.at("name") << " " << key << " " << name(phase));
                const json& total = expected.at("totals").at(name(phase));
                const PhaseTotals t = totals(plan.messages(phase), topology, g.at("columns"));
                CHECK(t.messages == total.at("msgs"));
                CHECK(t.items == total.at("items"));
                CHECK(t.bytes == total.at("bytes"));
                CHECK(t.max_send_messages == total.at("max_send_msgs"));
                CHECK(t.max_receive_messages == total.at("max_recv_msgs"));
                CHECK(t.max_send_bytes == total.at("max_send_bytes"));
                CHECK(t.max_receive_bytes == total.at("max_recv_bytes"));
                CHECK(t.max_message_bytes == total.at("max_msg_bytes"));
                if (phase == Phase::global) {
                    CHECK(t.max_node_send_messages == total.at("max_node_send_msgs"));
                    CHECK(t.max_node_send_bytes == total.at("max_node_send_bytes"));
                }
                ++phases_compared;
                if (!expected.contains("messages")) continue;
                ++with_messages;
                json messages = json::array();
                for (const Message& m : plan.messages(phase)) {
                    json items = json::array();
                    for (const Item& item : m.items) items.push_back({item.owner, item.name});
                    messages.push_back(
                        {{"src", m.source}, {"dst", m.target}, {"seq", m.sequence}, {"items", items}});
                }
                CHECK(messages == expected.at("messages").at(name(phase)));
            }
        }
    }
    CHECK(phases_compared == 15 * 6 * 4);
    CHECK(with_messages >= 200);
}

namespace {

struct NamedPlan {
    SchemeOptions options;
    Plan plan;
};

// The numbers of the plans that the invariants compare; that of helpers is behind them.
enum : std::size_t { standard, two, two_max, three, split, split_always };

std::vector<NamedPlan> all_plans(const Pattern& pattern, const Topology& topology, std::size_t message_cap,
                                 const RanksPlanned& whose) {
    std::vector<NamedPlan> plans;
    for (const SchemeOptions& options : candidates_without_axes(
             {.message_cap = message_cap, .ranks_per_device = 2 + static_cast<int>(message_cap % 3)}))
        plans.push_back({options, make_plan(pattern, topology, options, whose)});
    return plans;
}

bool dedups(const SchemeOptions& options) {
    return options.scheme != Scheme::standard && options.scheme != Scheme::helpers &&
           options.scheme != Scheme::staged_axes;
}

Plan part_of(Plan plan, int rank) {
    const auto keep = [&](PhaseMessages& phase) {
        std::erase_if(phase.messages, [&](const Message& m) { return m.source != rank && m.target != rank; });
    };
    keep(plan.local);
    for (PhaseMessages& phase : plan.phases) keep(phase);
    return plan;
}

}  // namespace

TEST_CASE("thousands of random patterns are delivered by every plan, by the naive checker's word") {
    int wrong = 0;
    long crossings = 0;
    for (unsigned seed = 0; seed < by_day_or_night(3000); ++seed) {
        const RandomCase c = random_case(seed);
        const Topology topology = c.topology();
        const ListedPattern pattern(c.requests);
        for (const auto& [options, plan] : all_plans(pattern, topology, c.message_cap, {})) {
            const std::string what =
                test::complaint(plan, pattern.requests(), topology.node_of(), dedups(options));
            if (!what.empty()) {
                INFO("seed " << seed << ", scheme " << static_cast<int>(options.scheme) << ": " << what);
                CHECK(what.empty());
                ++wrong;
            }
            crossings += static_cast<long>(plan.messages(Phase::global).size());
        }
        if (wrong > 3) break;
    }
    CHECK(wrong == 0);
    CHECK(crossings > 10000);
}

TEST_CASE("a rank that plans alone plans its part of what all plan together") {
    int differ = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        const RandomCase c = random_case(seed);
        const Topology topology = c.topology();
        const ListedPattern pattern(c.requests);
        const auto whole = all_plans(pattern, topology, c.message_cap, {});
        for (int rank = 0; rank < topology.ranks(); ++rank) {
            const auto own = all_plans(pattern, topology, c.message_cap, rank);
            for (std::size_t n = 0; n < whole.size(); ++n)
                differ += own[n].plan == part_of(whole[n].plan, rank) ? 0 : 1;
        }
    }
    CHECK(differ == 0);
}

TEST_CASE("the invariants of node-aware plans hold for random patterns") {
    for (unsigned seed = 0; seed < by_day_or_night(1500); ++seed) {
        INFO("seed " << seed);
        const RandomCase c = random_case(seed);
        const Topology topology = c.topology();
        const ListedPattern pattern(c.requests);
        const PatternCounts count = counts(pattern.requests(), topology);
        const auto plans = all_plans(pattern, topology, c.message_cap, {});
        const auto totals_of = [&](std::size_t n, Phase phase) {
            return totals(plans[n].plan.messages(phase), topology, 1);
        };
        const auto messages = [&](std::size_t n) { return totals_of(n, Phase::global).messages; };
        bool fine = messages(three) <= messages(two) && messages(two) <= messages(standard) &&
                    messages(two) == messages(two_max) && messages(three) <= messages(split) &&
                    messages(three) <= messages(split_always);
        // Bytes between nodes: the same for all that remove duplicates.
        const long bytes =
            totals_of(standard, Phase::global).bytes - test::duplicate_bytes(pattern.requests(), topology);
        for (const std::size_t n : {two, two_max, three, split, split_always}) {
            fine = fine && totals_of(n, Phase::global).bytes == bytes;
            fine = fine && plans[n].plan.local == plans[standard].plan.local;
            fine = fine &&
                   totals_of(n, Phase::global).max_node_send_bytes == static_cast<long>(count.bytes_per_node);
        }
        fine = fine && totals_of(two_max, Phase::local_r).bytes <= totals_of(two, Phase::local_r).bytes;
        // The closed forms count what the plans do.
        fine =
            fine && totals_of(standard, Phase::global).max_send_messages == static_cast<long>(count.messages);
        fine = fine && totals_of(standard, Phase::global).max_send_bytes == static_cast<long>(count.bytes);
        fine = fine && totals_of(standard, Phase::global).max_node_send_bytes ==
                           static_cast<long>(count.bytes_per_node_sent);
        fine = fine &&
               totals_of(two, Phase::global).max_send_messages == static_cast<long>(count.nodes_per_rank);
        fine = fine && totals_of(three, Phase::global).max_node_send_messages ==
                           static_cast<long>(count.nodes_per_node);
        fine = fine && totals_of(three, Phase::global).max_message_bytes ==
                           static_cast<long>(count.bytes_per_node_pair);
        // On a node the crossings are shared out evenly, and on-node messages go to different ranks.
        for (const std::size_t n : {three, split, split_always}) {
            std::vector<int> sends(static_cast<std::size_t>(topology.ranks()));
            std::vector<int> receives(sends.size());
            for (const Message& m : plans[n].plan.messages(Phase::global)) {
                ++sends[static_cast<std::size_t>(m.source)];
                ++receives[static_cast<std::size_t>(m.target)];
            }
            for (int node = 0; node < topology.nodes(); ++node)
                for (const auto& done : {sends, receives}) {
                    int least = std::numeric_limits<int>::max();
                    int most = 0;
                    for (const int rank : topology.ranks_on(node)) {
                        least = std::min(least, done[static_cast<std::size_t>(rank)]);
                        most = std::max(most, done[static_cast<std::size_t>(rank)]);
                    }
                    fine = fine && most - least <= 1;
                }
            for (const Phase phase : {Phase::local_s, Phase::local_r}) {
                for (const Message& m : plans[n].plan.messages(phase)) fine = fine && m.sequence == 0;
            }
        }
        // Split with no cap is three_step; with columns it is that of items so many times as long.
        const Plan uncapped =
            make_plan(pattern, topology, {.scheme = Scheme::split, .message_cap = std::size_t{1} << 40}, {});
        fine = fine && uncapped == plans[three].plan;
        std::vector<Request> longer = c.requests;
        for (Request& r : longer) r.item.values *= 3;
        fine = fine && make_plan(pattern, topology,
                                 {.scheme = Scheme::split, .message_cap = c.message_cap, .columns = 3}, {}) ==
                           make_plan(ListedPattern(longer), topology,
                                     {.scheme = Scheme::split, .message_cap = c.message_cap}, {});
        // One rank a node: no detours. One node: nothing crosses.
        const bool lonely = topology.nodes() == topology.ranks();
        for (std::size_t n = standard; lonely && n <= three; ++n) {
            const auto across = plans[n].plan.messages(Phase::global);
            const auto direct = plans[standard].plan.messages(Phase::global);
            fine = fine && std::equal(across.begin(), across.end(), direct.begin(), direct.end());
            fine = fine && messages(n) == messages(standard) && totals_of(n, Phase::local_s).messages == 0 &&
                   totals_of(n, Phase::local_r).messages == 0;
        }
        if (topology.nodes() == 1)
            for (std::size_t n = standard; n <= split_always; ++n) fine = fine && messages(n) == 0;
        // The order of the input does not matter.
        Dice dice(seed);
        std::vector<Request> other_order = c.requests;
        dice.shuffle(other_order);
        const auto again = all_plans(ListedPattern(other_order), topology, c.message_cap, {});
        for (std::size_t n = standard; n <= split_always; ++n) fine = fine && again[n].plan == plans[n].plan;
        REQUIRE(fine);
    }
}

// Two nodes of two devices, ranks 0, 4 and 8, 12, which have the data; three helpers each.
TEST_CASE("with helpers no rank with data sends to another node, and messages within one go straight") {
    const Topology topology = virtual_topology(16, 8);
    std::vector<Request> requests;
    for (const int owner : {0, 4, 8, 12})
        for (const int rank : {0, 4, 8, 12})
            if (rank != owner) requests.push_back({{owner, 5, rank}, rank});
    const auto plan_of = [&](int per_device) {
        return make_plan(ListedPattern(requests), topology,
                         {.scheme = Scheme::helpers, .ranks_per_device = per_device}, {});
    };
    using Ends = std::vector<std::vector<int>>;  // source and target of each
    const auto ends = [](const Plan& plan, Phase phase) {
        Ends found;
        for (const Message& m : plan.messages(phase)) {
            found.push_back({m.source, m.target});
            CHECK(m.values() == 5);
        }
        return found;
    };
    const Plan plan = plan_of(4);
    CHECK(ends(plan, Phase::local) == Ends{{0, 4}, {4, 0}, {8, 12}, {12, 8}});
    // Device 2 is ranks 8 to 11, whose messages are the third helper's turn; device 3 is the first's again.
    CHECK(ends(plan, Phase::local_s) ==
          Ends{{0, 1}, {0, 3}, {4, 5}, {4, 7}, {8, 9}, {8, 10}, {12, 13}, {12, 14}});
    CHECK(ends(plan, Phase::global) ==
          Ends{{1, 13}, {3, 9}, {5, 14}, {7, 10}, {9, 3}, {10, 7}, {13, 1}, {14, 5}});
    CHECK(ends(plan, Phase::local_r) ==
          Ends{{1, 0}, {3, 0}, {5, 4}, {7, 4}, {9, 8}, {10, 8}, {13, 12}, {14, 12}});
    // Without helpers it is standard, between nodes in a phase of its own.
    const Plan alone = plan_of(1);
    CHECK(alone.messages(Phase::local_s).empty());
    CHECK(alone.messages(Phase::local_r).empty());
    CHECK(ends(alone, Phase::global) ==
          Ends{{0, 8}, {0, 12}, {4, 8}, {4, 12}, {8, 0}, {8, 4}, {12, 0}, {12, 4}});
}

// Node 0 is ranks 0 to 3, node 1 ranks 4 to 7, two ranks on each socket.
TEST_CASE("messages between nodes are given to ranks on the sockets that they come from and go to") {
    const Topology nodes = virtual_topology(8, 4);
    const Topology sockets = nodes.on_sockets_of(2, SocketSource::slices);
    using Ends = std::vector<std::vector<int>>;  // source and target of each
    const auto ends = [](const Topology& topology, const std::vector<Request>& requests) {
        const Plan plan = make_plan(ListedPattern(requests), topology, {.scheme = Scheme::three_step}, {});
        Ends found;
        for (const Message& m : plan.messages(Phase::global)) found.push_back({m.source, m.target});
        return found;
    };
    const std::vector<Request> one{{{0, 5, 0}, 7}};
    CHECK(ends(nodes, one) == Ends{{3, 4}});
    CHECK(ends(sockets, one) == Ends{{1, 6}});
    // It goes by values: the first socket owns more of them, and the first needs more.
    const std::vector<Request> interleaved{{{1, 5, 0}, 7}, {{1, 5, 0}, 4}, {{1, 5, 0}, 5}, {{2, 4, 0}, 7}};
    CHECK(ends(sockets, interleaved) == Ends{{1, 4}});
    // Among equals the rank is taken whose turn it is anyway; if all share a socket, or none do, there is no
    // choice.
    const std::vector<Request> even{{{1, 5, 0}, 7}, {{2, 5, 0}, 4}};
    CHECK(ends(sockets, even) == Ends{{3, 4}});
    CHECK(ends(nodes.on_sockets_of(4, SocketSource::slices), one) == Ends{{3, 4}});
    // Each rank has its turn before one has another: the largest message is where it should be, the third is
    // not.
    std::vector<int> labels{0, 0, 0, 0, 1, 2, 3};
    const std::vector<Request> many{{{0, 9, 0}, 4}, {{0, 8, 1}, 5}, {{0, 7, 2}, 6}};
    const std::vector<int> two{0, 0, 1, 1, 0, 0, 0};
    CHECK(ends(Topology(labels, NodeSource::map).on_sockets(two, SocketSource::map), many) ==
          Ends{{0, 5}, {1, 4}, {3, 6}});
}

TEST_CASE("what a node passes on of one message crosses between its sockets as little as can be") {
    const auto values = [](const Plan& plan, Phase phase, const Topology& topology) {
        std::size_t crossing = 0;
        for (const Message& m : plan.messages(phase))
            crossing += topology.socket(m.source) != topology.socket(m.target) ? m.values() : 0;
        return crossing;
    };
    int compared = 0;
    int better = 0;
    for (unsigned seed = 1; seed < 400; seed += 2) {
        RandomCase c = random_case(seed, 9);
        for (int rank = 0; rank < 9; ++rank) c.labels[static_cast<std::size_t>(rank)] = rank / 5;
        const Topology topology = c.topology();
        const ListedPattern pattern(c.requests);
        const SchemeOptions three_step{.scheme = Scheme::three_step};
        const Plan plan = make_plan(pattern, topology, three_step, {});
        const Plan blind = make_plan(pattern, virtual_topology(9, 5), three_step, {});
        for (const Message& m : plan.messages(Phase::global)) {
            // Items by who owns them and by who needs them, as values of each socket.
            std::array<std::size_t, 3> own{}, need{};
            for (const Item& item : m.items) {
                own[static_cast<std::size_t>(topology.socket(item.owner))] +=
                    static_cast<std::size_t>(item.values);
                for (const Request& r : pattern.requests())
                    if (r.item == item && topology.same_node(r.rank, m.target))
                        need[static_cast<std::size_t>(topology.socket(r.rank))] +=
                            static_cast<std::size_t>(item.values);
            }
            const auto least = [](const std::array<std::size_t, 3>& of) {
                return of[0] + of[1] + of[2] - std::ranges::max(of);
            };
            // One message leaves each node, and one comes.
            const auto on = [&](Phase phase, const Plan& p, int rank) {
                Plan here = p;
                for (PhaseMessages& one : here.phases)
                    std::erase_if(one.messages, [&](const Message& message) {
                        return !topology.same_node(message.source, rank);
                    });
                return values(here, phase, topology);
            };
            CHECK(on(Phase::local_s, plan, m.source) == least(own));
            CHECK(on(Phase::local_r, plan, m.target) == least(need));
            better += on(Phase::local_r, blind, m.target) > least(need) ? 1 : 0;
            ++compared;
        }
    }
    CHECK(compared > 200);
    CHECK(better > 50);
}

TEST_CASE("where split raises its cap, a node gets no more messages than it has ranks") {
    // 17 values for 9 ranks: none may carry fewer than two.
    const Topology topology = virtual_topology(18, 9);
    std::vector<Request> requests;
    for (int n = 0; n < 17; ++n) requests.push_back({{n % 9, 1, n}, 9 + n % 9});
    const Plan plan =
        make_plan(ListedPattern(requests), topology, {.scheme = Scheme::split, .message_cap = 8}, {});
    CHECK(plan.messages(Phase::global).size() == 9);
}

TEST_CASE("the naive checker complains of a plan with an item dropped or a message redirected or repeated") {
    enum class Change { drop_item, redirect, repeat };
    int tried = 0;
    for (unsigned seed = 0; seed < by_day_or_night(400); ++seed) {
        const RandomCase c = random_case(seed);
        const Topology topology = c.topology();
        const ListedPattern pattern(c.requests);
        Dice dice(seed);
        for (const auto& [options, plan] : all_plans(pattern, topology, c.message_cap, {}))
            for (std::size_t s = 0; s <= plan.phases.size(); ++s)
                for (const Change change : {Change::drop_item, Change::redirect, Change::repeat}) {
                    Plan mutant = plan;
                    auto& messages = (s == 0 ? mutant.local : mutant.phases[s - 1]).messages;
                    if (messages.empty()) continue;
                    const int n = dice.below(static_cast<int>(messages.size()));
                    Message& m = messages[static_cast<std::size_t>(n)];
                    if (change == Change::drop_item) {
                        m.items.erase(m.items.begin() + dice.below(static_cast<int>(m.items.size())));
                    } else if (change == Change::redirect) {
                        m.target = (m.target + 1 + dice.below(topology.ranks() - 1)) % topology.ranks();
                        std::ranges::sort(messages, {}, [](const Message& one) {
                            return std::tuple(one.source, one.target, one.sequence);
                        });
                    } else {
                        const Message copy{m.source, m.target, m.sequence + 1, m.items};
                        messages.insert(messages.begin() + n + 1, copy);
                    }
                    ++tried;
                    INFO("seed " << seed << ", " << name(options) << ", phase " << s << ", change "
                                 << static_cast<int>(change));
                    REQUIRE_FALSE(
                        test::complaint(mutant, pattern.requests(), topology.node_of(), dedups(options))
                            .empty());
                }
    }
    CHECK(tried > 2500);
}

namespace {

// Counts the requests that a planner asks for.
class WatchedPattern : public Pattern {
  public:
    explicit WatchedPattern(const Pattern& pattern) : pattern_(pattern) {}
    std::vector<Request> needed_by(std::span<const int> ranks) const override {
        return counted(pattern_.needed_by(ranks));
    }
    double most_requests() const override { return pattern_.most_requests(); }
    std::vector<Request> owned_by(std::span<const int> ranks) const override {
        return counted(pattern_.owned_by(ranks));
    }
    std::size_t asked() const { return asked_; }

  private:
    std::vector<Request> counted(std::vector<Request> requests) const {
        asked_ += requests.size();
        return requests;
    }
    const Pattern& pattern_;
    mutable std::size_t asked_ = 0;
};

Layout one_box_each(const Index& boxes, int width, int rank) {
    return {boxes, width, periodic, place(boxes, static_cast<int>(product(boxes)), Placement::curve), rank};
}

}  // namespace

TEST_CASE("what a rank looks at to plan its ghosts does not grow with the number of ranks") {
    constexpr int ranks_per_node = 16;
    constexpr std::size_t requests_of_box = 6 * 9 + 12 * 3 + 8;  // items by the ranks that need them
    for (const Scheme scheme : {Scheme::standard, Scheme::two_step, Scheme::three_step, Scheme::split}) {
        const auto asked = [&](const Index& boxes) {
            const int ranks = static_cast<int>(product(boxes));
            const GhostPattern ghosts(one_box_each(boxes, 8, ranks / 2 + 5), 1, Neighbours::all);
            const WatchedPattern watched(ghosts);
            make_plan(watched, virtual_topology(ranks, ranks_per_node),
                      {.scheme = scheme, .message_cap = 512}, ranks / 2 + 5);
            return watched.asked();
        };
        const std::size_t nodes_asked =
            scheme == Scheme::standard || scheme == Scheme::two_step ? 2 : 27 + 125 + 3;
        const std::size_t ranks_asked = scheme == Scheme::standard ? 2 : nodes_asked * ranks_per_node;
        CHECK(asked({16, 16, 16}) > 0);
        CHECK(asked({16, 16, 16}) <= ranks_asked * requests_of_box);
        CHECK(asked({32, 32, 32}) <= ranks_asked * requests_of_box);
    }
}

TEST_CASE("every rank's own part of ghost plans fits together, for any boxes, owners, depth and nodes") {
    const auto placement = GENERATE(Placement::curve, Placement::round_robin, Placement::scattered);
    const auto neighbours = GENERATE(Neighbours::faces, Neighbours::all);
    for (const Index boxes : {Index{1, 1, 1}, Index{2, 1, 1}, Index{3, 2, 2}, Index{4, 3, 3}})
        for (const int ranks : {1, 3, 7})
            for (const int depth : {1, 2, 3})
                for (const Boundaries& boundaries : {periodic, mixed}) {
                    const int width = 3 + depth % 2;
                    // Every third box of the larger domains is missing.
                    std::vector<int> present;
                    for (int box = 0; box < static_cast<int>(product(boxes)); ++box)
                        if (product(boxes) < 12 || box % 3 != 1) present.push_back(box);
                    const Domain domain(boxes, boundaries, present, Boundary::dirichlet);
                    const auto owners = place(domain, ranks, placement);
                    const Topology topology(std::vector<int>{0, 1, 0, 0, 2, 1, 0}, NodeSource::map);
                    const auto pattern_of_rank = [&](int rank) {
                        return GhostPattern(Layout(domain, width, owners, rank), depth, neighbours, 2);
                    };
                    const GhostPattern pattern = pattern_of_rank(0);
                    const std::vector<Request> requests = pattern.needed_by(every(ranks));
                    REQUIRE(requests == pattern.owned_by(every(ranks)));
                    const Topology here(std::span(topology.node_of()).first(static_cast<std::size_t>(ranks)),
                                        NodeSource::map);
                    for (const Scheme scheme : {Scheme::standard, Scheme::two_step, Scheme::three_step,
                                                Scheme::split, Scheme::staged_axes}) {
                        const SchemeOptions options{.scheme = scheme, .message_cap = 64};
                        const Plan whole = make_plan(pattern, here, options, {});
                        INFO("scheme " << static_cast<int>(scheme) << ", ranks " << ranks << ", boxes "
                                       << product(boxes) << ", depth " << depth);
                        REQUIRE(test::complaint(whole, requests, here.node_of(), dedups(options)) == "");
                        for (int rank = 0; rank < ranks; ++rank)
                            REQUIRE(make_plan(pattern_of_rank(rank), here, options, rank) ==
                                    part_of(whole, rank));
                    }
                }
}

TEST_CASE("staged axes: six messages fill all ghosts, with slabs that grow") {
    constexpr int n = 8;
    const Index boxes{4, 4, 4};
    for (const int depth : {1, 2, 4}) {
        const GhostPattern pattern(one_box_each(boxes, n, 0), depth, Neighbours::all);
        const Plan plan = make_plan(pattern, Topology(), {.scheme = Scheme::staged_axes}, 21);
        REQUIRE(plan.phases.size() == 3);
        std::size_t across = n;
        std::size_t slab = n * n;
        for (const PhaseMessages& phase : plan.phases) {
            int sends = 0;
            for (const Message& m : phase.messages) {
                CHECK(m.values() == slab * static_cast<std::size_t>(depth));
                sends += m.source == 21 ? 1 : 0;
            }
            CHECK(sends == 2);
            const std::size_t grown = n + 2 * static_cast<std::size_t>(depth);
            slab = phase.phase == Phase::axis_x ? across * grown : grown * grown;
        }
    }
}
