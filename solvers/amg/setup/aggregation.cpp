#include "solvers/amg/setup/aggregation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

namespace keel {
namespace {

// In place of a row or an aggregate. Exchanges carry doubles, which hold the numbers of rows exactly.
constexpr double none = -1;

// Rows become roots in the order of their random bits; of equal ones the lower row comes first.
double earlier(double a, double b) {
    if (a == none || b == none) return std::max(a, b);
    const std::uint64_t of_a = random_bits(static_cast<std::int64_t>(a));
    const std::uint64_t of_b = random_bits(static_cast<std::int64_t>(b));
    return of_a != of_b ? (of_a > of_b ? a : b) : std::min(a, b);
}
double larger(double a, double b) {
    return std::max(a, b);
}

class Mis2 {
  public:
    Mis2(const Communicator& comm, const PartRows& A, const std::vector<char>& strong, GhostValues& ghosts)
        : comm_(comm), A_(A), strong_(strong), ghosts_(ghosts) {}

    Aggregates run() {
        Aggregates found;
        found.rounds = find_roots();
        for (std::size_t r = 0; r < rows_; ++r)
            if (state_[r] == State::root) found.roots.push_back(number(r));
        join(found);
        return found;
    }

  private:
    enum class State { undecided, root, out };

    std::int64_t number(std::size_t r) const { return A_.first() + static_cast<std::int64_t>(r); }

    // Calls visit(place) for the strong neighbours of a row, by ascending column.
    template <class Visit>
    void for_each_neighbour(std::size_t r, const Visit& visit) const {
        for (auto [e, end] = entries_of(A_.rows, r); e < end; ++e)
            if (strong_[e]) visit(static_cast<std::size_t>(A_.places[e]));
    }

    // The best of every row's own value and its neighbours' values, where better(a, b) is one of the two.
    template <class Better>
    std::vector<double> spread(std::vector<double> own, const Better& better) {
        const std::vector<double> all = ghosts_.complete(std::move(own));
        std::vector<double> best(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(rows_));
        for (std::size_t r = 0; r < rows_; ++r)
            for_each_neighbour(r, [&](std::size_t c) { best[r] = better(best[r], all[c]); });
        return best;
    }

    // Returns the number of rounds.
    int find_roots() {
        for (std::size_t r = 0; r < rows_; ++r) {
            state_[r] = State::out;
            for_each_neighbour(r, [&](std::size_t) { state_[r] = State::undecided; });
        }
        int rounds = 0;
        while (comm_.sum(static_cast<double>(std::ranges::count(state_, State::undecided))) > 0) {
            ++rounds;
            std::vector<double> candidates(rows_, none);
            for (std::size_t r = 0; r < rows_; ++r)
                if (state_[r] == State::undecided) candidates[r] = static_cast<double>(number(r));
            const std::vector<double> best = spread(spread(candidates, earlier), earlier);
            std::vector<double> is_root(rows_, 0.0);
            for (std::size_t r = 0; r < rows_; ++r)
                if (state_[r] == State::undecided && best[r] == candidates[r]) {
                    state_[r] = State::root;
                    is_root[r] = 1.0;
                }
            const std::vector<double> near = spread(spread(is_root, larger), larger);
            for (std::size_t r = 0; r < rows_; ++r)
                if (state_[r] == State::undecided && near[r] > 0) state_[r] = State::out;
        }
        return rounds;
    }

    void join(Aggregates& found) {
        // A row has at most one root among its neighbours.
        const std::vector<double> first = ghosts_.complete(spread(found.number(comm_, A_), larger));
        for (std::size_t r = 0; r < rows_; ++r) {
            double mine = first[r];
            if (mine == none) {
                std::map<double, int> neighbours;  // by aggregate
                for_each_neighbour(r, [&](std::size_t c) {
                    if (first[c] != none) ++neighbours[first[c]];
                });
                const auto most =
                    std::ranges::max_element(neighbours, {}, [](const auto& n) { return n.second; });
                if (most != neighbours.end()) mine = most->first;
            }
            found.of_row.push_back(static_cast<std::int64_t>(mine));
        }
    }

    const Communicator& comm_;
    const PartRows& A_;
    const std::vector<char>& strong_;
    GhostValues& ghosts_;
    std::size_t rows_ = A_.rows.rows();
    std::vector<State> state_ = std::vector<State>(rows_);
};

}  // namespace

PartRows nodes_of(const PartRows& A, int node) {
    const RowPartition nodes = resized(A.partition, node, 1);
    std::vector<std::int64_t> columns;
    columns.reserve(A.rows.columns.size());
    for (const std::int64_t column : A.rows.columns) columns.push_back(column / node);
    const CompactColumns compact(nodes.first(A.rank), nodes.size(A.rank), {columns});
    const std::vector<std::int32_t> places = compact.places(columns);
    RowSum squares(compact.count());
    GlobalRows rows;
    for (std::size_t r = 0; r < A.rows.rows(); ++r) {
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e)
            squares.add(A.rows.values[e], std::span(places).subspan(e, 1), &A.rows.values[e]);
        const std::int64_t row = A.first() + static_cast<std::int64_t>(r);
        if ((row + 1) % node != 0) continue;
        squares.finish_sorted([&](std::int32_t place, double sum) {
            const std::int64_t column = compact.column(static_cast<std::size_t>(place));
            append(rows, column, column == row / node ? std::sqrt(sum) : -std::sqrt(sum));
        });
        end_row(rows);
    }
    return {nodes, nodes, A.rank, std::move(rows)};
}

Aggregates aggregate_mis2(const Communicator& comm, const PartRows& A, const std::vector<char>& strong,
                          GhostValues& ghosts) {
    return Mis2(comm, A, strong, ghosts).run();
}

}  // namespace keel
