#include "comm/patterns/boxes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/check.hpp"

namespace keel {

BoxDistribution::BoxDistribution(std::vector<int> owners) : owners_(std::move(owners)) {
    boxes_ = static_cast<int>(owners_.size());
    check_at_least(boxes_, 1, "a level has boxes");
    first_.assign(static_cast<std::size_t>(*std::ranges::max_element(owners_)) + 2, 0);
    for (const int owner : owners_) ++first_[static_cast<std::size_t>(owner) + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    by_rank_ = numbers_below(boxes_);
    std::ranges::stable_sort(by_rank_, {}, [&](int box) { return owners_[static_cast<std::size_t>(box)]; });
}

BoxDistribution BoxDistribution::owners_of(const Layout& layout) {
    std::vector<int> owners;
    for (int box = 0; box < layout.box_count(); ++box) owners.push_back(layout.owner(box));
    return BoxDistribution(std::move(owners));
}

BoxDistribution BoxDistribution::everywhere(int boxes, int ranks) {
    BoxDistribution all;
    all.boxes_ = boxes;
    all.ranks_ = ranks;
    return all;
}

bool BoxDistribution::holds(int rank, int box) const {
    return everyone() || owners_[static_cast<std::size_t>(box)] == rank;
}

std::vector<int> BoxDistribution::boxes_of(int rank) const {
    if (everyone()) return numbers_below(boxes_);
    const auto r = static_cast<std::size_t>(rank);
    if (r + 1 >= first_.size()) return {};
    return {by_rank_.begin() + static_cast<long>(first_[r]),
            by_rank_.begin() + static_cast<long>(first_[r + 1])};
}

std::vector<int> BoxDistribution::ranks_of(int box) const {
    return everyone() ? numbers_below(ranks_) : std::vector<int>{owners_[static_cast<std::size_t>(box)]};
}

BoxPattern::BoxPattern(BoxDistribution from, BoxDistribution to, int values)
    : from_(std::move(from)), to_(std::move(to)), values_(values) {
    check(!from_.everyone(), "each box comes from one rank");
    check_equal(from_.boxes(), to_.boxes(), "the same boxes are at both ends");
}

std::vector<Request> BoxPattern::needed_by(std::span<const int> ranks) const {
    std::vector<Request> requests;
    for (const int rank : ranks)
        for (const int box : to_.boxes_of(rank))
            if (!from_.holds(rank, box))
                requests.push_back({{from_.ranks_of(box).front(), values_, box}, rank});
    sort_distinct(requests);
    return requests;
}

std::vector<Request> BoxPattern::owned_by(std::span<const int> ranks) const {
    std::vector<Request> requests;
    for (const int owner : ranks)
        for (const int box : from_.boxes_of(owner))
            for (const int rank : to_.ranks_of(box))
                if (rank != owner) requests.push_back({{owner, values_, box}, rank});
    sort_distinct(requests);
    return requests;
}

}  // namespace keel
