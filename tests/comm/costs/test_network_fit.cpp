// Parameters of a network from synthetic timings whose parameters are known.

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "comm/network/network_fit.hpp"
#include "tests/comm/costs/golden_machines.hpp"

using namespace keel;

namespace {

constexpr Locality localities[] = {Locality::socket, Locality::node, Locality::off_node};

// Sizes 1 to 4 MiB on the machine, each time up to `noise` longer.
std::vector<std::vector<TimedMessage>> timings(const Machine& machine, double noise, unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> longer(0, noise);
    std::vector<std::vector<TimedMessage>> classes;
    for (const Locality locality : localities) {
        classes.emplace_back();
        for (double bytes = 1; bytes <= 1 << 22; bytes *= 2)
            classes.back().push_back(
                {bytes, machine.message(Memory::host, locality, bytes).time(bytes) * (1 + longer(engine))});
    }
    return classes;
}

// With switches at powers of two, where they can be seen.
Machine known_machine(const std::string& name) {
    Machine machine = test::golden_machine(test::golden_models(), name);
    machine.messages[0]->eager_from = 512;
    machine.messages[0]->rendezvous_from = 16384;
    return machine;
}

void check_found(const Machine& machine, double noise, unsigned seed, double tolerance) {
    const auto classes = timings(machine, noise, seed);
    const Switches switches = find_switches(classes);
    INFO(machine.name << ", noise " << noise << ", seed " << seed);
    CHECK(switches.eager_from == 512);
    CHECK(switches.rendezvous_from == 16384);
    for (std::size_t c = 0; c < classes.size(); ++c) {
        const auto fits = fit_protocols(localities[c], classes[c], switches);
        REQUIRE(fits.size() == 3);
        for (const Fit& fit : fits) {
            const Postal& wanted = *machine.messages[0]->at(localities[c], fit.protocol);
            CHECK(fit.locality == localities[c]);
            CHECK(fit.accepted());
            CHECK(fit.max_residual <= noise + 1e-9);
            CHECK(fit.rms_residual <= fit.max_residual);
            CHECK(fit.cost.alpha == Approx(wanted.alpha).epsilon(tolerance));
            CHECK(fit.cost.beta == Approx(wanted.beta).epsilon(tolerance));
        }
    }
}

}  // namespace

TEST_CASE("a fit finds the parameters and the switches that the timings were made with") {
    for (const std::string name : {"blue_waters", "lassen"}) check_found(known_machine(name), 0, 1, 1e-9);
}

TEST_CASE("a fit stands noise") {
    // The beta of short messages hardly shows: 1e-10 s/B makes 3 % of alpha at 128 bytes.
    Machine machine = known_machine("blue_waters");
    for (const unsigned seed : {1u, 2u, 3u, 4u, 5u}) check_found(machine, 0.02, seed, 0.15);
}

TEST_CASE("one protocol is not taken for three") {
    for (const unsigned seed : {1u, 2u, 3u, 4u, 5u}) {
        Machine machine = known_machine("lassen");
        machine.messages[0]->eager_from = 0;
        machine.messages[0]->rendezvous_from = 0;
        const Switches none = find_switches(timings(machine, 0.05, seed));
        CHECK(none.eager_from == 0);
        CHECK(none.rendezvous_from == 0);
        machine.messages[0]->rendezvous_from = 4096;
        const Switches one = find_switches(timings(machine, 0.02, seed));
        CHECK(one.eager_from == 0);
        CHECK(one.rendezvous_from == 4096);
    }
}

TEST_CASE("classes without noise decide where protocols switch, not one with much") {
    const Machine machine = known_machine("lassen");
    for (const unsigned seed : {1u, 2u, 3u, 4u, 5u}) {
        auto classes = timings(machine, 0.002, seed);
        // Ranks that share processors make noise, and long messages slow, elsewhere.
        classes.front() = timings(machine, 0.3, seed).front();
        for (TimedMessage& sample : classes.front())
            if (sample.bytes >= 1 << 18) sample.seconds *= 5;
        const Switches found = find_switches(classes);
        CHECK(found.eager_from == 512);
        CHECK(found.rendezvous_from == 16384);
    }
}

TEST_CASE("weights are relative: a short message counts as much as a long one") {
    // The longest is off by a percent, which in plain least squares would make alpha negative.
    const std::vector<TimedMessage> samples{{1, 1e-6}, {2, 1e-6}, {4, 1e-6}, {1e6, 1.01e-3}, {2e6, 1.98e-3}};
    const Fit fit = fit_postal(samples);
    CHECK(fit.cost.alpha == Approx(1e-6).epsilon(0.01));
    CHECK(fit.cost.beta == Approx(1e-9).epsilon(0.01));
    CHECK(fit.max_residual == Approx(0.01).epsilon(0.5));
    CHECK(fit.samples == 5);
}

TEST_CASE("messages that get cheaper with their length are rejected") {
    const std::vector<TimedMessage> samples{{1, 2e-6}, {2, 1.9e-6}, {4, 1.7e-6}, {8, 1.4e-6}};
    const Fit fit = fit_postal(samples);
    CHECK(fit.cost.beta < 0);
    CHECK_FALSE(fit.accepted());
    CHECK_FALSE(Fit{.cost = {-1e-6, 1e-9}}.accepted());
    CHECK_THROWS(fit_postal(std::vector<TimedMessage>{{8, 1e-6}, {8, 2e-6}}));
}

