#include "comm/carry/exchange.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "comm/ranks/mpi.hpp"
#include "kernels/check.hpp"

namespace keel {
namespace {

// The shift of blocks in messages: 1 if every other cell travels.
int shift_of(Carried carried) {
    return carried == Carried::one_colour ? 1 : 0;
}

// The layout of a message: copies to it, of boxes by their numbers in the whole level. What is forwarded lies
// item by item. In any other message lie the whole sources of the ghost regions that it fills, in the order
// of the regions, which both ends know; only sources that overlap an earlier one lie item by item. Whole
// sources make fewer and longer rows to pack, and leave a place at the end for each item of an odd number of
// cells if only those of one colour travel.
std::vector<BlockCopy> blocks_of(const MessageEnd& message, const GhostPattern& pattern,
                                 const std::vector<GhostRegion>& regions, int GhostRegion::*peer,
                                 Carried carried) {
    std::vector<BlockCopy> blocks;
    std::size_t offset = message.offset;
    const auto append = [&](int box, const Region& cells) {
        BlockCopy& block = blocks.emplace_back(BlockCopy::pack(box, cells, offset));
        block.to.shift = shift_of(carried);
        offset = block.to.end();
    };
    if (message.relayed) {
        for (const Item& item : message.items) append(pattern.box(item), pattern.region(item));
    } else {
        std::set<Item> placed;
        for (const GhostRegion& ghosts : regions) {
            if (ghosts.*peer != message.peer) continue;
            const std::vector<Item> items = pattern.items(ghosts.from, ghosts.source);
            const bool overlaps = std::any_of(items.begin(), items.end(),
                                              [&](const Item& item) { return placed.contains(item); });
            if (!overlaps) append(ghosts.from, ghosts.source);
            for (const Item& item : items)
                if (placed.insert(item).second && overlaps) append(ghosts.from, pattern.region(item));
        }
    }
    const std::size_t end = message.offset + message.values;
    check(carried == Carried::all ? offset == end : offset <= end,
          "both ends of a message know how long it is");
    return blocks;
}

std::vector<BlockCopy> packs_of(const RankSchedule& schedule, const GhostPattern& pattern, Carried carried) {
    const Layout& layout = pattern.layout();
    const std::vector<GhostRegion> regions = pattern.sends();
    std::vector<BlockCopy> packs;
    for (const SendStage& stage : schedule.stages)
        for (const MessageEnd& message : stage.sends)
            for (BlockCopy block : blocks_of(message, pattern, regions, &GhostRegion::receiver, carried)) {
                if (layout.owner(block.from.box) != schedule.rank) continue;
                block.from.box = layout.local_index(block.from.box);
                packs.push_back(block);
            }
    return packs;
}

std::vector<BlockCopy> unpacks_of(const RankSchedule& schedule, const GhostPattern& pattern,
                                  Carried carried) {
    const std::vector<GhostRegion> regions = pattern.receives();
    std::map<Item, BlockCopy> found;
    for (const MessageEnd& message : schedule.receives)
        for (const BlockCopy& block : blocks_of(message, pattern, regions, &GhostRegion::owner, carried))
            for (const Item& item : pattern.items(block.from.box, {block.from.at, block.extent}))
                found.try_emplace(item, block);
    std::vector<BlockCopy> unpacks;
    for (const GhostRegion& ghosts : regions) {
        const int box = pattern.layout().local_index(ghosts.to);
        // Takes cells of the source out of the block of the message that they are in.
        const auto unpack = [&](const BlockCopy& block, const Region& cells) {
            BlockCopy& copy = unpacks.emplace_back(BlockCopy{cells.size, block.to, in_box(box, {})});
            copy.from.at = cells.lo + -block.from.at;
            copy.to.at = ghosts.target.lo + cells.lo + -ghosts.source.lo;
        };
        const std::vector<Item> items = pattern.items(ghosts.from, ghosts.source);
        const BlockCopy& first = found.at(items.front());
        if (first.from.at == ghosts.source.lo && first.extent == ghosts.source.size)
            unpack(first, ghosts.source);
        else
            for (const Item& item : items) unpack(found.at(item), pattern.region(item));
    }
    return unpacks;
}

std::vector<BlockCopy> copies_of(const GhostPattern& pattern) {
    const Layout& layout = pattern.layout();
    std::vector<BlockCopy> copies;
    for (const GhostRegion& ghosts : pattern.copies())
        copies.push_back(BlockCopy::local(layout.local_index(ghosts.from), ghosts.source,
                                          layout.local_index(ghosts.to), ghosts.target.lo));
    return copies;
}

// Appends the n-th item of a message, of length 1, and its cell. A message that is not forwarded lies in the
// buffer as one region, so that both ends lay out several fields alike; neighbours in it that are neighbours
// in their row become one copy.
void append(std::vector<BlockCopy>& packs, const MessageEnd& message, std::size_t n, const BoxCell& cell) {
    const Region one{cell.at, {1, 1, 1}};
    if (message.relayed) {
        packs.push_back(BlockCopy::pack(cell.box, one, message.offset + n));
        return;
    }
    const int number = static_cast<int>(n);
    if (!packs.empty()) {
        BlockCopy& last = packs.back();
        const int length = last.extent[0];
        if (last.to.offset == message.offset && last.to.at[0] + length == number &&
            last.from.box == cell.box && last.from.at + Index{length, 0, 0} == cell.at) {
            ++last.extent[0];
            return;
        }
    }
    const Index whole{mpi_count(message.values, "message of an exchange"), 1, 1};
    packs.push_back({one.size, in_box(cell.box, cell.at), in_buffer(message.offset, whole, {number, 0, 0})});
}

std::vector<BlockCopy> packs_of(const RankSchedule& schedule, const CellOfItem& cell) {
    std::vector<BlockCopy> packs;
    for (const SendStage& stage : schedule.stages)
        for (const MessageEnd& message : stage.sends)
            for (std::size_t n = 0; n < message.items.size(); ++n)
                if (message.items[n].owner == schedule.rank)
                    append(packs, message, n, cell(message.items[n]));
    return packs;
}

std::vector<BlockCopy> unpacks_of(const RankSchedule& schedule, std::span<const Item> needed,
                                  const CellOfItem& cell) {
    std::map<Item, std::pair<const MessageEnd*, std::size_t>> found;
    for (const MessageEnd& message : schedule.receives)
        for (std::size_t n = 0; n < message.items.size(); ++n)
            found.try_emplace(message.items[n], &message, n);
    std::vector<BlockCopy> unpacks;
    for (const Item& item : needed) {
        const auto [message, n] = found.at(item);
        append(unpacks, *message, n, cell(item));
    }
    for (BlockCopy& copy : unpacks) copy = copy.reversed();
    return unpacks;
}

// The copies that make a rank's messages, and those that take them apart.
struct MessageCopies {
    std::vector<BlockCopy> packs, unpacks;
};

class FieldExchange : public Exchange {
  public:
    // `copies`: for all that the exchanger carries, in the order of Carried.
    FieldExchange(Operations& operations, std::unique_ptr<Exchanger> exchanger, bool overlap,
                  std::span<const MessageCopies> copies, std::span<const BlockCopy> local)
        : operations_(operations), exchanger_(std::move(exchanger)), overlap_(overlap) {
        for (const auto& [packs, unpacks] : copies)
            lists_.push_back({operations.make_items(std::span<const BlockCopy>(packs)),
                              operations.make_items(std::span<const BlockCopy>(unpacks))});
        local_ = operations.make_items(local);
        FieldExchange::reserve(1);
    }

