#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/timing/timed_operations.hpp"
#include "tests/chosen_backend.hpp"

using namespace keel;

namespace {

// Writes down what it is told.
class Written : public Regions {
  public:
    void begin(const char* name) override { told.push_back(std::string("begin ") + name); }
    void end(const char* name) override { told.push_back(std::string("end ") + name); }

    std::vector<std::string> told;
};

}  // namespace

TEST_CASE("operations are regions to whoever is told of them, also when they fail") {
    const Layout layout({1, 1, 1}, 4, Boundaries{}, {0}, 0);
    const auto plain = test::chosen_backend()->make_operations(layout, 1);
    Ledger ledger(2);
    TimedOperations x(*plain, ledger, 1, Caller::bottom);
    const Field u = x.make_field();
    x.fill(u, 1.0);
    CHECK(ledger.marks() == nullptr);
    Written first;
    Written second;
    ledger.mark(&first);
    ledger.mark(nullptr);
    ledger.mark(&second);
    x.fill(u, 1.0);
    double norm = 0;
    x.max_norm(u, norm);
    timed(ledger, Op::smooth, 0, [] {});
    CHECK_THROWS(timed(ledger, Op::wait, 0, [] { throw std::runtime_error("device lost"); }));
    CHECK(first.told == std::vector<std::string>{"begin bottom.vector level 1", "end bottom.vector level 1",
                                                 "begin bottom.dots level 1", "end bottom.dots level 1",
                                                 "begin smooth level 0", "end smooth level 0",
                                                 "begin exchange.wait level 0", "end exchange.wait level 0"});
    CHECK(second.told == first.told);
    CHECK(ledger.at(Op::bottom_vector, 1).calls == 2);
}

TEST_CASE("a timed action is counted, its time added, and its result returned") {
    Ledger ledger(1);
    const Entry& entry = ledger.at(Op::vector, 0);
    CHECK(timed(ledger, Op::vector, 0, [] { return 42; }) == 42);
    int runs = 0;
    const double before = entry.seconds;
    timed(ledger, Op::vector, 0, [&] { ++runs; });
    CHECK(runs == 1);
    CHECK(entry.calls == 2);
    CHECK(entry.seconds >= before);
    CHECK(entry.longest <= entry.seconds);
    CHECK(2 * entry.longest >= entry.seconds);
    Entry sum = entry;
    for (const double seconds : {7.0, 1.0}) {
        Entry other;
        other.longest = seconds;
        sum += other;
    }
    CHECK(sum.longest == 7);
}

TEST_CASE("a ledger below a level is booked at that level, of its first levels") {
    Ledger grids(3);
    Ledger own = grids.below(2, 4);
    CHECK(own.levels() == 4);
    grids.at(Op::smooth, 2).calls = 1;
    for (int level = 0; level < 4; ++level) {
        own.at(Op::smooth, level).calls = 10;
        own.at(Op::send, level).traffic = {.messages = 2, .bytes = 16};
        own.at(Op::smooth, level).longest = level;
    }
    grids.fold(own, 3, 2);
    CHECK(grids.at(Op::smooth, 2).calls == 31);
    CHECK(grids.at(Op::smooth, 2).longest == 2);
    CHECK(grids.at(Op::send, 2).traffic == Traffic{.messages = 6, .bytes = 48});
    CHECK(grids.at(Op::smooth, 1).calls == 0);
    CHECK(own.at(Op::smooth, 0).calls == 10);
}

TEST_CASE("work on levels below a level is charged, too") {
    std::vector<double> asked;
    const Ledger grids(3, [&](const Work& work) {
        asked.push_back(work.bytes);
        return 0.0;
    });
    Ledger own = grids.below(2, 4);
    own.book(Op::smooth, 0, {0, 16});
    own.book(Op::vector, 3, {0, 8});
    CHECK(asked == std::vector<double>{16, 8});
}

TEST_CASE("traffic adds up and differs, number by number") {
    Traffic total{1, 20, 300, 4000};
    total += {5, 60, 700, 8000};
    CHECK(total == Traffic{6, 80, 1000, 12000});
    CHECK_FALSE(total == Traffic{6, 80, 1000, 12001});
    CHECK(total - Traffic{1, 30, 500, 7000} == Traffic{5, 50, 500, 5000});
}

TEST_CASE("every operation has a name of its own") {
    for (std::size_t a = 0; a < op_count; ++a)
        for (std::size_t b = 0; b < a; ++b)
            CHECK(std::string(name(static_cast<Op>(a))) != name(static_cast<Op>(b)));
    for (std::size_t a = 0; a < op_count; ++a) {
        const auto op = static_cast<Op>(a);
        CHECK(is_exchange(op) == (std::string(name(op)).rfind("exchange.", 0) == 0));
        CHECK(is_reduction(op) == (std::string(name(op)).rfind("reduction", 0) == 0));
    }
}