TEST_CASE("a protocol whose line is rejected has that of all lengths, or that through the ends") {
    const auto samples = [](std::initializer_list<double> seconds) {
        std::vector<TimedMessage> all;
        for (const double s : seconds) all.push_back({std::ldexp(1.0, static_cast<int>(all.size())), s});
        return all;  // messages of 1, 2, 4, ... 32 bytes
    };
    const auto own = [](const std::vector<Fit>& fits) {
        std::vector<bool> found;
        for (const Fit& fit : fits)
            found.push_back(fit.through == LineThrough::own_lengths && fit.accepted());
        return found;
    };
    const Switches switches{4, 16};
    const auto good = samples({1.0, 1.1, 2.4, 2.8, 5.6, 7.2});
    CHECK(own(fit_protocols(Locality::node, good, switches)) == std::vector{true, true, true});
    const auto no_short = samples({1.0, 0.9, 2.4, 2.8, 5.6, 7.2});
    const auto fits = fit_protocols(Locality::node, no_short, switches);
    CHECK(own(fits) == std::vector{false, true, true});
    CHECK(fits[0].cost == fit_postal(no_short).cost);
    CHECK((fits[0].locality == Locality::node && fits[0].protocol == Protocol::short_));
    const auto no_rendezvous = samples({1.0, 1.1, 2.4, 2.8, 5.6, 5.5});
    CHECK(own(fit_protocols({}, no_rendezvous, switches)) == std::vector{true, true, false});

    // A busy node: all lengths together make no line.
    const std::vector<TimedMessage> busy{{1, 5e-4}, {2, 4e-4}, {4, 2e-5}, {8, 1e-5}, {16, 1e-5}, {32, 9e-4}};
    REQUIRE_FALSE(fit_postal(busy).accepted());
    const Fit ends = fit_protocols({}, busy, {})[0];
    CHECK((ends.accepted() && ends.through == LineThrough::ends));
    CHECK(ends.cost.time(1) == Approx(5e-4));
    CHECK(ends.cost.time(32) == Approx(9e-4));
    CHECK(ends.max_residual == Approx(ends.cost.time(16) / 1e-5 - 1));
    // Not even that.
    CHECK_FALSE(fit_protocols({}, samples({7.0, 6.0, 5.0, 4.0, 3.0, 2.0}), {})[0].accepted());

    // Lengths of which none is short, or none is rendezvous.
    CHECK(fit_protocols({}, good, {1, 16}).size() == 3);
    CHECK(fit_protocols({}, good, {1, 16})[0].through == LineThrough::all_lengths);
    CHECK(fit_protocols({}, good, {4, 64})[2].through == LineThrough::all_lengths);
}

TEST_CASE("the injection rate comes from what four or more processes send at once") {
    const Machine machine = known_machine("lassen");
    std::vector<TimedNode> samples;
    for (double bytes = 1024; bytes <= 1 << 24; bytes *= 2)
        for (const int processes : {1, 2, 4, 8}) {
            const double message = bytes / processes;
            const Postal cost = machine.message(Memory::host, Locality::off_node, message);
            const double floor = bytes * machine.injection();
            // Only with 4 processes or more is the node the limit.
            samples.push_back({processes, bytes, cost.alpha + (processes < 4 ? cost.beta * message : floor)});
        }
    const auto found = fit_injection(samples, *machine.messages[0]);
    REQUIRE(found);
    CHECK(*found == Approx(machine.injection()).epsilon(1e-12));

    const std::vector<TimedNode> alone{samples.begin(), samples.begin() + 1};
    CHECK_FALSE(fit_injection(alone, *machine.messages[0]));  // its message is eager
    CHECK_FALSE(fit_injection({}, *machine.messages[0]));
    CHECK_FALSE(fit_injection(samples, MessageCosts{}));
    const std::vector<TimedNode> pair{{2, 1e6, 1e-3}, {1, 1e6, 2e-3}};
    const double alpha = machine.message(Memory::host, Locality::off_node, 1e6).alpha;
    CHECK(*fit_injection(pair, *machine.messages[0]) == Approx((1e-3 - alpha) / 1e6).epsilon(1e-12));
}

TEST_CASE("concurrency is 1 where latencies overlap, 0 where they add up, and else not identifiable") {
    const double alpha = 2e-6;
    // Rounds in which each further message of a burst takes a part of alpha, and all messages their bytes.
    const auto rounds_of = [&](std::vector<double> parts_of_alpha, double bytes_take) {
        std::vector<std::vector<Burst>> rounds;
        for (const double part : parts_of_alpha)
            for (auto& round = rounds.emplace_back(); const int messages : {1, 2, 4, 8})
                round.push_back({messages, alpha * (1 + (messages - 1) * part) + messages * bytes_take});
        return rounds;
    };
    for (const double bytes_take : {0.0, 5e-6})
        for (const double part : {0.0, 0.05, 0.5, 1.0}) {
            const auto found = fit_concurrency(rounds_of({part, part, part + 0.01}, bytes_take), bytes_take);
            REQUIRE(found);
            CHECK(found->median == Approx(1 - part).margin(1e-9));
            CHECK(found->least == Approx(0.99 - part).margin(1e-9));
            CHECK(found->identifiable());
        }
    for (const std::vector<double>& parts : {std::vector{1.1, 0.6, -0.1}, {-0.7, -0.3}, {1.2, 1.6}}) {
        const auto found = fit_concurrency(rounds_of(parts, 0), 0);
        REQUIRE(found);
        CHECK_FALSE(found->identifiable());
    }
    CHECK_FALSE(fit_concurrency(rounds_of({0.5}, 0), 2 * alpha));  // the bytes alone take longer
    CHECK_FALSE(fit_concurrency({}, 0));
}