    void begin(std::span<const Field> u, std::optional<Colour> colour) override {
        check(!in_flight_, "an exchange is begun while the one before is in flight");
        in_flight_ = true;
        ++count_;
        reserve(u.size());
        fields_.assign(u.begin(), u.end());
        const bool of_one = colour && exchanger_->carries(Carried::one_colour);
        carried_ = of_one ? Carried::one_colour : Carried::all;
        colour_ = of_one ? colour : std::nullopt;
        if (!exchanger_->schedule().empty()) {
            operations_.copy_blocks(Packed{exchanger_->to_send(), u.size()}, lists().packs, u, colour_);
            exchanger_->start(u.size(), carried_);
        }
        if (local_.count > 0) operations_.copy_blocks(u, local_, u, colour);
        if (overlaps()) exchanger_->send_off_node();
    }

    void finish() override {
        check(in_flight_, "no exchange is in flight");
        in_flight_ = false;
        if (exchanger_->schedule().empty()) return;
        exchanger_->finish();
        operations_.copy_blocks(fields_, lists().unpacks, Packed{exchanger_->received(), fields_.size()},
                                colour_);
    }

    void send_in(Precision precision) override { exchanger_->send_in(precision); }
    void reserve(std::size_t fields) override {
        exchanger_->reserve(fields);
        fields_.reserve(fields);
    }

    long count() const override { return count_; }
    bool overlaps() const override { return overlap_ && !exchanger_->schedule().empty(); }
    const Plan& plan() const override { return exchanger_->plan(); }
    std::optional<Items<BlockCopy>> copies_alone() const override {
        return exchanger_->schedule().empty() ? std::optional(local_) : std::nullopt;
    }
    void count_copied(long exchanges) override { count_ += exchanges; }

  private:
    struct Lists {
        Items<BlockCopy> packs, unpacks;
    };
    const Lists& lists() const { return lists_[static_cast<std::size_t>(carried_)]; }

    Operations& operations_;
    std::unique_ptr<Exchanger> exchanger_;
    bool overlap_;
    std::vector<Lists> lists_;  // in the order of Carried
    Items<BlockCopy> local_;
    long count_ = 0;
    bool in_flight_ = false;
    // The exchange in flight.
    std::vector<Field> fields_;
    Carried carried_ = Carried::all;
    std::optional<Colour> colour_;  // if it is carried alone
};

}  // namespace

std::unique_ptr<Exchange> make_exchange(Operations& operations, const GhostPattern& pattern, Plan plan,
                                        const ExchangeOptions& options, const TransportOptions& transport) {
    check(!options.one_colour || pattern.layout().colours_alternate(),
          "cells of one colour fill ghosts of one colour");
    auto exchanger = std::make_unique<Exchanger>(operations, std::move(plan), operations.layout().rank(),
                                                 options, transport);
    std::vector<MessageCopies> copies;
    for (const Carried carried : {Carried::all, Carried::one_colour})
        if (exchanger->carries(carried))
            copies.push_back({packs_of(exchanger->schedule(carried), pattern, carried),
                              unpacks_of(exchanger->schedule(carried), pattern, carried)});
    return std::make_unique<FieldExchange>(operations, std::move(exchanger), options.overlap, copies,
                                           copies_of(pattern));
}

std::unique_ptr<Exchange> make_exchange(Operations& operations, int rank, std::span<const Item> needed,
                                        const CellOfItem& cell, Plan plan, const ExchangeOptions& options,
                                        const TransportOptions& transport) {
    auto exchanger = std::make_unique<Exchanger>(operations, std::move(plan), rank, options, transport);
    const MessageCopies copies{packs_of(exchanger->schedule(), cell),
                               unpacks_of(exchanger->schedule(), needed, cell)};
    return std::make_unique<FieldExchange>(operations, std::move(exchanger), options.overlap,
                                           std::span(&copies, 1), std::span<const BlockCopy>());
}

}  // namespace keel
