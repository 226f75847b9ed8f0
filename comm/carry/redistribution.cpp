#include "comm/carry/redistribution.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "kernels/check.hpp"

namespace keel {

namespace {

// Cells of a box, which lie `offset` values behind the start of a buffer, in a layout of as wide or wider boxes.
Segment segment_in(const Layout& layout, const Layout& boxes, int box, const Region& cells,
                   std::size_t offset) {
    const int ratio = layout.width() / boxes.width();
    if (ratio == 1) return Segment(layout.local_index(box), cells, offset);
    const Index position = boxes.position(box);
    Index larger = position;
    Region part = cells;
    for (std::size_t d = 0; d < boxes.dimensions(); ++d) {
        larger[d] /= ratio;
        const int nth = position[d] - ratio * larger[d];
        part.lo[d] += boxes.width() * nth;
        if (nth + 1 < ratio) part.size[d] = std::min(part.size[d], boxes.width());
    }
    return Segment(layout.local_index(*layout.domain().box_at(larger)), part, offset, {}, cells.size);
}

}  // namespace

Redistribution::Redistribution(const Ends& ends, int rank, const BoxPattern& pattern, const Layout& boxes,
                               const Region& cells, Plan plan, Wire wire, const Transport& transport)
    : ends_(ends) {
    check(ends.from || ends.to, "every rank has boxes at one end");
    Operations& any = ends.from ? *ends.from : *ends.to;
    carrier_ = std::make_unique<Carrier>(any, std::move(plan), rank, wire, transport);

    const Itinerary& itinerary = carrier_->itinerary();
    const auto segment = [&](const Operations& operations, std::int64_t box, std::size_t offset) {
        return segment_in(operations.layout(), boxes, static_cast<int>(box), cells, offset);
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
        // Who sends nothing has packed nothing: what came last may still be on its way from where more is received now.
        if (packed_.count > 0)
            ends_.from->pack(carrier_->to_send(), packed_, from, {});
        else if (unpacked_.count > 0)
            ends_.to->wait();
        carrier_->start(fields);
    }
    if (kept_values_ > 0) {
        ends_.from->pack(kept_, left_, from, {});
        ends_.to->unpack(to, entered_, kept_, {});
    }
    if (!travels) return;
    carrier_->finish();
    if (unpacked_.count > 0) ends_.to->unpack(to, unpacked_, carrier_->received(), {});
}

}  // namespace keel
