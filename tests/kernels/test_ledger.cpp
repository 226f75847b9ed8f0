#include <catch2/catch.hpp>

#include "kernels/backends/registry.hpp"
#include "kernels/timed_operations.hpp"

using namespace keel;

TEST_CASE("timed operations book calls and bytes in the row of the caller") {
    const Layout layout({1, 1, 1}, 8, Boundaries{}, {0}, 0);
    const auto plain = make_backend("openmp")->make_operations(layout, 1);
    Ledger ledger(2);
    TimedOperations cycle(*plain, ledger, 1, Caller::multigrid);
    TimedOperations bottom(*plain, ledger, 1, Caller::bottom);
    const Field u = cycle.make_field();
    const Field f = cycle.make_field();
    const Stencil L{u, u, u, f, f};
    cycle.relax(u, L, f, Colour::red);
    cycle.relax(u, L, f, Colour::black);
    cycle.copy(u, f);
    bottom.copy(u, f);
    bottom.apply(u, L, f);

    CHECK(ledger.at(Op::smooth, 1).calls == 2);
    CHECK(ledger.at(Op::smooth, 1).work.bytes == 2 * 7 * 8 * 512.0);
    CHECK(ledger.at(Op::smooth, 1).seconds > 0);
    CHECK(ledger.at(Op::smooth, 0).calls == 0);
    CHECK(ledger.at(Op::vector, 1).calls == 1);
    CHECK(ledger.at(Op::bottom_vector, 1).calls == 1);
    CHECK(ledger.at(Op::bottom_vector, 1).work.bytes == 2 * 8 * 512.0);
    CHECK(ledger.at(Op::bottom_operator, 1).calls == 1);
    ledger.clear();
    CHECK(ledger.at(Op::smooth, 1).calls == 0);
}

TEST_CASE("every operation has a name of its own") {
    for (std::size_t a = 0; a < op_count; ++a)
        for (std::size_t b = 0; b < a; ++b)
            CHECK(std::string(name(static_cast<Op>(a))) != name(static_cast<Op>(b)));
}
