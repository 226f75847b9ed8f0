#include "comm/carry/redistribution.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "kernels/check.hpp"

namespace keel {

Holders::Holders(std::vector<int> owners) : owners_(std::move(owners)) {
    boxes_ = static_cast<int>(owners_.size());
    check(boxes_ > 0, "a level has boxes");
    first_.assign(static_cast<std::size_t>(*std::ranges::max_element(owners_)) + 2, 0);
    for (const int owner : owners_) ++first_[static_cast<std::size_t>(owner) + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    by_rank_.resize(owners_.size());
    std::iota(by_rank_.begin(), by_rank_.end(), 0);
    std::ranges::stable_sort(by_rank_, {}, [&](int box) { return owners_[static_cast<std::size_t>(box)]; });
}

Holders Holders::owners_of(const Layout& layout) {
    std::vector<int> owners;
    for (int box = 0; box < layout.box_count(); ++box) owners.push_back(layout.owner(box));
    return Holders(std::move(owners));
}

Holders Holders::everywhere(int boxes, int ranks) {
    Holders all;
    all.boxes_ = boxes;
    all.ranks_ = ranks;
    return all;
}

bool Holders::holds(int rank, int box) const {
    return everyone() || owners_[static_cast<std::size_t>(box)] == rank;
}

std::vector<int> Holders::boxes_of(int rank) const {
    if (everyone()) {
        std::vector<int> all(static_cast<std::size_t>(boxes_));
        std::iota(all.begin(), all.end(), 0);
        return all;
    }
    const auto r = static_cast<std::size_t>(rank);
    if (r + 1 >= first_.size()) return {};
    return {by_rank_.begin() + static_cast<long>(first_[r]),
            by_rank_.begin() + static_cast<long>(first_[r + 1])};
}

std::vector<int> Holders::ranks_of(int box) const {
    if (!everyone()) return {owners_[static_cast<std::size_t>(box)]};
    std::vector<int> all(static_cast<std::size_t>(ranks_));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

BoxPattern::BoxPattern(Holders from, Holders to, int values)
    : from_(std::move(from)), to_(std::move(to)), values_(values) {
    check(!from_.everyone() && from_.boxes() == to_.boxes(), "each box comes from one rank");
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

Redistribution::Redistribution(const Ends& ends, int rank, const BoxPattern& pattern, const Region& cells,
                               Plan plan, Wire wire, const Transport& transport)
    : ends_(ends) {
    check(ends.from || ends.to, "every rank has boxes at one end");
    Operations& any = ends.from ? *ends.from : *ends.to;
    carrier_ = std::make_unique<Carrier>(any, std::move(plan), rank, wire, transport);

    const Itinerary& itinerary = carrier_->itinerary();
    const auto segment = [&](const Operations& operations, std::int64_t box, std::size_t offset) {
        return Segment(operations.layout().local_index(static_cast<int>(box)), cells, offset);
    };
    // Both ends lay a message out item by item.
    std::vector<Segment> packed;
    for (const Departure& departure : itinerary.departures)
        for (const Leg& leg : departure.sends) {
            std::size_t offset = leg.offset;
            for (const Item& item : leg.items) {
                if (item.owner == rank) packed.push_back(segment(*ends.from, item.name, offset));
                offset += static_cast<std::size_t>(item.values);
            }
        }
    std::map<std::int64_t, std::size_t> arrived;  // where, by box
    for (const Leg& leg : itinerary.receives) {
        std::size_t offset = leg.offset;
        for (const Item& item : leg.items) {
            arrived.try_emplace(item.name, offset);
            offset += static_cast<std::size_t>(item.values);
        }
    }
    std::vector<Segment> unpacked;
    std::vector<Segment> left;
    std::vector<Segment> entered;
    for (const int box : pattern.to().boxes_of(rank)) {
        if (!pattern.from().holds(rank, box)) {
            unpacked.push_back(segment(*ends.to, box, arrived.at(box)));
            continue;
        }
        left.push_back(segment(*ends.from, box, kept_values_));
        entered.push_back(segment(*ends.to, box, kept_values_));
        kept_values_ += cells.cells();
    }
    if (ends.from) {
        packed_ = ends.from->make_items(std::span<const Segment>(packed));
        left_ = ends.from->make_items(std::span<const Segment>(left));
    }
    if (ends.to) {
        unpacked_ = ends.to->make_items(std::span<const Segment>(unpacked));
        entered_ = ends.to->make_items(std::span<const Segment>(entered));
    }
    reserve(1);
}

void Redistribution::reserve(std::size_t fields) {
    carrier_->reserve(fields);
    if (fields <= room_) return;
    if (kept_values_ > 0) kept_ = ends_.from->make_buffer(kept_values_ * fields, Wire::direct);
    room_ = fields;
}

void Redistribution::run(std::span<const Field> from, std::span<const Field> to) {
    ++count_;
    const std::size_t fields = ends_.from ? from.size() : to.size();
    reserve(fields);
    const bool travels = !carrier_->itinerary().empty();
    if (travels) {
        if (packed_.count > 0) ends_.from->pack(carrier_->to_send(), packed_, from);
        carrier_->start(fields);
    }
    if (kept_values_ > 0) {
        ends_.from->pack(kept_, left_, from);
        ends_.to->unpack(to, entered_, kept_);
    }
    if (!travels) return;
    carrier_->finish();
    if (unpacked_.count > 0) ends_.to->unpack(to, unpacked_, carrier_->received());
}

}  // namespace keel
