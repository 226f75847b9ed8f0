#include "comm/carry/redistribution.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "kernels/check.hpp"

namespace keel {

namespace {

// Copies the cells of a box of `boxes` from a layout of as wide or wider boxes to a place in a buffer.
BlockCopy pack_of(const Layout& layout, const Layout& boxes, int box, const Region& cells,
                  std::size_t offset) {
    const int ratio = layout.width() / boxes.width();
    if (ratio == 1) return BlockCopy::pack(layout.local_index(box), cells, offset);
    const Index position = boxes.position(box);
    Index larger = position;
    Region part = cells;
    for (std::size_t d = 0; d < boxes.dimensions(); ++d) {
        larger[d] /= ratio;
        const int nth = position[d] - ratio * larger[d];
        part.lo[d] += boxes.width() * nth;
        if (nth + 1 < ratio) part.size[d] = std::min(part.size[d], boxes.width());
    }
    return {part.size, in_box(layout.local_index(*layout.domain().box_at(larger)), part.lo),
            in_buffer(offset, cells.size)};
}

}  // namespace

Redistribution::Redistribution(const Ends& ends, int rank, const BoxPattern& pattern, const Layout& boxes,
                               const Region& cells, Plan plan, const ExchangeOptions& options,
                               const TransportOptions& transport)
    : ends_(ends) {
    check(ends.from || ends.to, "every rank has boxes at one end");
    Operations& any = ends.from ? *ends.from : *ends.to;
    exchanger_ = std::make_unique<Exchanger>(any, std::move(plan), rank, options, transport);

    const RankSchedule& schedule = exchanger_->schedule();
    const auto pack = [&](const Operations& operations, std::int64_t box, std::size_t offset) {
        return pack_of(operations.layout(), boxes, static_cast<int>(box), cells, offset);
    };
    // Both ends lay out a message item by item.
    std::vector<BlockCopy> packed;
    for (const SendStage& stage : schedule.stages)
        for (const MessageEnd& message : stage.sends)
            message.for_each_item([&](const Item& item, std::size_t offset) {
                if (item.owner == rank) packed.push_back(pack(*ends.from, item.name, offset));
            });
    std::map<std::int64_t, std::size_t> arrived;  // offset in the buffer, by box
    for (const MessageEnd& message : schedule.receives)
        message.for_each_item(
            [&](const Item& item, std::size_t offset) { arrived.try_emplace(item.name, offset); });
    std::vector<BlockCopy> unpacked;
    std::vector<BlockCopy> left;
    std::vector<BlockCopy> entered;
    for (const int box : pattern.to().boxes_of(rank)) {
        if (!pattern.from().holds(rank, box)) {
            unpacked.push_back(pack(*ends.to, box, arrived.at(box)).reversed());
            continue;
        }
        left.push_back(pack(*ends.from, box, kept_values_));
        entered.push_back(pack(*ends.to, box, kept_values_).reversed());
        kept_values_ += cells.cells();
    }
    if (ends.from) {
        packed_ = ends.from->make_items(std::span<const BlockCopy>(packed));
        left_ = ends.from->make_items(std::span<const BlockCopy>(left));
    }
    if (ends.to) {
        unpacked_ = ends.to->make_items(std::span<const BlockCopy>(unpacked));
        entered_ = ends.to->make_items(std::span<const BlockCopy>(entered));
    }
    reserve(1);
}

void Redistribution::reserve(std::size_t fields) {
    exchanger_->reserve(fields);
    if (fields <= room_) return;
    if (kept_values_ > 0) kept_ = ends_.from->make_buffer(kept_values_ * fields, Wire::direct);
    room_ = fields;
}

void Redistribution::run(std::span<const Field> from, std::span<const Field> to) {
    ++count_;
    const std::size_t fields = ends_.from ? from.size() : to.size();
    reserve(fields);
    const bool travels = !exchanger_->schedule().empty();
    if (travels) {
        // A rank that sends nothing has not packed, and so not waited: cells that arrived last may still be
        // copied out of the buffer into which more are received now.
        if (packed_.count > 0)
            ends_.from->copy_blocks(Packed{exchanger_->to_send(), fields}, packed_, from, {});
        else if (unpacked_.count > 0)
            ends_.to->wait();
        exchanger_->start(fields);
    }
    if (kept_values_ > 0) {
        ends_.from->copy_blocks(Packed{kept_, fields}, left_, from, {});
        ends_.to->copy_blocks(to, entered_, Packed{kept_, fields}, {});
    }
    if (!travels) return;
    exchanger_->finish();
    if (unpacked_.count > 0) ends_.to->copy_blocks(to, unpacked_, Packed{exchanger_->received(), fields}, {});
}

}  // namespace keel
