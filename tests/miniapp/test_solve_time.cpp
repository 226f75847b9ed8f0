// Predicted seconds of solves, and the limit of dry runs.

#include <catch2/catch.hpp>

#include "miniapp/prediction/seconds/prediction.hpp"
#include "miniapp/setup/machine/dry_run_cost.hpp"

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
    return {.kind = kind,
            .level = 0,
            .words = kind == Event::Kind::finish_all_reduce ? 0u : 1u,
            .number = number};
}

struct Place {
    Topology topology = virtual_topology(8, 1);  // three rounds between nodes: 30 us
    std::vector<ExchangePlan> plans;
    Model model = plain_machine();
    std::optional<double> one_word = {};

    std::unique_ptr<VariedCosts> costs(Progression progression = Progression::by_mpi) const {
        return std::make_unique<VariedCosts>(
            plans, VirtualRanks{.topology = topology,
                                .model = model,
                                .all_reduce = AllReduceAlgorithm::recursive_doubling,
                                .progression = progression,
                                .one_word = one_word});
    }
    SolveTime time(const Trace& trace, Progression progression = Progression::by_mpi) const {
        const Slice slice{.trace = trace, .ranks = {8}};
        return time_of_solve(std::span(&slice, 1), costs(progression)->with({}));
    }
};

}  // namespace

TEST_CASE("work takes its bytes' time and sums the time of their rounds, one after the other") {
    Place place;
    const Trace trace{work(Op::smooth, 0, 5000), sum(Event::Kind::all_reduce), work(Op::smooth, 0, 2000)};
    const SolveTime time = place.time(trace);
    CHECK(time.seconds() == Approx(37e-6));
    CHECK(time.all_reduce_seconds() == Approx(30e-6));
    CHECK(time.reductions == 1);
    CHECK(time.words == 1);
    for (const TimerRow& row : time.rows)
        if (row.op == "smooth") CHECK(row.bytes_moved == Approx(8 * 7000));
    place.model.machine.noise.all_reduce = 6e-5;
    CHECK(place.time(trace).seconds() == Approx(97e-6));
    // A given time of one word replaces the 30 us, and the machine's delay stays.
    place.one_word = 4e-6;
    for (const Progression progression : {Progression::by_mpi, Progression::by_program})
        CHECK(place.time(trace, progression).seconds() == Approx(71e-6));
}

TEST_CASE("the part of a sum in flight that work does not hide is waited for") {
    Place place;
    const auto overlapped = [&](double bytes) {
        return place.time({sum(Event::Kind::begin_all_reduce), work(Op::bottom_operator, 0, bytes),
                           sum(Event::Kind::finish_all_reduce)});
    };
    CHECK(overlapped(10000).seconds() == Approx(30e-6));  // max(sum, work)
    CHECK(overlapped(10000).all_reduce_seconds() == Approx(20e-6));
    CHECK(overlapped(40000).seconds() == Approx(40e-6));
    CHECK(overlapped(40000).all_reduce_seconds() == 0);

    // Two in flight: for each half of the time that a sum and the work before it take.
    Trace two{sum(Event::Kind::begin_all_reduce, 0)};
    for (int n = 1; n <= 100; ++n) {
        two.push_back(work(Op::bottom_operator, 0, 1000));
        two.push_back(sum(Event::Kind::begin_all_reduce, n % 2));
        two.push_back(sum(Event::Kind::finish_all_reduce, (n - 1) % 2));
    }
    CHECK(place.time(two).seconds() == Approx(100 * 15.5e-6));
}

TEST_CASE("a nonblocking all-reduce of MPI has a delay of its own, one of messages that of a blocking one") {
    Place place;
    place.model.machine.noise = {.all_reduce = 1e-5, .nonblocking_all_reduce = 5e-5};
    const Trace blocking{sum(Event::Kind::all_reduce)};
    const Trace in_flight{sum(Event::Kind::begin_all_reduce), sum(Event::Kind::finish_all_reduce)};
    CHECK(place.time(blocking).seconds() == Approx(40e-6));
    CHECK(place.time(in_flight).seconds() == Approx(80e-6));
    CHECK(place.time(in_flight, Progression::by_program).seconds() == Approx(40e-6));
    place.model.machine.noise.nonblocking_all_reduce.reset();
    CHECK(place.time(in_flight).seconds() == Approx(40e-6));
}

