// Levels whose boxes move to other ranks: who needs what from whom, and the cells themselves.

#include <catch2/catch.hpp>

#include "comm/carry/redistribution.hpp"
#include "comm/costs/comparison.hpp"
#include "comm/plans/schemes.hpp"
#include "tests/chosen_backend.hpp"

using namespace keel;

namespace {

constexpr Index grid{4, 3, 2};
constexpr int width = 4;

std::vector<int> all_on(int rank) {
    return std::vector<int>(product(grid), rank);
}

// The boxes dealt out in a way of their own.
std::vector<int> dealt(int ranks, int step) {
    std::vector<int> owners;
    for (int box = 0; box < static_cast<int>(product(grid)); ++box) owners.push_back(box * step % ranks);
    return owners;
}

}  // namespace

TEST_CASE("cells arrive where their boxes go, under every scheme, several fields at a time") {
    const auto carrier = GENERATE(Carrier::isend, Carrier::persistent, Carrier::neighbour, Carrier::shared,
                                  Carrier::put, Carrier::partitioned);
    if (carrier == Carrier::partitioned && !has_partitioned_messages()) return;
    const Communicator comm = Communicator::world();
    const Topology topology = virtual_topology(comm.size(), 3);
    const auto backend = test::chosen_backend();
    const Layout layout(grid, width, {}, dealt(comm.size(), 1), comm.rank());
    const auto home = backend->make_operations(layout, 1);
    const auto value = [](int field, const Index& c) {
        return 1 + c[0] + 100.0 * c[1] + 1e4 * c[2] + 0.25 * field;
    };

    for (const bool replicated : {false, true})
        for (const SchemeOptions& scheme : candidates({.message_cap = 1000, .carrier = carrier})) {
            if (scheme.scheme == Scheme::staged_axes) continue;
            INFO(name(scheme) << " replicated " << replicated);
            const BoxDistribution owners = BoxDistribution::owners_of(layout);
            const int boxes = layout.box_count();
            const BoxDistribution holders = replicated ? BoxDistribution::everywhere(boxes, comm.size())
                                                       : BoxDistribution(all_on(comm.size() / 2));
            const bool here = holders.holds(comm.rank(), 0);
            std::unique_ptr<Operations> away;
            if (here) away = backend->make_operations(Layout(grid, width, {}, all_on(0), 0), 1);
            const auto move = [&](const BoxDistribution& from, const BoxDistribution& to, bool there) {
                const BoxPattern pattern(from, to, width * width * width);
                return Redistribution(there ? Redistribution::Ends{home.get(), away.get()}
                                            : Redistribution::Ends{away.get(), home.get()},
                                      comm.rank(), pattern, layout, cube(width),
                                      make_plan(pattern, topology, scheme, comm.rank()), {},
                                      TransportOptions{comm, topology, 1});
            };
            Redistribution to = move(owners, holders, true);
            Redistribution back = move(replicated ? owners : holders, owners, false);
            std::vector<Field> start;
            std::vector<Field> end;
            std::vector<Field> moved;
            for (int n = 0; n < 3; ++n) {
                start.push_back(home->make_field());
                home->assign(start.back(), cube(width), [&](const Index& c) { return value(n, c); });
                end.push_back(home->make_field());
                if (here) moved.push_back(away->make_field());
            }
            // One field first, so that there is less room than is needed later.
            to.run(std::span(start).first(1), std::span(moved).first(here ? 1 : 0));
            to.run(start, moved);
            // One after the other: a rank that only receives may still have one in its buffers when the next
            // arrives.
            for (std::size_t n = 0; n < start.size(); ++n)
                to.run(std::span(start).subspan(n, 1), std::span(moved).subspan(here ? n : 0, here ? 1 : 0));
            back.run(moved, end);
            CHECK(to.count() == 5);
            int wrong = 0;
            for (int n = 0; n < 3; ++n) {
                const auto f = static_cast<std::size_t>(n);
                wrong += home->read(end[f], cube(width)) != home->read(start[f], cube(width));
                if (!here) continue;
                const auto expected = away->make_field();
                away->assign(expected, cube(width), [&](const Index& c) { return value(n, c); });
                wrong += away->read(moved[f], cube(width)) != away->read(expected, cube(width));
                // Ghosts are not touched.
                const std::vector<double> with_ghosts = away->read(moved[f], cube(width, 1));
                double inside = 0;
                double all = 0;
                for (const double x : away->read(moved[f], cube(width))) inside += x;
                for (const double x : with_ghosts) all += x;
                wrong += inside != all;
            }
            CHECK(comm.sum(wrong) == 0);
        }
}
