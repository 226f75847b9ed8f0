// Levels whose rows depend on the ranks, or live elsewhere than where they came about: HMIS, and condensed
// levels; and what levels take.

#include <catch2/catch.hpp>

#include "solvers/amg/classical/splitting.hpp"
#include "tests/solvers/amg/amg_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

// The strong connections inside of a rank, as rows that depend on rows, and how often each is looked at:
// nothing of it is quick.
std::vector<std::size_t> first_pass_done_slowly(const PartRows& A, const Dependence& strong) {
    const std::size_t rows = A.rows.rows();
    std::vector<std::vector<char>> depends(rows, std::vector<char>(rows, 0));
    for (std::size_t r = 0; r < rows; ++r)
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e)
            if (const auto c = static_cast<std::size_t>(A.places[e]); strong.on[e] && c < rows)
                depends[r][c] = 1;
    constexpr int undecided = 0, fine = 1, coarse = 2;
    std::vector<int> state(rows, undecided);
    const auto worth = [&](std::size_t r) {
        int sum = 0;
        for (std::size_t j = 0; j < rows; ++j)
            if (depends[j][r]) sum += state[j] == undecided ? 1 : state[j] == fine ? 2 : 0;
        return sum;
    };
    // Since when a row has been worth what it is: a number for each change, in the order in which they come
    // about.
    std::vector<long> since(rows);
    long now = 0;
    for (std::size_t r = 0; r < rows; ++r) since[r] = now++;
    std::vector<std::size_t> found;
    while (true) {
        std::size_t best = rows;
        for (std::size_t r = 0; r < rows; ++r) {
            if (state[r] != undecided || worth(r) == 0) continue;
            if (best == rows || worth(r) > worth(best) || (worth(r) == worth(best) && since[r] < since[best]))
                best = r;
        }
        if (best == rows) break;
        state[best] = coarse;
        found.push_back(best);
        const auto changed = [&](std::size_t by) {
            for (std::size_t k = 0; k < rows; ++k)
                if (depends[by][k] && state[k] == undecided) since[k] = now++;
        };
        changed(best);
        for (std::size_t j = 0; j < rows; ++j) {
            if (!depends[j][best] || state[j] != undecided) continue;
            state[j] = fine;
            changed(j);
        }
    }
    std::ranges::sort(found);
    return found;
}

std::vector<AmgProblem> problems() {
    return {stencil27({6, 5, 6}), stencil5({13, 11, 1}), rotated({12, 11, 1}, 0.01, 0.4),
            ball({5, 6, 5}, 1000.0, false, 1.0), stencil5({3, 1, 1})};
}

AmgOptions classical(CoarseningRule splitting) {
    AmgOptions options;
    options.coarsening = splitting;
    options.theta = 0.25;
    options.max_coarse = 10;
    return options;
}

}  // namespace

TEST_CASE("the first pass is that of Ruge and Stueben, inside of each rank") {
    for (const AmgProblem& problem : problems()) {
        AmgSetup setup(problem);
        const PartRows A = setup.part();
        GhostValues ghosts(setup.context, A, setup.scheme);
        const Dependence strong = dependence(A, ghosts, 0.25);
        CHECK(first_pass(A, strong, {0, A.rows.rows()}) == first_pass_done_slowly(A, strong));
    }
}

TEST_CASE(
    "HMIS keeps the first pass where no other rank is near, and is an independent set that every other row "
    "is near") {
    for (const AmgProblem& problem : problems()) {
        AmgSetup setup(problem);
        const PartRows A = setup.part();
        GhostValues ghosts(setup.context, A, setup.scheme);
        const Dependence strong = dependence(A, ghosts, 0.25);
        const CoarseRows found = split(setup.comm, A, strong, ghosts, CoarseningRule::hmis, A.partition);
        const auto is_coarse = [&](std::size_t place) { return found.numbers[place] != is_fine; };
        const std::vector<std::size_t> first = first_pass(A, strong, {0, A.rows.rows()});
        double wrong = 0;
        std::size_t kept = 0;
        for (std::size_t r = 0; r < A.rows.rows(); ++r) {
            bool is_connected = false, is_inside = true, is_near = false, is_alone = true;
            for (auto [e, end] = entries_of(A.rows, r); e < end; ++e) {
                const auto c = static_cast<std::size_t>(A.places[e]);
                if (!strong.either(e)) continue;
                is_connected = true;
                is_inside = is_inside && c < A.rows.rows();
                is_near = is_near || is_coarse(c);
                is_alone = is_alone && !(is_coarse(c) && strong.on[e] && strong.back[e]);
            }
            const bool was_first = std::ranges::binary_search(first, r);
            if (was_first && is_inside) ++kept;
            if (was_first && is_inside && !is_coarse(r)) ++wrong;
            if (is_coarse(r) ? !is_connected || !is_alone : is_connected && !is_near) ++wrong;
        }
        CHECK(setup.comm.sum(wrong) == 0);
        // One rank makes no row C besides, unless none of the first ones leads to it.
        if (setup.comm.size() == 1) CHECK(found.roots.size() == kept);
        if (problem.rows > 100 && setup.comm.size() <= 3)
            CHECK(setup.comm.sum(static_cast<double>(kept)) > 0);
    }
}

