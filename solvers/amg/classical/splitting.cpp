#include "solvers/amg/classical/splitting.hpp"

#include <algorithm>
#include <list>

namespace keel {
namespace {

// Rows in a queue for each worth.
class Queues {
  public:
    Queues(std::size_t rows, std::size_t most_worth) : queues_(most_worth + 1), worth_(rows), place_(rows) {}

    void enter(std::size_t row, std::size_t worth) {
        worth_[row] = worth;
        place_[row] = queues_[worth].insert(queues_[worth].end(), row);
        top_ = std::max(top_, worth);
    }
    void leave(std::size_t row) { queues_[worth_[row]].erase(place_[row]); }
    std::size_t worth(std::size_t row) const { return worth_[row]; }
    // The first of those worth most; none where none is worth anything.
    std::size_t best() {
        while (top_ > 0 && queues_[top_].empty()) --top_;
        return top_ > 0 ? queues_[top_].front() : none;
    }
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

  private:
    std::vector<std::list<std::size_t>> queues_;  // by worth
    std::vector<std::size_t> worth_;              // by row, as where it stands in its queue
    std::vector<std::list<std::size_t>::iterator> place_;
    std::size_t top_ = 0;  // none is worth more
};

// States as doubles, which travel.
constexpr double undecided_row = 0;
constexpr double fine_row = 1;
constexpr double coarse_row = 2;

}  // namespace

std::vector<std::size_t> first_pass(const PartRows& A, const Dependence& strong, RowRange mine) {
    const std::size_t rows = mine.end - mine.begin;
    // Calls visit(neighbour) for the rank's own rows that a flagged entry leads to, counted from its first.
    const auto for_each = [&](std::size_t r, const std::vector<char>& flags, const auto& visit) {
        for (auto [e, end] = entries_of(A.rows, mine.begin + r); e < end; ++e)
            if (const auto c = static_cast<std::size_t>(A.places[e]); flags[e] && mine.holds(c))
                visit(c - mine.begin);
    };
    std::vector<std::size_t> dependents(rows, 0);
    for (std::size_t r = 0; r < rows; ++r) for_each(r, strong.back, [&](std::size_t) { ++dependents[r]; });
    Queues undecided(rows, rows == 0 ? 0 : 2 * std::ranges::max(dependents));
    for (std::size_t r = 0; r < rows; ++r) undecided.enter(r, dependents[r]);
    std::vector<double> state(rows, undecided_row);
    const auto move = [&](std::size_t r, bool up) {
        if (state[r] != undecided_row) return;
        undecided.leave(r);
        undecided.enter(r, up ? undecided.worth(r) + 1 : undecided.worth(r) - 1);
    };
    const auto decide = [&](std::size_t r, double as) {
        undecided.leave(r);
        state[r] = as;
    };
    for (std::size_t r = undecided.best(); r != Queues::none; r = undecided.best()) {
        decide(r, coarse_row);
        for_each(r, strong.on, [&](std::size_t k) { move(k, false); });
        for_each(r, strong.back, [&](std::size_t j) {
            if (state[j] != undecided_row) return;
            decide(j, fine_row);
            for_each(j, strong.on, [&](std::size_t k) { move(k, true); });
        });
    }
    std::vector<std::size_t> coarse;
    for (std::size_t r = 0; r < rows; ++r)
        if (state[r] == coarse_row) coarse.push_back(mine.begin + r);
    return coarse;
}

CoarseRows split(const Communicator& comm, const PartRows& A, const Dependence& strong, GhostValues& ghosts,
                 CoarseningRule rule, const RowPartition& shares) {
    const std::size_t rows = A.rows.rows();
    const auto row_at = [&](std::size_t place) {
        return place < rows ? A.first() + static_cast<std::int64_t>(place) : A.ghosts[place - rows].name;
    };
    std::vector<double> keys(rows);
    for (std::size_t r = 0; r < rows; ++r)
        keys[r] = strong.dependents[r] + static_cast<double>(random_bits(row_at(r))) * 0x1p-53;
    keys = ghosts.complete(std::move(keys));
    const auto goes_before = [&](std::size_t a, std::size_t b) {
        return keys[a] != keys[b] ? keys[a] > keys[b] : row_at(a) < row_at(b);
    };
    // Whether a strong neighbour, either way, is such.
    const auto has_neighbour = [&](std::size_t r, const auto& is_such) {
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e)
            if (strong.either(e) && is_such(static_cast<std::size_t>(A.places[e]))) return true;
        return false;
    };

    std::vector<double> state(rows, undecided_row);
    for (std::size_t r = 0; r < rows; ++r)
        if (!has_neighbour(r, [](std::size_t) { return true; })) state[r] = fine_row;
    const auto decide = [&](double decision, const auto& is_ripe) {
        const std::vector<double> all = ghosts.complete(state);
        for (std::size_t r = 0; r < rows; ++r)
            if (state[r] == undecided_row && is_ripe(all, r)) state[r] = decision;
    };
    const auto beside_coarse = [&](const std::vector<double>& all, std::size_t r) {
        return has_neighbour(r, [&](std::size_t c) { return all[c] == coarse_row; });
    };
    if (rule == CoarseningRule::hmis) {
        for (int rank = 0; rank < shares.ranks; ++rank) {
            const std::int64_t end = A.first() + static_cast<std::int64_t>(rows);
            if (shares.first(rank) < A.first() || shares.first(rank + 1) > end) continue;
            const auto begin = static_cast<std::size_t>(shares.first(rank) - A.first());
            const RowRange mine{begin, begin + shares.size(rank)};
            for (const std::size_t r : first_pass(A, strong, mine))
                if (!has_neighbour(r, [&](std::size_t c) { return !mine.holds(c); })) state[r] = coarse_row;
        }
        decide(fine_row, beside_coarse);
    }
    CoarseRows found;
    while (comm.sum(static_cast<double>(std::ranges::count(state, undecided_row))) > 0) {
        ++found.rounds;
        decide(coarse_row, [&](const std::vector<double>& all, std::size_t r) {
            return !has_neighbour(
                r, [&](std::size_t c) { return all[c] == undecided_row && goes_before(c, r); });
        });
        decide(fine_row, beside_coarse);
    }

    for (std::size_t r = 0; r < rows; ++r)
        if (state[r] == coarse_row) found.roots.push_back(row_at(r));
    found.numbers = ghosts.complete(found.number(comm, A));
    return found;
}

}  // namespace keel
