#include "solvers/amg/transfer.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "comm/carry/transport.hpp"
#include "kernels/check.hpp"

namespace keel {
namespace {

// The places of values: the rows in blocks of their own, followed one by one by the values that come from or
// go to others.
struct Places {
    std::size_t rows;
    std::size_t extras;

    std::size_t extra(std::size_t n) const { return blocks_of(rows) * block_rows + n; }
    std::size_t blocks() const { return blocks_of(rows) + blocks_of(extras); }
    std::size_t values() const { return blocks() * block_rows; }
};

Places places_of(const PartRows& P, const ReverseExchange& way) {
    std::size_t extras = way.contributions + way.relays;
    for (const ReverseStage& stage : way.stages) extras += stage.receives.size();
    return {P.own_columns(), extras};
}

CsrMatrix csr_of(const PartRows& P, const Places& places) {
    CsrMatrix csr{P.rows.first, P.places, P.rows.values};
    for (std::int32_t& column : csr.columns)
        if (const auto c = static_cast<std::size_t>(column); c >= places.rows)
            column = static_cast<std::int32_t>(places.extra(c - places.rows));
    return csr;
}

BoxCell cell_at(std::size_t place) {
    const auto [box, at] = cell_of(place);
    return {box, at};
}

// The cell of a row of the coarse level, or of a ghost of P.
BoxCell cell_of_item(const PartRows& P, const Places& places, const Item& item) {
    if (item.owner == P.rank) return cell_at(static_cast<std::size_t>(item.name - P.columns.first(P.rank)));
    const auto ghost = std::ranges::lower_bound(P.ghosts, item) - P.ghosts.begin();
    return cell_at(places.extra(static_cast<std::size_t>(ghost)));
}

// The matrix of `sums` rows that adds each value to one of them, or to none.
CsrMatrix sums_by(const std::vector<std::optional<std::size_t>>& sum_of_value, std::size_t sums) {
    CsrMatrix transposed;
    for (const std::optional<std::size_t>& sum : sum_of_value) {
        if (sum) transposed.columns.push_back(static_cast<std::int32_t>(*sum));
        end_row(transposed);
    }
    transposed.values.resize(transposed.columns.size(), 1.0);
    return placed(transpose(transposed.first, transposed.columns, transposed.values, sums));
}

}  // namespace

LevelTransfer::LevelTransfer(const SetupContext& context, const PartRows& P, const Plan& plan,
                             const ReverseExchange& way, Operations& fine, Operations& coarse,
                             const ExchangeOptions& options, Ledger& ledger, int level)
    : fine_(fine),
      coarse_(coarse),
      memory_(context.backend.make_operations(block_layout(places_of(P, way).blocks()), 0)),
      operations_(*memory_, ledger, level, Caller::multigrid),
      vector_(memory_->make_field()),
      other_(memory_->make_field()),
      ledger_(ledger),
      level_(level) {
    const Places places = places_of(P, way);
    rows_ = {vector_.data(), block_shape(coarse.layout().local_count())};
    const TransportOptions transport{context.comm, context.topology, 0, {}, &ledger, level};
    const int rank = context.comm.rank();
    CsrMatrix prolongation = csr_of(P, places);
    CsrMatrix restriction =
        placed(transpose(prolongation.first, prolongation.columns, prolongation.values, places.values()));
    prolongation = placed(std::move(prolongation));
    if (options.overlap) {
        prolongation.set_shell(places.extra(0));
        restriction.shell.assign(restriction.rows(), 1);
        std::fill_n(restriction.shell.begin(), places.extra(0), 0);
    }
    P_ = fine.make_rows(prolongation);
    transposed_ = memory_->make_rows(restriction);
    ghosts_ = make_exchange(
        operations_, rank, P.ghosts, [&](const Item& item) { return cell_of_item(P, places, item); }, plan,
        options, transport);
    add_steps(P, way, options, transport);
}

void LevelTransfer::add_steps(const PartRows& P, const ReverseExchange& way, const ExchangeOptions& options,
                              const TransportOptions& transport) {
    const Places places = places_of(P, way);
    const std::size_t for_others = way.contributions + way.relays;
    const auto place_of_slot = [&](std::size_t slot) {
        return slot < for_others
                   ? places.extra(slot)
                   : static_cast<std::size_t>(way.homes[slot - for_others] - P.columns.first(P.rank));
    };
    std::size_t come = for_others;
    for (const ReverseStage& stage : way.stages) {
        const bool last = &stage == &way.stages.back();
        std::vector<std::optional<std::size_t>> added_to(places.values());
        for (std::size_t r = 0; r < places.rows; ++r) added_to[r] = r;
        for (std::size_t n = 0; !last && n < for_others; ++n) added_to[places.extra(n)] = places.extra(n);
        std::map<Item, std::size_t> place_of_part;
        std::vector<Item> needed;
        for (const ReverseStage::Contribution& part : stage.sends)
            place_of_part.emplace(part.item, place_of_slot(part.slot));
        for (const ReverseStage::Contribution& part : stage.receives) {
            place_of_part.emplace(part.item, places.extra(come));
            needed.push_back(part.item);
            added_to[places.extra(come++)] = place_of_slot(part.slot);
        }
        const CsrMatrix sums = sums_by(added_to, last ? places.rows : places.values());
        steps_.push_back({make_exchange(
                              operations_, P.rank, needed,
                              [&](const Item& item) { return cell_at(place_of_part.at(item)); }, stage.plan,
                              options, transport),
                          last ? coarse_.make_rows(sums) : memory_->make_rows(sums)});
    }
}

void LevelTransfer::interpolate(Field x, Field e) {
    booked(ledger_, Op::vector, level_ + 1, [&] { return coarse_.copy(rows_, e); });
    ghosts_->run(vector_, [&](Part part) {
        booked(ledger_, Op::interpolate, level_,
               [&] { return fine_.apply(std::span(&x, 1), P_.on(part), std::span(&vector_, 1)); });
    });
}

void LevelTransfer::restrict_to(Field b, Field r) {
    Field parts = vector_;
    Field sums = other_;
    const bool overlaps = steps_.front().exchange->overlaps();
    const auto transpose = [&](Part part) {
        booked(ledger_, Op::restrict_, level_,
               [&] { return memory_->apply(std::span(&parts, 1), transposed_.on(part), std::span(&r, 1)); });
    };
    transpose(overlaps ? Part::shell : Part::all);
    for (std::size_t n = 0; n < steps_.size(); ++n) {
        steps_[n].exchange->begin(std::span(&parts, 1), {});
        if (n == 0 && overlaps) transpose(Part::interior);
        steps_[n].exchange->finish();
        const bool last = n + 1 == steps_.size();
        booked(ledger_, Op::restrict_, level_, [&] {
            return last ? coarse_.apply(std::span(&b, 1), steps_[n].sum, std::span(&parts, 1))
                        : memory_->apply(std::span(&sums, 1), steps_[n].sum, std::span(&parts, 1));
        });
        std::swap(parts, sums);
    }
}

}  // namespace keel
