// Seconds of solves, from what they do.

#include <catch2/catch.hpp>

#include "miniapp/prediction/predicted_solve.hpp"

using namespace keel;

namespace {

// 1 GB/s, and 10 us a message whatever its length.
Model plain_machine() {
    Model model;
    MessageCosts costs;
    for (const Locality locality : {Locality::node, Locality::off_node})
        costs.at(locality, Protocol::rendezvous) = Postal{1e-5, 1e-30};
    model.machine.messages[0] = costs;
    model.machine.injection_beta = 1e-30;
    model.machine.compute = Compute{1e9, 0};
    return model;
}

Event work(Op op, int level, double bytes) {
    return {.kind = Event::Kind::work, .level = level, .op = op, .calls = 1, .work = {0, bytes}};
}
Event sum(Event::Kind kind, int number = 0) {
    return {.kind = kind, .level = 0, .words = kind == Event::Kind::finish_sum ? 0u : 1u, .number = number};
}

struct Place {
    Topology topology = virtual_topology(8, 1);  // three rounds between nodes: 30 us
    std::vector<ExchangePlan> plans;
    Model model = plain_machine();

    SolveTime time(const Trace& trace, double boxes = 1) {
        Costs costs(plans, topology, model, AllReduceModel::recursive_doubling);
        Slice slice{.trace = &trace};
        slice.boxes = boxes;
        slice.ranks = 8;
        return time_of_solve(std::span(&slice, 1), costs);
    }
};

}  // namespace

TEST_CASE("work takes its bytes' time and sums the time of their rounds, one after the other") {
    Place place;
    const Trace trace{work(Op::smooth, 0, 5000), sum(Event::Kind::sum), work(Op::smooth, 0, 2000)};
    const SolveTime time = place.time(trace);
    CHECK(time.seconds() == Approx(37e-6));
    CHECK(time.all_reduce_seconds() == Approx(30e-6));
    CHECK(time.reductions == 1);
    CHECK(time.words == 1);
    CHECK(place.time(trace, 3).seconds() == Approx(51e-6));  // three boxes for each that was there
    for (const TimerRow& row : time.rows)
        if (row.op == "smooth") CHECK(row.bytes_moved == Approx(8 * 7000));
    place.model.machine.noise.all_reduce = 6e-5;
    CHECK(place.time(trace).seconds() == Approx(97e-6));
}

TEST_CASE("of a sum under way only what work does not hide is waited for") {
    Place place;
    const auto overlapped = [&](double bytes) {
        return place.time(
            {sum(Event::Kind::begin_sum), work(Op::bottom_operator, 0, bytes), sum(Event::Kind::finish_sum)});
    };
    CHECK(overlapped(10000).seconds() == Approx(30e-6));  // max(sum, work)
    CHECK(overlapped(10000).all_reduce_seconds() == Approx(20e-6));
    CHECK(overlapped(40000).seconds() == Approx(40e-6));
    CHECK(overlapped(40000).all_reduce_seconds() == 0);

    // Two under way: for each half of the time that a sum and the work before it take.
    Trace two{sum(Event::Kind::begin_sum, 0)};
    for (int n = 1; n <= 100; ++n) {
        two.push_back(work(Op::bottom_operator, 0, 1000));
        two.push_back(sum(Event::Kind::begin_sum, n % 2));
        two.push_back(sum(Event::Kind::finish_sum, (n - 1) % 2));
    }
    CHECK(place.time(two).seconds() == Approx(100 * 15.5e-6));
}

TEST_CASE("latency counts messages one after the other, and 5 % of the time tells what is tolerated") {
    Place place;
    const Trace trace{work(Op::bottom_operator, 0, 170000), sum(Event::Kind::sum)};
    Slice slice{.trace = &trace};
    PredictedSolve solve;
    predict_times(solve, std::span(&slice, 1), place.plans,
                  {place.topology, place.model, AllReduceModel::recursive_doubling, false, 0});
    CHECK(solve.seconds.solve == Approx(200e-6));
    CHECK(solve.solve.messages == Approx(3));
    CHECK(*solve.solve.seconds == Approx(10e-6 / 3));
    CHECK(solve.noisy[1].solve == Approx(260e-6));
    CHECK(solve.noisy[2].all_reduce == Approx(230e-6));

    // On one node no message is slower.
    place.topology = virtual_topology(8, 8);
    PredictedSolve alone;
    predict_times(alone, std::span(&slice, 1), place.plans,
                  {place.topology, place.model, AllReduceModel::recursive_doubling, false, 0});
    CHECK(alone.solve.messages == 0);
    CHECK(!alone.solve.seconds);
}
