#pragma once

// A level's cells on the way from the ranks that own its boxes to others that work on them, and back: what gathering,
// agglomerating and replicating a coarse grid send.

#include <memory>
#include <span>
#include <vector>

#include "comm/carry/carrier.hpp"
#include "comm/patterns/pattern.hpp"
#include "kernels/layout.hpp"

namespace keel {

// Which ranks have each box of a level: one, or all of them.
class Holders {
  public:
    explicit Holders(std::vector<int> owners);  // by box, lexicographic
    static Holders owners_of(const Layout& layout);
    static Holders everywhere(int boxes, int ranks);

    int boxes() const { return boxes_; }
    bool everyone() const { return owners_.empty(); }
    bool holds(int rank, int box) const;
    // In ascending order.
    std::vector<int> boxes_of(int rank) const;
    std::vector<int> ranks_of(int box) const;

  private:
    Holders() = default;
    int boxes_ = 0;
    int ranks_ = 0;             // where all have them
    std::vector<int> owners_;   // empty where all have them
    std::vector<int> by_rank_;  // boxes, rank after rank
    std::vector<std::size_t> first_;
};

// Every box, as one item named by its number, goes from the one rank that has it to all that hold it behind.
class BoxPattern : public Pattern {
  public:
    // `from` has one rank a box; `values` are those of a box.
    BoxPattern(Holders from, Holders to, int values);

    const Holders& from() const { return from_; }
    const Holders& to() const { return to_; }
    std::vector<Request> needed_by(std::span<const int> ranks) const override;
    std::vector<Request> owned_by(std::span<const int> ranks) const override;

  private:
    Holders from_, to_;
    int values_;
};

// Runs a plan of a BoxPattern. Boxes that a rank has before and behind are copied.
class Redistribution {
  public:
    // Of one end: null on a rank that has no boxes there. Its layout's boxes are those of the pattern, whatever ranks it
    // calls their owners.
    struct Ends {
        Operations* from = nullptr;
        Operations* to = nullptr;
    };
    // `cells` of every box travel, as many as the pattern's values. `plan` is this rank's part. The operations must
    // outlive this object.
    Redistribution(const Ends& ends, int rank, const BoxPattern& pattern, const Region& cells, Plan plan,
                   Wire wire, const Transport& transport);

    // The cells of the fields `to` become those of the fields `from`; neither is read on a rank that has no boxes there.
    // Collective over the ranks of the plan.
    void run(std::span<const Field> from, std::span<const Field> to);

    void reserve(std::size_t fields);
    long count() const { return count_; }  // of runs
    const Plan& plan() const { return carrier_->plan(); }

  private:
    Ends ends_;
    std::unique_ptr<Carrier> carrier_;
    Items<Segment> packed_, unpacked_;
    Items<Segment> left_, entered_;  // of the boxes that stay, in `kept_`
    Buffer kept_;
    std::size_t kept_values_ = 0;
    std::size_t room_ = 0;
    long count_ = 0;
};

}  // namespace keel
