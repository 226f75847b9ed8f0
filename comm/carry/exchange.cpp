#include "comm/carry/exchange.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "comm/ranks/mpi.hpp"
#include "kernels/check.hpp"

namespace keel {
namespace {

// Cells of a box that lie in a buffer as a whole, x fastest.
struct Lot {
    int box;
    Region cells;
    std::size_t offset;  // values behind the start of a one-field buffer
};

// Of how many cells one travels, as a power of two.
int shift_of(Carried carried) {
    return carried == Carried::one_colour ? 1 : 0;
}

std::vector<Segment> with_shift_of(Carried carried, std::vector<Segment> segments) {
    for (Segment& segment : segments) segment.shift = shift_of(carried);
    return segments;
}

// How a message lies in memory. What is passed on lies item by item. Of any other message both ends know the
// needs that it satisfies: their sources lie in it whole, in the order of the needs, but for those that
// overlap one before. That makes fewer and longer rows to pack, and leaves a place at the end for each item of an odd number of
// cells where only those of one colour travel.
std::vector<Lot> lots_of(const Leg& leg, const GhostPattern& pattern, const std::vector<Need>& needs,
                         int Need::*peer, Carried carried) {
    std::vector<Lot> lots;
    std::size_t offset = leg.offset;
    const auto append = [&](int box, const Region& cells) {
        lots.push_back({box, cells, offset});
        offset += Segment::places_of(cells.cells(), shift_of(carried));
    };
    if (leg.relayed) {
        for (const Item& item : leg.items) append(pattern.box(item), pattern.region(item));
    } else {
        std::set<Item> placed;
        for (const Need& need : needs) {
            if (need.*peer != leg.peer) continue;
            const std::vector<Item> items = pattern.items(need.from, need.source);
            const bool overlaps = std::any_of(items.begin(), items.end(),
                                              [&](const Item& item) { return placed.contains(item); });
            if (!overlaps) append(need.from, need.source);
            for (const Item& item : items)
                if (placed.insert(item).second && overlaps) append(need.from, pattern.region(item));
        }
    }
    const std::size_t end = leg.offset + leg.values;
    check(carried == Carried::all ? offset == end : offset <= end,
          "both ends of a message know how long it is");
    return lots;
}

std::vector<Segment> segments_to_pack(const Itinerary& itinerary, const GhostPattern& pattern,
                                      Carried carried) {
    const Layout& layout = pattern.layout();
    const std::vector<Need> needs = pattern.sends();
    std::vector<Segment> segments;
    for (const Departure& departure : itinerary.departures)
        for (const Leg& leg : departure.sends)
            for (const Lot& lot : lots_of(leg, pattern, needs, &Need::receiver, carried))
                if (layout.owner(lot.box) == itinerary.rank)
                    segments.push_back({layout.local_index(lot.box), lot.cells, lot.offset});
    return with_shift_of(carried, std::move(segments));
}

std::vector<Segment> segments_to_unpack(const Itinerary& itinerary, const GhostPattern& pattern,
                                        Carried carried) {
    const Layout& layout = pattern.layout();
    const std::vector<Need> needs = pattern.receives();
    std::map<Item, Lot> found;
    for (const Leg& leg : itinerary.receives)
        for (const Lot& lot : lots_of(leg, pattern, needs, &Need::owner, carried))
            for (const Item& item : pattern.items(lot.box, lot.cells)) found.try_emplace(item, lot);
    std::vector<Segment> segments;
    for (const Need& need : needs) {
        const std::vector<Item> items = pattern.items(need.from, need.source);
        const int box = layout.local_index(need.to);
        const Lot& first = found.at(items.front());
        if (first.cells == need.source) {
            segments.push_back({box, need.target, first.offset});
            continue;
        }
        for (const Item& item : items) {
            const Lot& lot = found.at(item);
            const Region source = pattern.region(item);
            const Region target{need.target.lo + source.lo + -need.source.lo, source.size};
            segments.push_back({box, target, lot.offset, source.lo + -lot.cells.lo, lot.cells.size});
        }
    }
    return with_shift_of(carried, std::move(segments));
}

std::vector<CopyItem> copies_of(const GhostPattern& pattern) {
    const Layout& layout = pattern.layout();
    std::vector<CopyItem> copies;
    for (const Need& need : pattern.copies())
        copies.push_back(
            {layout.local_index(need.from), need.source, layout.local_index(need.to), need.target});
    return copies;
}

// The n-th item of a leg, of length 1, and its cell. A message that is not passed on lies in the buffer as
// one region, so that both ends lay out several fields alike; neighbours in it that are neighbours in their
// row become one segment.
void append(std::vector<Segment>& segments, const Leg& leg, std::size_t n, const BoxCell& cell) {
    const Region one{cell.at, {1, 1, 1}};
    if (leg.relayed) {
        segments.push_back({cell.box, one, leg.offset + n});
        return;
    }
    const Index whole{mpi_count(leg.values, "message of an exchange"), 1, 1};
    const Index at{static_cast<int>(n), 0, 0};
    if (!segments.empty()) {
        Segment& last = segments.back();
        const Index next = last.cells.lo + Index{last.cells.size[0], 0, 0};
        const std::size_t follows = last.first + static_cast<std::size_t>(last.cells.size[0]);
        if (last.offset == leg.offset && follows == n && last.box == cell.box && next == cell.at) {
            ++last.cells.size[0];
            return;
        }
    }
    segments.push_back({cell.box, one, leg.offset, at, whole});
}

std::vector<Segment> segments_to_pack(const Itinerary& itinerary, const CellOfItem& cell) {
    std::vector<Segment> segments;
    for (const Departure& departure : itinerary.departures)
        for (const Leg& leg : departure.sends)
            for (std::size_t n = 0; n < leg.items.size(); ++n)
                if (leg.items[n].owner == itinerary.rank) append(segments, leg, n, cell(leg.items[n]));
    return segments;
}

std::vector<Segment> segments_to_unpack(const Itinerary& itinerary, std::span<const Item> needed,
                                        const CellOfItem& cell) {
    std::map<Item, std::pair<const Leg*, std::size_t>> found;
    for (const Leg& leg : itinerary.receives)
        for (std::size_t n = 0; n < leg.items.size(); ++n) found.try_emplace(leg.items[n], &leg, n);
    std::vector<Segment> segments;
    for (const Item& item : needed) {
        const auto [leg, n] = found.at(item);
        append(segments, *leg, n, cell(item));
    }
    return segments;
}

// What of a rank's cells its messages are made of, and what they become.
struct Ends {
    std::vector<Segment> packed, unpacked;
};

class PlannedExchange : public Exchange {
  public:
    // `ends`: of all that the carrier carries, in the order of Carried.
    PlannedExchange(Operations& operations, std::unique_ptr<Carrier> carrier, bool overlap,
                    std::span<const Ends> ends, std::span<const CopyItem> copies)
        : operations_(operations), carrier_(std::move(carrier)), overlap_(overlap) {
        for (const Ends& of_these : ends)
            ends_.push_back({operations.make_items(std::span<const Segment>(of_these.packed)),
                             operations.make_targets(std::span<const Segment>(of_these.unpacked))});
        copied_ = operations.make_items(copies);
        PlannedExchange::reserve(1);
    }