TEST_CASE("set-up makes the same collective calls, plans and exchanges on all ranks as on one") {
    using Calls = std::vector<std::array<std::size_t, 3>>;
    const auto calls_on = [](const AmgProblem& problem, const AmgOptions& options,
                             const Communicator& ranks) {
        Calls calls;
        const Communicator comm = ranks.watched([&](Collective what, std::size_t words) {
            calls.push_back({0, static_cast<std::size_t>(what), words});
        });
        AmgSetup setup(problem, Scheme::standard, 2, comm);
        setup.context.watch = [&](AmgStep step, AmgMessages what) {
            calls.push_back({1, static_cast<std::size_t>(step), static_cast<std::size_t>(what)});
        };
        calls.clear();  // the finest matrix' own
        CHECK(setup.hierarchy(options).levels() > 1);
        return calls;
    };
    AmgOptions condensed;
    condensed.max_coarse = 10;
    condensed.ownership = Ownership::condensed;
    AmgOptions by_rows = condensed;
    by_rows.coarsening = CoarseningRule::aggregation_rows;
    by_rows.ownership = Ownership::root;
    for (const AmgProblem& problem :
         {stencil27({6, 5, 6}), rotated({12, 11, 1}, 0.01, 0.4), elasticity({12, 11, 1})})
        for (const AmgOptions& options : {condensed, by_rows, classical(CoarseningRule::pmis)}) {
            const Calls all = calls_on(problem, options, Communicator::world());
            CHECK(all.size() > 20);
            CHECK(all == calls_on(problem, options, Communicator::self()));
        }
}

TEST_CASE("a condensed level is that of the roots, bit by bit, on as many ranks as keep its entries") {
    for (const Scheme scheme : {Scheme::standard, Scheme::two_step, Scheme::three_step})
        for (AmgOptions options : {AmgOptions{}, classical(CoarseningRule::pmis)}) {
            AmgSetup setup(ball({7, 6, 5}, 10.0, false, 1.0), scheme);
            const PartRows A = setup.part();
            NearNull B{std::vector<double>(A.rows.rows())};
            for (std::size_t r = 0; r < A.rows.rows(); ++r)
                B.values[r] = 1.0 + 0.001 * static_cast<double>(A.first() + static_cast<std::int64_t>(r));
            const auto by_roots = coarsen(setup.context, A, B, options, setup.scheme, setup.ledger, 0);
            options.ownership = Ownership::condensed;
            const auto condensed = coarsen(setup.context, A, B, options, setup.scheme, setup.ledger, 0);
            REQUIRE(by_roots.has_value());
            REQUIRE(condensed.has_value());
            CHECK(gathered(setup.comm, condensed->A) == gathered(setup.comm, by_roots->A));
            CHECK(gathered(setup.comm, condensed->P) == gathered(setup.comm, by_roots->P));
            CHECK(condensed->roots == by_roots->roots);
            const auto null_of = [&](const Coarsening& next) {
                std::vector<int> counts;
                for (int rank = 0; rank < setup.comm.size(); ++rank)
                    counts.push_back(static_cast<int>(next.A.partition.size(rank)));
                return setup.comm.all_gather(next.null.values, counts);
            };
            CHECK(null_of(*condensed) == null_of(*by_roots));
            const double finest = setup.comm.sum(static_cast<double>(A.places.size()));
            const double coarse = setup.comm.sum(static_cast<double>(condensed->A.places.size()));
            const int wanted = static_cast<int>(std::ceil(coarse / (finest / setup.comm.size())));
            const int ranks = std::clamp(wanted, 1, setup.comm.size());
            for (int rank = 0; rank < setup.comm.size(); ++rank) {
                const RowPartition& partition = condensed->A.partition;
                const RowPartition even{partition.rows, ranks};
                CHECK(partition.size(rank) == (rank < ranks ? even.size(rank) : 0));
            }
            if (setup.comm.size() > 2 && options.coarsening == CoarseningRule::aggregation)
                CHECK(ranks < setup.comm.size());
        }
}