TEST_CASE("a sum of our own messages moves from round to round only where it is progressed") {
    Place place;
    const Event progress{.kind = Event::Kind::progress, .level = 0};
    const auto progressed = [&](std::initializer_list<double> works, Progression progression) {
        Trace trace{sum(Event::Kind::begin_all_reduce)};
        for (const double bytes : works) {
            trace.push_back(work(Op::bottom_operator, 0, bytes));
            trace.push_back(progress);
        }
        trace.push_back(sum(Event::Kind::finish_all_reduce));
        return place.time(trace, progression);
    };
    // 40 us of work hide three rounds of 10 us where MPI progresses them; else the first, and others
    // while it is waited for; or, in pieces, one with each call that finds the messages of a round there.
    CHECK(progressed({40000}, Progression::by_mpi).seconds() == Approx(40e-6));
    CHECK(progressed({40000}, Progression::by_program).seconds() == Approx(60e-6));
    CHECK(progressed({12000, 12000, 16000}, Progression::by_program).seconds() == Approx(40e-6));
    CHECK(progressed({8000, 8000, 24000}, Progression::by_program).seconds() == Approx(50e-6));
    CHECK(progressed({}, Progression::by_program).seconds() == Approx(30e-6));

    // 2 us of each message keep a process busy at either end: neither hides.
    for (const Locality locality : {Locality::node, Locality::off_node})
        place.model.machine.messages[0]->at(locality, Protocol::rendezvous)->overhead = 2e-6;
    const SolveTime busy = progressed({12000, 12000, 16000}, Progression::by_program);
    CHECK(busy.seconds() == Approx(52e-6));
    CHECK(busy.all_reduce_seconds() == Approx(12e-6));
    CHECK(progressed({}, Progression::by_program).seconds() == Approx(30e-6));
    CHECK(progressed({40000}, Progression::by_mpi).seconds() == Approx(40e-6));

    const Trace trace{sum(Event::Kind::begin_all_reduce), work(Op::bottom_operator, 0, 15000), progress,
                      sum(Event::Kind::finish_all_reduce)};
    Slice slice{.trace = trace};
    PredictedSolve solve;
    predict(solve, std::span(&slice, 1), *place.costs(Progression::by_program), {});
    CHECK(solve.messages == Approx(2));
}

TEST_CASE("latency counts messages one after the other") {
    Place place;
    const Trace trace{work(Op::bottom_operator, 0, 170000), sum(Event::Kind::all_reduce)};
    Slice slice{.trace = trace};
    PredictedSolve solve;
    predict(solve, std::span(&slice, 1), *place.costs(), {});
    CHECK(solve.seconds().solve == Approx(200e-6));
    CHECK(solve.messages == Approx(3));
    CHECK(solve.delayed[1].solve == Approx(260e-6));
    CHECK(solve.delayed[2].all_reduce == Approx(230e-6));

    // On one node no message is slower.
    place.topology = virtual_topology(8, 8);
    PredictedSolve alone;
    predict(alone, std::span(&slice, 1), *place.costs(), {});
    CHECK(alone.messages == 0);
}

TEST_CASE("a refused dry run prints digits in which its cost exceeds the limit") {
    CHECK(DryRunLimit{}.exceeded_by({17, 2.0004e9}, "less") ==
          "a dry run takes about 17 s of a processor and 2.0004 GB, and may take 60 s and 2.0000 GB: choose "
          "less, or run.dry_run_limit = 2");
    CHECK(DryRunLimit{}.exceeded_by({60.2, 1e9}, "less") ==
          "a dry run takes about 60.2 s of a processor and 1.0 GB, and may take 60.0 s and 2.0 GB: choose "
          "less, or run.dry_run_limit = 2");
}
