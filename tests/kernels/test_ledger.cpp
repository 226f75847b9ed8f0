#include <array>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/timing/timed_operations.hpp"
#include "tests/chosen_backend.hpp"

using namespace keel;

TEST_CASE("timed operations book calls and bytes in the row of the caller") {
    const Layout layout({1, 1, 1}, 8, Boundaries{}, {0}, 0);
    const auto plain = test::chosen_backend()->make_operations(layout, 1);
    Ledger ledger(2);
    TimedOperations cycle(*plain, ledger, 1, Caller::multigrid);
    TimedOperations bottom(*plain, ledger, 1, Caller::bottom);
    const Field u = cycle.make_field();
    const Field f = cycle.make_field();
    const Field c = cycle.make_field();
    const Stencil L{c, c, c, c};
    cycle.relax(u, L, f, Colour::red, 1.0);
    cycle.relax(u, L, f, Colour::black, 1.0);
    cycle.copy(u, f);
    bottom.copy(u, f);
    bottom.apply(u, L, f);

    CHECK(ledger.at(Op::smooth, 1).calls == 2);
    CHECK(ledger.at(Op::smooth, 1).work.bytes == 2 * 5 * 8 * 512.0);
    CHECK(ledger.at(Op::smooth, 1).seconds > 0);
    CHECK(ledger.at(Op::smooth, 0).calls == 0);
    CHECK(ledger.at(Op::vector, 1).calls == 1);
    CHECK(ledger.at(Op::bottom_vector, 1).calls == 1);
    CHECK(ledger.at(Op::bottom_vector, 1).work.bytes == 2 * 8 * 512.0);
    CHECK(ledger.at(Op::bottom_operator, 1).calls == 1);
    ledger.clear();
    CHECK(ledger.at(Op::smooth, 1).calls == 0);
}

TEST_CASE("work is charged as it is booked") {
    const Layout layout({1, 1, 1}, 4, Boundaries{}, {0}, 0);
    const auto plain = test::chosen_backend()->make_operations(layout, 1);
    int asked = 0;
    double bytes = 0;
    Ledger ledger(3, [&](const Work& work) {
        ++asked;
        bytes += work.bytes;
        return 0.0;
    });
    TimedOperations cycle(*plain, ledger, 0, Caller::multigrid);
    TimedOperations bottom(*plain, ledger, 2, Caller::bottom);
    const Field u = cycle.make_field();
    const Field f = cycle.make_field();
    cycle.copy(u, f);
    bottom.copy(u, f);
    CHECK(asked == 2);
    CHECK(bytes == ledger.at(Op::vector, 0).work.bytes + ledger.at(Op::bottom_vector, 2).work.bytes);
}

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

