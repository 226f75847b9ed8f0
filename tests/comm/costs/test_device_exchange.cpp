// Closed forms for exchanges of devices, against golden values and against what they count.

#include <catch2/catch.hpp>

#include "comm/costs/closed/comparison.hpp"
#include "comm/costs/closed/device_exchange.hpp"
#include "tests/comm/costs/golden_machines.hpp"

using namespace keel;
using nlohmann::json;

namespace {

void same(double ours, const json& golden) {
    CHECK(ours == Approx(golden.get<double>()).epsilon(1e-12).margin(0));
}

Machine lassen() {
    return test::golden_machine(test::golden_models(), "lassen");
}

// Rank r sends so many values to each of the next `neighbours` ranks of a ring.
ListedPattern ring(int ranks, int neighbours, int values) {
    std::vector<Request> requests;
    for (int rank = 0; rank < ranks; ++rank)
        for (int step = 1; step <= neighbours; ++step)
            requests.push_back({{rank, values, 0}, (rank + step) % ranks});
    return ListedPattern(requests);
}

}  // namespace

TEST_CASE("exchanges that devices share with helpers take as long as the golden values say") {
    const json golden = test::golden_models();
    const Machine machine = test::golden_machine(golden, "lassen");
    REQUIRE(golden.at("mirge").size() == 3);
    for (const json& point : golden.at("mirge")) {
        const json& in = point.at("input");
        const json& want = point.at("expect");
        for (const auto& [field, bytes] : want.at("bytes").items())
            for (const bool copies : {true, false}) {
                INFO(in << field << copies);
                const json& times = want.at(copies ? "time" : "time_nocopy").at(field);
                const SharedExchangeTime time = shared_exchange_time(
                    machine, {bytes, in.at("n_pb"), in.at("ppg"), copies, ChargedBytes::printed});
                same(time.to_helpers, times.at("st1"));
                same(time.on_node, times.at("st2_on"));
                same(time.off_node, times.at("st2_off"));
                same(time.from_helpers, times.at("st3"));
                same(time.total(), times.at("total"));
                CHECK(time.messages_of_helper == times.at("m_max"));
                CHECK(time.sending_ranks == times.at("ppn_active"));
            }
    }
}

TEST_CASE(
    "where every message is charged, bytes grow with messages, and one is as printed but for who sends") {
    const Machine machine = lassen();
    const auto time = [&](int neighbours, ChargedBytes charged) {
        return shared_exchange_time(machine, {1e6, neighbours, 10, true, charged});
    };
    const SharedExchangeTime printed = time(4, ChargedBytes::printed);
    const SharedExchangeTime meant = time(4, ChargedBytes::every_message);
    CHECK(meant.to_helpers == Approx(printed.to_helpers).epsilon(1e-14));
    CHECK(printed.sending_ranks == 36);
    CHECK(meant.sending_ranks == 4);
    CHECK(meant.off_node == Approx(6.84e-6 + 4 * 1e6 * 4.19e-11).epsilon(1e-14));
    // Of 21 messages to other nodes nine helpers have three at the most.
    const SharedExchangeTime many = time(24, ChargedBytes::every_message);
    CHECK(many.messages_of_helper == 3);
    CHECK(many.to_helpers ==
          Approx(21 * (3.15e-6 + 3.40e-11 * 1e6) + 1.27e-5 + 21 * 1e6 * 1.96e-11).epsilon(1e-14));
    CHECK(many.off_node == Approx(3 * 6.84e-6 + 84 * 1e6 * 4.19e-11).epsilon(1e-14));
    // Fewer neighbours than the node has other devices leave nothing to send elsewhere.
    CHECK(time(2, ChargedBytes::every_message).off_node == 0);
}

TEST_CASE("what stands beside helpers is a message after another, from the device or its host") {
    const Machine machine = lassen();
    const DeviceExchange exchange{1e6, 13, 10};
    CHECK(straight_exchange_time(machine, exchange) ==
          Approx(10 * (6.80e-6 + 1e6 * 7.29e-11)).epsilon(1e-14));
    CHECK(staged_exchange_time(machine, exchange) ==
          Approx(1.27e-5 + 1e7 * 1.96e-11 + 10 * 6.84e-6 + 4e7 * 4.19e-11 + 1.30e-5 + 1e7 * 1.85e-11)
              .epsilon(1e-14));
    // With three neighbours, which are on the node, the others send nothing.
    const double on_node = device_time_on_node(machine, {1e6, 3, 10});
    CHECK(on_node == Approx(4.15e-5 + 1.78e-5 + 2 * (4.43e-5 + 3.33e-5)).epsilon(1e-14));
    CHECK(straight_exchange_time(machine, {1e6, 3, 10}) == on_node);
}

TEST_CASE("the forms of a pattern go by its neighbours, on the node or not, and by its mean message") {
    const Machine machine = lassen();
    const Model model{machine, Memory::host};
    const Topology topology = virtual_topology(32, 4);
    SchemeOptions two_columns;
    two_columns.columns = 2;
    const auto rows = compare(ring(32, 10, 500), candidates_without_axes(two_columns), {topology, &model});
    REQUIRE(rows.front().devices);
    const DeviceForms& forms = *rows.front().devices;
    CHECK(forms.neighbours == 10);
    CHECK(forms.message_bytes == 2 * 8 * 500);
    CHECK(forms.helpers == 9);
    const DeviceExchange exchange{8000, 10, 10};
    CHECK(forms.straight == straight_exchange_time(machine, exchange));
    CHECK(forms.staged == staged_exchange_time(machine, exchange));
    CHECK(forms.shared == shared_exchange_time(machine, exchange).total());
    CHECK(forms.shared_as_printed ==
          shared_exchange_time(machine, {8000, 10, 10, true, ChargedBytes::printed}).total());
    for (std::size_t other = 1; other < rows.size(); ++other) CHECK_FALSE(rows[other].devices);
}

TEST_CASE("without devices, helpers, parameters or messages between nodes there are no forms of devices") {
    const PatternCounts some{.messages = 1, .bytes = 8, .neighbours = 1, .bytes_to_neighbours = 8};
    const Machine machine = lassen();
    CHECK(device_forms(some, 1, machine, 4));
    CHECK_FALSE(device_forms({}, 1, machine, 4));
    CHECK_FALSE(device_forms(some, 1, machine, 40));
    CHECK_FALSE(device_forms(some, 1, test::golden_machine(test::golden_models(), "blue_waters"), 16));
    Machine alone = machine;
    alone.ranks_per_node = 4;
    CHECK_FALSE(device_forms(some, 1, alone, 4));
    Machine unknown = machine;
    unknown.copies.clear();
    CHECK_FALSE(device_forms(some, 1, unknown, 4));
    CHECK_THROWS_WITH(staged_exchange_time(unknown, {8, 5, 10}),
                      Catch::Contains("[[copy]] with processes = 1"));
    unknown.gpus_per_socket.reset();
    CHECK_THROWS_WITH(straight_exchange_time(unknown, {8, 5, 10}),
                      Catch::Contains("machine.gpus_per_socket"));
}
