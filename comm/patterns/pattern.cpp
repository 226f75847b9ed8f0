#include "comm/patterns/pattern.hpp"

#include <iterator>
#include <numeric>
#include <utility>

namespace keel {
namespace {

bool rank_first(const Request& a, const Request& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.item < b.item;
}

// The requests of these ranks, in ascending order, from a list in the order of rank_of(request); `sorted` is
// the list in ascending order.
template <class RankOf>
std::vector<Request> listed(const std::vector<Request>& list, const std::vector<Request>& sorted,
                            std::span<const int> ranks, const RankOf& rank_of) {
    std::vector<Request> all;
    for (const int rank : ranks) {
        const auto first = std::ranges::lower_bound(list, rank, {}, rank_of);
        all.insert(all.end(), first, std::ranges::upper_bound(list, rank, {}, rank_of));
    }
    const auto ascends = [](const auto& of) {
        return std::ranges::adjacent_find(of, std::greater_equal()) == of.end();
    };
    if (ascends(all)) return all;
    // All requests are sorted already.
    if (all.size() == sorted.size() && ascends(ranks)) return sorted;
    sort_distinct(all);
    return all;
}

}  // namespace

ListedPattern::ListedPattern(std::vector<Request> requests) : by_item_(std::move(requests)) {
    std::erase_if(by_item_, [](const Request& r) { return r.rank == r.item.owner; });
    sort_distinct(by_item_);
    by_rank_ = by_item_;
    std::sort(by_rank_.begin(), by_rank_.end(), rank_first);
}

std::vector<Request> ListedPattern::needed_by(std::span<const int> ranks) const {
    return listed(by_rank_, by_item_, ranks, [](const Request& r) { return r.rank; });
}

std::vector<Request> ListedPattern::owned_by(std::span<const int> ranks) const {
    return listed(by_item_, by_item_, ranks, [](const Request& r) { return r.item.owner; });
}

std::vector<Request> requests_of(const Pattern& pattern, std::span<const int> ranks, bool all) {
    const std::vector<Request> needed = pattern.needed_by(ranks);
    if (all) return needed;  // all ranks together need what they own
    const std::vector<Request> owned = pattern.owned_by(ranks);
    std::vector<Request> both;
    std::set_union(needed.begin(), needed.end(), owned.begin(), owned.end(), std::back_inserter(both));
    return both;
}

std::vector<int> numbers_below(int count) {
    std::vector<int> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

}  // namespace keel