    void begin(std::span<const Field> u, std::optional<Colour> colour) override {
        check(!under_way_, "an exchange is begun while the one before is under way");
        under_way_ = true;
        ++count_;
        reserve(u.size());
        fields_.assign(u.begin(), u.end());
        const bool of_one = colour && carrier_->carries(Carried::one_colour);
        carried_ = of_one ? Carried::one_colour : Carried::all;
        colour_ = of_one ? colour : std::nullopt;
        if (!carrier_->itinerary().empty()) {
            operations_.pack(carrier_->to_send(), ends().packed, u, colour_);
            carrier_->start(u.size(), carried_);
        }
        if (copied_.count > 0) operations_.copy_cells(u, copied_, colour);
    }

    void finish() override {
        check(under_way_, "no exchange is under way");
        under_way_ = false;
        if (carrier_->itinerary().empty()) return;
        carrier_->finish();
        operations_.unpack(fields_, ends().unpacked, carrier_->received(), colour_);
    }

    void reserve(std::size_t fields) override {
        carrier_->reserve(fields);
        fields_.reserve(fields);
    }

    long count() const override { return count_; }
    bool overlaps() const override { return overlap_ && !carrier_->itinerary().empty(); }
    const Plan& plan() const override { return carrier_->plan(); }

  private:
    struct KeptEnds {
        Items<Segment> packed, unpacked;
    };
    const KeptEnds& ends() const { return ends_[static_cast<std::size_t>(carried_)]; }

    Operations& operations_;
    std::unique_ptr<Carrier> carrier_;
    bool overlap_;
    std::vector<KeptEnds> ends_;  // in the order of Carried
    Items<CopyItem> copied_;
    long count_ = 0;
    bool under_way_ = false;
    // Of what is.
    std::vector<Field> fields_;
    Carried carried_ = Carried::all;
    std::optional<Colour> colour_;  // that is carried alone
};

}  // namespace

std::unique_ptr<Exchange> make_exchange(Operations& operations, const GhostPattern& pattern, Plan plan,
                                        const ExchangeOptions& options, const Transport& transport) {
    check(!options.one_colour || pattern.layout().colours_alternate(),
          "cells of one colour fill ghosts of one colour");
    auto carrier = std::make_unique<Carrier>(operations, std::move(plan), operations.layout().rank(),
                                             options.wire, transport, options.one_colour);
    std::vector<Ends> ends;
    for (const Carried carried : {Carried::all, Carried::one_colour})
        if (carrier->carries(carried))
            ends.push_back({segments_to_pack(carrier->itinerary(carried), pattern, carried),
                            segments_to_unpack(carrier->itinerary(carried), pattern, carried)});
    return std::make_unique<PlannedExchange>(operations, std::move(carrier), options.overlap, ends,
                                             copies_of(pattern));
}

std::unique_ptr<Exchange> make_exchange(Operations& operations, int rank, std::span<const Item> needed,
                                        const CellOfItem& cell, Plan plan, const ExchangeOptions& options,
                                        const Transport& transport) {
    auto carrier = std::make_unique<Carrier>(operations, std::move(plan), rank, options.wire, transport);
    const Ends ends{segments_to_pack(carrier->itinerary(), cell),
                    segments_to_unpack(carrier->itinerary(), needed, cell)};
    return std::make_unique<PlannedExchange>(operations, std::move(carrier), options.overlap,
                                             std::span(&ends, 1), std::span<const CopyItem>());
}

}  // namespace keel
