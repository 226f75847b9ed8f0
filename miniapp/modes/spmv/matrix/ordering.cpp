#include "miniapp/modes/spmv/matrix/ordering.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "kernels/hash.hpp"

namespace keel {
namespace {

constexpr std::uint64_t rounds = 4;

struct Graph {
    std::vector<std::vector<std::int64_t>> neighbours;  // sorted by degree, then by number
    std::size_t degree(std::int64_t v) const { return of(v).size(); }
    const std::vector<std::int64_t>& of(std::int64_t v) const {
        return neighbours[static_cast<std::size_t>(v)];
    }
};

Graph graph_of(const GlobalRows& A) {
    Graph graph{std::vector<std::vector<std::int64_t>>(A.rows())};
    for (std::size_t r = 0; r < A.rows(); ++r)
        for (auto [e, end] = entries_of(A, r); e < end; ++e) {
            const auto row = static_cast<std::int64_t>(r);
            if (A.columns[e] == row) continue;
            graph.neighbours[r].push_back(A.columns[e]);
            graph.neighbours[static_cast<std::size_t>(A.columns[e])].push_back(row);
        }
    for (auto& list : graph.neighbours) sort_distinct(list);
    std::vector<std::size_t> degrees;
    for (const auto& list : graph.neighbours) degrees.push_back(list.size());
    for (auto& list : graph.neighbours)
        std::ranges::stable_sort(list, {},
                                 [&](std::int64_t v) { return degrees[static_cast<std::size_t>(v)]; });
    return graph;
}

// Breadth first from `start`; appends to `order` and marks with `mark`. Returns how many levels there are and
// where the last begins.
struct Levels {
    std::size_t count;
    std::size_t last;
};
Levels walk(const Graph& graph, std::int64_t start, std::int64_t mark, std::vector<std::int64_t>& marks,
            std::vector<std::int64_t>& order) {
    Levels levels{0, order.size()};
    order.push_back(start);
    marks[static_cast<std::size_t>(start)] = mark;
    for (std::size_t begin = levels.last; begin < order.size(); ++levels.count) {
        const std::size_t end = order.size();
        levels.last = begin;
        for (; begin < end; ++begin)
            for (const std::int64_t v : graph.of(order[begin])) {
                if (marks[static_cast<std::size_t>(v)] == mark) continue;
                marks[static_cast<std::size_t>(v)] = mark;
                order.push_back(v);
            }
    }
    return levels;
}

}  // namespace

RandomPermutation::RandomPermutation(std::int64_t n, std::uint64_t seed)
    : n_(static_cast<std::uint64_t>(n)), seed_(scramble(seed)) {
    while ((std::uint64_t{1} << (2 * half_bits_)) < n_) ++half_bits_;
}

std::uint64_t RandomPermutation::round(std::uint64_t half, std::uint64_t key) const {
    return scramble(half + scramble(seed_ + key)) & ((std::uint64_t{1} << half_bits_) - 1);
}

// Backwards the halves change places, and the rounds come in reverse.
std::int64_t RandomPermutation::moved(std::int64_t i, bool back) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    auto x = static_cast<std::uint64_t>(i);
    do {
        std::uint64_t left = x >> half_bits_, right = x & mask;
        if (back) std::swap(left, right);
        for (std::uint64_t k = 0; k < rounds; ++k)
            left = std::exchange(right, left ^ round(right, back ? rounds - 1 - k : k));
        if (back) std::swap(left, right);
        x = left << half_bits_ | right;
    } while (x >= n_);
    return static_cast<std::int64_t>(x);
}

std::vector<std::int64_t> reverse_cuthill_mckee(const GlobalRows& A) {
    const Graph graph = graph_of(A);
    std::vector<std::int64_t> marks(A.rows(), 0);  // the last walk that reached each row
    std::int64_t mark = 0;
    std::vector<std::int64_t> order;
    std::vector<std::int64_t> trial;
    for (std::size_t first = 0; first < A.rows(); ++first) {
        if (marks[first] != 0) continue;
        // From the end of a longest walk, as long as walks get longer.
        auto start = static_cast<std::int64_t>(first);
        for (std::size_t levels = 0;;) {
            trial.clear();
            const Levels found = walk(graph, start, ++mark, marks, trial);
            if (found.count <= levels) break;
            levels = found.count;
            const auto least = std::ranges::min_element(std::span(trial).subspan(found.last), {},
                                                        [&](std::int64_t v) { return graph.degree(v); });
            start = *least;
        }
        walk(graph, start, ++mark, marks, order);
    }
    std::ranges::reverse(order);
    return order;
}

}  // namespace keel
