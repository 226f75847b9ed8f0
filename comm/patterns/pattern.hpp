#pragma once

// The data that ranks need from each other, by whatever scheme they travel. Pure data: no MPI, any number of
// virtual ranks.

#include <algorithm>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace keel {

// The smallest thing that travels: some values that one rank owns, named by a number of the owner's. Items
// are ordered by owner, then name.
struct Item {
    int owner = 0;
    int values = 1;
    std::int64_t name = 0;

    friend bool operator==(const Item& a, const Item& b) { return a.owner == b.owner && a.name == b.name; }
    friend std::strong_ordering operator<=>(const Item& a, const Item& b) {
        return a.owner != b.owner ? a.owner <=> b.owner : a.name <=> b.name;
    }
};

// `rank`, which is not the owner, needs the item.
struct Request {
    Item item;
    int rank = 0;

    friend auto operator<=>(const Request&, const Request&) = default;
};

// A sparse communication pattern. Both functions return distinct requests in ascending order, at a cost
// proportional to their number.
class Pattern {
  public:
    virtual ~Pattern() = default;
    virtual std::vector<Request> needed_by(std::span<const int> ranks) const = 0;
    virtual std::vector<Request> owned_by(std::span<const int> ranks) const = 0;
    // An upper bound on the requests of all ranks together, which costs next to nothing. What a rank needs of
    // its own may be counted.
    virtual double most_requests() const = 0;
};

// A pattern of which all requests are known: of virtual ranks, or of a test. Duplicates and what a rank needs
// of its own are dropped.
class ListedPattern : public Pattern {
  public:
    explicit ListedPattern(std::vector<Request> requests);

    const std::vector<Request>& requests() const { return by_item_; }
    std::vector<Request> needed_by(std::span<const int> ranks) const override;
    std::vector<Request> owned_by(std::span<const int> ranks) const override;
    double most_requests() const override { return static_cast<double>(by_item_.size()); }

  private:
    std::vector<Request> by_item_;  // in ascending order
    std::vector<Request> by_rank_;
};

// The requests of a pattern that concern any of the ranks, in ascending order. `all`: these are all ranks.
std::vector<Request> requests_of(const Pattern& pattern, std::span<const int> ranks, bool all = false);

// 0, 1, ... below `count`.
std::vector<int> numbers_below(int count);

template <class T>
void sort_distinct(std::vector<T>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace keel
