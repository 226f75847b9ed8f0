#include "solvers/amg/setup/ghost_values.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "comm/carry/transport.hpp"
#include "kernels/check.hpp"

namespace keel {
namespace {

// An entry on the wire: the column, of which a double holds every bit (most_rows), and the value.
constexpr std::size_t words_of_entry = 2;

void write_entry(std::span<double> words, std::size_t n, std::int64_t column, double value) {
    words[words_of_entry * n] = static_cast<double>(column);
    words[words_of_entry * n + 1] = value;
}
std::int64_t column_at(std::span<const double> words, std::size_t n) {
    return static_cast<std::int64_t>(words[words_of_entry * n]);
}
double value_at(std::span<const double> words, std::size_t n) {
    return words[words_of_entry * n + 1];
}

// The place of an item in an ascending list; its end where it is none of them.
std::size_t place_in(const std::vector<Item>& list, const Item& item) {
    const auto found = std::ranges::lower_bound(list, item);
    return found != list.end() && *found == item ? static_cast<std::size_t>(found - list.begin())
                                                 : list.size();
}

std::size_t slot_of(const std::vector<ReverseStage::Contribution>& parts, const Item& item) {
    return std::ranges::lower_bound(parts, item, {}, &ReverseStage::Contribution::item)->slot;
}

}  // namespace

ItemExchange SetupContext::exchange(Operations& buffers, Plan plan) const {
    plan.carrier = Carrier::isend;
    return {buffers, std::move(plan), comm.rank(), {comm, topology}};
}

std::unique_ptr<Operations> SetupContext::buffers() const {
    return backend.make_operations(block_layout(0), 0);
}

GhostValues::GhostValues(const SetupContext& context, const PartRows& A, const SchemeOptions& values,
                         const std::optional<SchemeOptions>& rows)
    : context_(context),
      first_(A.first()),
      ghosts_(A.ghosts),
      buffers_(context.buffers()),
      values_(context.exchange(*buffers_, context.plan(AmgMessages::values, ghosts_, values))),
      all_rows_by_(rows) {}

std::vector<double> GhostValues::complete(std::vector<double> own) {
    const std::size_t rows = own.size();
    own.resize(rows + ghosts_.size());
    context_.tell(AmgStep::exchange, AmgMessages::values);
    values_.run([&](const Item& item,
                    std::span<double> out) { out[0] = own[static_cast<std::size_t>(item.name - first_)]; },
                [&](const Item& item, std::span<const double> in) {
                    if (const std::size_t n = place_in(ghosts_, item); n < ghosts_.size())
                        own[rows + n] = in[0];
                });
    sent_values_ += values_.plan().traffic(context_.comm.rank(), context_.topology, 1);
    return own;
}

GlobalRows GhostValues::rows(const GlobalRows& own) {
    std::vector<double> lengths;
    for (std::size_t r = 0; r < own.rows(); ++r)
        lengths.push_back(static_cast<double>(own.first[r + 1] - own.first[r]));
    lengths = complete(std::move(lengths));

    GlobalRows rows;
    std::vector<Item> needed;
    for (std::size_t n = 0; n < ghosts_.size(); ++n) {
        const auto length = static_cast<std::int64_t>(lengths[own.rows() + n]);
        rows.first.push_back(rows.first.back() + length);
        if (length == 0) continue;
        Item item = ghosts_[n];
        item.values = static_cast<int>(words_of_entry) * static_cast<int>(length);
        needed.push_back(item);
    }
    rows.columns.resize(static_cast<std::size_t>(rows.first.back()));
    rows.values.resize(rows.columns.size());

    const auto buffers = context_.buffers();
    rows_by_ = all_rows_by_ ? *all_rows_by_ : context_.scheme_for(AmgMessages::rows, needed);
    ItemExchange exchange = context_.exchange(*buffers, context_.plan(AmgMessages::rows, needed, rows_by_));
    context_.tell(AmgStep::exchange, AmgMessages::rows);
    exchange.run(
        [&](const Item& item, std::span<double> out) {
            const auto [begin, end] = entries_of(own, static_cast<std::size_t>(item.name - first_));
            for (std::size_t e = begin; e < end; ++e)
                write_entry(out, e - begin, own.columns[e], own.values[e]);
        },
        [&](const Item& item, std::span<const double> in) {
            const std::size_t n = place_in(ghosts_, item);
            if (n == ghosts_.size()) return;
            const auto [begin, end] = entries_of(rows, n);
            for (std::size_t e = begin; e < end; ++e) {
                rows.columns[e] = column_at(in, e - begin);
                rows.values[e] = value_at(in, e - begin);
            }
        });
    sent_rows_ += exchange.plan().traffic(context_.comm.rank(), context_.topology, 1);
    return rows;
}

PartialRow merged(const PartialRow& a, const PartialRow& b) {
    PartialRow sum;
    std::size_t m = 0;
    std::size_t n = 0;
    while (m < a.columns.size() || n < b.columns.size()) {
        const bool of_a = n == b.columns.size() || (m < a.columns.size() && a.columns[m] <= b.columns[n]);
        const bool of_b = m == a.columns.size() || (n < b.columns.size() && b.columns[n] <= a.columns[m]);
        append(sum, of_a ? a.columns[m] : b.columns[n],
               of_a && of_b ? a.values[m] + b.values[n]
               : of_a       ? a.values[m]
                            : b.values[n]);
        if (of_a) ++m;
        if (of_b) ++n;
    }
    return sum;
}

void reverse_exchange_rows(const SetupContext& context, const ReverseExchange& way,
                           std::vector<PartialRow>& slots, Traffic& sent) {
    check_equal(slots.size(), way.slots(), "every slot of the way has a partial row");
    context.tell(AmgStep::exchange, AmgMessages::partial_rows);
    for (const ReverseStage& stage : way.stages) {
        const auto buffers = context.buffers();
        std::map<Item, int> lengths;  // by item that comes
        context.exchange(*buffers, stage.plan)
            .run(
                [&](const Item& item, std::span<double> out) {
                    out[0] = static_cast<double>(slots[slot_of(stage.sends, item)].columns.size());
                },
                [&](const Item& item, std::span<const double> in) {
                    lengths.emplace(item, static_cast<int>(in[0]));
                });
        Plan plan = stage.plan;
        const auto set_lengths = [&](PhaseMessages& phase) {
            for (Message& message : phase.messages)
                for (Item& item : message.items) {
                    const int length =
                        item.owner == context.comm.rank()
                            ? static_cast<int>(slots[slot_of(stage.sends, item)].columns.size())
                            : lengths.at(item);
                    item.values = static_cast<int>(words_of_entry) * length;
                }
        };
        set_lengths(plan.local);
        for (PhaseMessages& phase : plan.phases) set_lengths(phase);

        std::map<Item, PartialRow> arrived;
        ItemExchange exchange = context.exchange(*buffers, std::move(plan));
        exchange.run(
            [&](const Item& item, std::span<double> out) {
                const PartialRow& row = slots[slot_of(stage.sends, item)];
                for (std::size_t n = 0; n < row.columns.size(); ++n)
                    write_entry(out, n, row.columns[n], row.values[n]);
            },
            [&](const Item& item, std::span<const double> in) {
                PartialRow& row = arrived[item];
                for (std::size_t n = 0; n < in.size() / words_of_entry; ++n)
                    append(row, column_at(in, n), value_at(in, n));
            });
        sent += exchange.plan().traffic(context.comm.rank(), context.topology, 1);
        for (const ReverseStage::Contribution& part : stage.receives)
            slots[part.slot] = merged(slots[part.slot], arrived.at(part.item));
    }
}

}  // namespace keel
