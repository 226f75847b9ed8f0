#include "solvers/amg/setup/aggregation.hpp"

#include <algorithm>
#include <map>

#include "kernels/hash.hpp"

namespace keel {
namespace {

constexpr double none =
    -1;  // in place of a row or an aggregate; as doubles, which travel, their numbers are exact

// Calls visit(place) for the strong neighbours of a row, by ascending column.
template <class Visit>
void for_each_neighbour(const PartRows& A, const std::vector<char>& strong, std::size_t r,
                        const Visit& visit) {
    for (auto [e, end] = entries_of(A.rows, r); e < end; ++e)
        if (strong[e]) visit(static_cast<std::size_t>(A.places[e]));
}

bool is_connected(const PartRows& A, const std::vector<char>& strong, std::size_t r) {
    const auto [begin, end] = entries_of(A.rows, r);
    return std::find(strong.begin() + static_cast<std::ptrdiff_t>(begin),
                     strong.begin() + static_cast<std::ptrdiff_t>(end),
                     1) != strong.begin() + static_cast<std::ptrdiff_t>(end);
}

// The order in which rows become roots: of two, the one with the larger random number; of equal ones the lower.
class Keys {
  public:
    explicit Keys(std::uint64_t seed) : seed_(scramble(seed)) {}
    double larger(double a, double b) const {
        if (a == none || b == none) return std::max(a, b);
        const std::uint64_t of_a = number(a);
        const std::uint64_t of_b = number(b);
        return of_a != of_b ? (of_a > of_b ? a : b) : std::min(a, b);
    }

  private:
    // The bits of u(seed, row).
    std::uint64_t number(double row) const { return scramble(seed_ + static_cast<std::uint64_t>(row)) >> 11; }
    std::uint64_t seed_;
};

enum class State { undecided, root, out };

// Aggregates of the roots numbered by rank and row.
Aggregates numbered(const Communicator& comm, std::vector<std::int64_t> roots) {
    const auto mine = static_cast<std::int64_t>(roots.size());
    return {partition_of(comm.all_gather({&mine, 1})), {}, std::move(roots)};
}

}  // namespace

Aggregates aggregate_mis2(const Communicator& comm, const PartRows& A, const std::vector<char>& strong,
                          GhostValues& ghosts, std::uint64_t seed) {
    const std::size_t rows = A.rows.rows();
    const Keys keys(seed);
    std::vector<State> state(rows, State::undecided);
    for (std::size_t r = 0; r < rows; ++r)
        if (!is_connected(A, strong, r)) state[r] = State::out;

    // The best of every row's own and its neighbours' values, where better(a, b) is one of the two.
    const auto spread = [&](std::vector<double> own, const auto& better) {
        const std::vector<double> all = ghosts.complete(std::move(own));
        std::vector<double> best(rows);
        for (std::size_t r = 0; r < rows; ++r) {
            best[r] = all[r];
            for_each_neighbour(A, strong, r, [&](std::size_t c) { best[r] = better(best[r], all[c]); });
        }
        return best;
    };
    const auto largest = [&](double a, double b) { return keys.larger(a, b); };
    const auto any = [](double a, double b) { return std::max(a, b); };

    int rounds = 0;
    const auto undecided = [&] {
        return comm.sum(static_cast<double>(std::ranges::count(state, State::undecided)));
    };
    while (undecided() > 0) {
        ++rounds;
        std::vector<double> candidates(rows, none);
        for (std::size_t r = 0; r < rows; ++r)
            if (state[r] == State::undecided)
                candidates[r] = static_cast<double>(A.first() + static_cast<std::int64_t>(r));
        const std::vector<double> best = spread(spread(candidates, largest), largest);
        std::vector<double> is_root(rows, 0.0);
        for (std::size_t r = 0; r < rows; ++r)
            if (state[r] == State::undecided && best[r] == candidates[r]) {
                state[r] = State::root;
                is_root[r] = 1.0;
            }
        const std::vector<double> near = spread(spread(is_root, any), any);
        for (std::size_t r = 0; r < rows; ++r)
            if (state[r] == State::undecided && near[r] > 0) state[r] = State::out;
    }

    std::vector<std::int64_t> roots;
    for (std::size_t r = 0; r < rows; ++r)
        if (state[r] == State::root) roots.push_back(A.first() + static_cast<std::int64_t>(r));
    Aggregates found = numbered(comm, std::move(roots));
    found.rounds = rounds;
    std::vector<double> number(rows, none);
    for (std::size_t n = 0; n < found.roots.size(); ++n)
        number[static_cast<std::size_t>(found.roots[n] - A.first())] =
            static_cast<double>(found.partition.first(A.rank)) + static_cast<double>(n);
    // A row has at most one root among its neighbours.
    const std::vector<double> first = ghosts.complete(spread(number, any));
    for (std::size_t r = 0; r < rows; ++r) {
        double mine = first[r];
        if (mine == none) {
            std::map<double, int> neighbours;  // of each aggregate
            for_each_neighbour(A, strong, r, [&](std::size_t c) {
                if (first[c] != none) ++neighbours[first[c]];
            });
            const auto most =
                std::ranges::max_element(neighbours, {}, [](const auto& n) { return n.second; });
            if (most != neighbours.end()) mine = most->first;
        }
        found.of_row.push_back(static_cast<std::int64_t>(mine));
    }
    return found;
}

Aggregates aggregate_local(const Communicator& comm, const PartRows& A, const std::vector<char>& strong) {
    const std::size_t rows = A.rows.rows();
    constexpr std::int64_t free = -1;
    std::vector<std::int64_t> of_row(rows, free);
    std::vector<std::int64_t> roots;
    const auto for_each_inside = [&](std::size_t r, const auto& visit) {
        for_each_neighbour(A, strong, r, [&](std::size_t c) {
            if (c < rows) visit(c);
        });
    };
    const auto neighbours_inside = [&](std::size_t r) {
        int count = 0;
        for_each_inside(r, [&](std::size_t) { ++count; });
        return count;
    };
    const auto begin = [&](std::size_t r) {
        of_row[r] = static_cast<std::int64_t>(roots.size());
        roots.push_back(A.first() + static_cast<std::int64_t>(r));
    };
    for (std::size_t r = 0; r < rows; ++r) {  // pass 1: all neighbours, where none is taken
        bool all_free = of_row[r] == free && neighbours_inside(r) > 0;
        for_each_inside(r, [&](std::size_t c) { all_free = all_free && of_row[c] == free; });
        if (!all_free) continue;
        begin(r);
        for_each_inside(r, [&](std::size_t c) { of_row[c] = of_row[r]; });
    }
    const std::vector<std::int64_t> first = of_row;
    for (std::size_t r = 0; r < rows; ++r)  // pass 2: to the first neighbour that pass 1 placed
        for_each_inside(r, [&](std::size_t c) {
            if (of_row[r] == free) of_row[r] = first[c];
        });
    for (std::size_t r = 0; r < rows; ++r) {  // pass 3: what is left, together
        if (of_row[r] != free || neighbours_inside(r) == 0) continue;
        begin(r);
        for_each_inside(r, [&](std::size_t c) {
            if (of_row[c] == free) of_row[c] = of_row[r];
        });
    }
    for (std::size_t r = 0; r < rows; ++r)
        if (of_row[r] == free && is_connected(A, strong, r)) begin(r);

    Aggregates found = numbered(comm, std::move(roots));
    for (std::int64_t& aggregate : of_row)
        if (aggregate != free) aggregate += found.partition.first(A.rank);
    found.of_row = std::move(of_row);
    return found;
}

}  // namespace keel