TEST_CASE("every operation is booked once, where its caller's rows are, and what it returned is passed on") {
    const auto caller = GENERATE(Caller::multigrid, Caller::bottom);
    const Layout layout({1, 1, 1}, 4, Boundaries{}, {0}, 0);
    const auto backend = test::chosen_backend();
    const auto plain = backend->make_operations(layout, 2);
    const auto plain_coarse = backend->make_operations(layout.coarsened(), 2);
    Ledger ledger(3);
    TimedOperations x(*plain, ledger, 2, caller);
    CHECK(x.layout().local().data() == plain->layout().local().data());
    const Field u = x.make_field();
    const Field f = x.make_field();
    const Field coarse = plain_coarse->make_field();
    const Stencil L{x.make_field(), x.make_field(), x.make_field(), x.make_field()};

    // Setting up is not part of what is timed.
    x.assign(L.inverse_diagonal, cube(4), [](const Index&) { return 1.0; });
    x.complete_diagonal(L);
    x.restrict_faces(coarse, L.x, 0, 0.25);
    const Buffer buffer = x.make_buffer(4, Wire::staged);
    const auto pack = BlockCopy::pack(0, {{}, {4, 1, 1}}, 0);
    const BlockCopy unpack = pack.reversed();
    const auto local = BlockCopy::local(0, {{}, {4, 1, 1}}, 0, {0, 2, 0});
    const auto forward = BlockCopy::forward(0, 0, 4);
    const BoundaryItem side{0, {{-1, 0, 0}, {1, 4, 4}}, {-1, 0, 0}};
    const auto packed = x.make_items(std::span(&pack, 1));
    const auto unpacked = x.make_items(std::span(&unpack, 1));
    const auto copied = x.make_items(std::span(&local, 1));
    const auto forwarded = x.make_items(std::span(&forward, 1));
    const Buffer second = x.make_buffer(4, Wire::staged);
    const auto sides = x.make_items(std::span(&side, 1));
    x.read(u, cube(4));
    for (std::size_t op = 0; op < op_count; ++op) CHECK(ledger.at(static_cast<Op>(op), 2).calls == 0);

    double number = 0;
    double high_and_low[2] = {};
    const std::span<double> two(high_and_low);
    const Product square{u, u};
    const std::span<double> one(&number, 1);
    const std::span<const Field> only(&u, 1);
    const std::array fields{u, f};
    const bool cycle = caller == Caller::multigrid;
    const Op vector = cycle ? Op::vector : Op::bottom_vector;
    const Op dots = cycle ? Op::vector : Op::bottom_dots;
    const Op residual = cycle ? Op::residual : Op::bottom_operator;
    const Op smooth = cycle ? Op::smooth : Op::bottom_operator;
    const Op precondition = cycle ? Op::smooth : Op::bottom_preconditioner;
    const auto books = [&](Op op, const auto& action) {
        ledger.clear();
        const Work work = action();
        CHECK(work.bytes > 0);
        for (std::size_t other = 0; other < op_count; ++other)
            for (int level = 0; level < 3; ++level) {
                const bool here = level == 2 && static_cast<Op>(other) == op;
                const Entry& entry = ledger.at(static_cast<Op>(other), level);
                INFO(name(op) << " or " << name(static_cast<Op>(other)) << " on level " << level);
                CHECK(entry.calls == (here ? 1 : 0));
                CHECK(entry.work.bytes == (here ? work.bytes : 0.0));
                CHECK(entry.work.flops == (here ? work.flops : 0.0));
                if (!here) CHECK(entry.seconds == 0.0);
            }
    };
    books(vector, [&] { return x.fill(u, 1.0); });
    books(vector, [&] { return x.axpby(u, 1.0, f, 2.0, u); });
    books(vector, [&] {
        return x.combine_all(std::array{Combination{u, std::span<const double>(high_and_low), fields}});
    });
    books(vector, [&] { return x.multiply(u, u, f); });
    books(vector, [&] { return x.divide(u, f, f); });
    books(vector, [&] { return x.square_root(u, f); });
    books(vector, [&] { return x.shift(u, 1.0); });
    books(vector, [&] { return x.map(u, Select{1.0}, u, f); });
    books(dots, [&] { return x.dots(std::span(&square, 1), one); });
    books(dots, [&] { return x.gram(std::span(&u, 1), {}, GramAccuracy::plain, one); });
    books(dots, [&] { return x.totals(u, one); });
    books(dots, [&] { return x.max_norm(u, number); });
    books(residual, [&] { return x.apply(f, L, u); });
    const BasisVectors basis{fields};
    const ThreeTerms terms{1, 0, 0};
    books(residual, [&] { return x.powers(std::span(&basis, 1), {L, {}}, std::span(&terms, 1), nullptr); });
    books(residual, [&] { return x.residual(f, L, u, f); });
    books(residual, [&] { return x.residual_norm(L, u, f, number); });
    books(smooth, [&] { return x.relax(u, L, f, Colour::black, 1.0); });
    const Op to_coarse = cycle ? Op::smooth_restrict : Op::bottom_operator;
    const Op to_norm = cycle ? Op::smooth_residual : Op::bottom_operator;
    const Colour black[] = {Colour::black};
    const HalfSweeps sweeps{black};
    books(to_coarse, [&] { return x.smooth(u, L, f, sweeps, {.restricted = coarse}); });
    books(to_norm, [&] { return x.smooth(u, L, f, sweeps, {.norm = &number}); });
    books(smooth, [&] { return x.polynomial_step(f, 0.0, 1.0, L, u, f); });
    books(residual, [&] { return x.add_reaction(f, u, 1.0, {}, u); });
    books(smooth, [&] { return x.relax_newton(u, L, {}, f, Colour::red); });
    books(precondition, [&] { return x.solve_blocks(f, u, L, u); });
    books(dots, [&] { return x.gram(std::span(&u, 1), {}, GramAccuracy::doubled, two); });
    books(Op::restrict_, [&] { return x.restrict_to(coarse, u); });
    books(Op::restrict_, [&] { return x.restrict_residual(coarse, L, u, f); });
    books(Op::interpolate, [&] { return x.interpolate_add(u, coarse, Interpolation::constant, {}); });
    books(Op::interpolate, [&] { return x.interpolate_add(u, coarse, Interpolation::linear, {}); });
    books(Op::boundary, [&] { return x.fill_boundary(u, sides, {1.0, 1.0, 1.0}); });
    const Packed sent{buffer, 1};
    const Packed received{second, 1};
    books(Op::pack, [&] { return x.copy_blocks(sent, packed, only, {}); });
    books(Op::unpack, [&] { return x.copy_blocks(only, unpacked, sent, {}); });
    books(Op::copy, [&] { return x.copy_blocks(only, copied, only, {}); });
    books(Op::copy, [&] { return x.copy_blocks(sent, forwarded, received, {}); });
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

TEST_CASE("an operation's time and its work are booked together") {
    Ledger ledger(1);
    for (int n = 0; n < 2; ++n) {
        const Work work = booked(ledger, Op::restrict_, 0, [] { return Work{3, 40}; });
        CHECK(work.bytes == 40);
    }
    CHECK(ledger.at(Op::restrict_, 0).calls == 2);
    CHECK(ledger.at(Op::restrict_, 0).work.flops == 6);
    CHECK(ledger.at(Op::restrict_, 0).work.bytes == 80);
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
