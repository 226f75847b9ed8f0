#include "solvers/amg/transfer.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "comm/carry/transport.hpp"
#include "kernels/check.hpp"

namespace keel {
namespace {

// The places of values: the rows in blocks of their own, followed one by one by the values that come from or
// go to others.
struct Places {
    std::size_t rows;
    std::size_t extras = 0;

    std::size_t extra(std::size_t n) const { return blocks_of(rows) * block_rows + n; }
    std::size_t blocks() const { return blocks_of(rows) + blocks_of(extras); }
};

std::size_t parts_that_come(const ReverseExchange& way) {
    std::size_t parts = 0;
    for (const ReverseStage& stage : way.stages) parts += stage.receives.size();
    return parts;
}

CsrMatrix csr_of(const PartRows& P, const Places& places) {
    CsrMatrix csr{P.rows.first, {}, P.rows.values};
    csr.columns.reserve(P.places.size());
    for (const std::int32_t place : P.places) {
        const auto c = static_cast<std::size_t>(place);
        const std::size_t value = c < places.rows ? c : places.extra(c - places.rows);
        csr.columns.push_back(static_cast<std::int32_t>(place_of(value)));
    }
    return csr;
}

// Entries of rows, given in any order; those of a row stay in theirs.
class RowLists {
  public:
    explicit RowLists(std::size_t rows) : rows_(rows) {}
    void add(std::size_t row, std::size_t column, double value) {
        entries_.push_back({row, static_cast<std::int32_t>(column), value});
    }
    CsrMatrix csr() const {
        CsrMatrix csr;
        csr.first.resize(rows_ + 1);
        for (const Entry& entry : entries_) ++csr.first[entry.row + 1];
        for (std::size_t r = 0; r < rows_; ++r) csr.first[r + 1] += csr.first[r];
        csr.columns.resize(entries_.size());
        csr.values.resize(entries_.size());
        std::vector<std::int64_t> next = csr.first;
        for (const auto& [row, column, value] : entries_) {
            const auto e = static_cast<std::size_t>(next[row]++);
            csr.columns[e] = static_cast<std::int32_t>(place_of(static_cast<std::size_t>(column)));
            csr.values[e] = value;
        }
        return csr;
    }

  private:
    struct Entry {
        std::size_t row;
        std::int32_t column;
        double value;
    };
    std::size_t rows_;
    std::vector<Entry> entries_;
};

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

CsrMatrix transposed_csr(const PartRows& P, const Places& places) {
    RowLists transposed(places.blocks() * block_rows);
    for (std::size_t r = 0; r < P.rows.rows(); ++r)
        for (auto [e, end] = entries_of(P.rows, r); e < end; ++e) {
            const auto c = static_cast<std::size_t>(P.places[e]);
            transposed.add(c < places.rows ? c : places.extra(c - places.rows), r, P.rows.values[e]);
        }
    return transposed.csr();
}

}  // namespace

LevelTransfer::LevelTransfer(const SetupContext& context, const PartRows& P, const Plan& plan,
                             const ReverseExchange& way, Operations& fine, Operations& coarse,
                             const ExchangeOptions& options, Ledger& ledger, int level)
    : fine_(fine),
      coarse_(coarse),
      memory_(context.backend.make_operations(
          block_layout(
              Places{P.own_columns(), way.contributions + way.relays + parts_that_come(way)}.blocks()),
          0)),
      operations_(*memory_, ledger, level, Caller::multigrid),
      vector_(memory_->make_field()),
      other_(memory_->make_field()),
      ledger_(ledger),
      level_(level) {
    const Places places{P.own_columns(), way.contributions + way.relays + parts_that_come(way)};
    rows_ = {vector_.data(), block_shape(coarse.layout().local_count())};
    const TransportOptions transport{context.comm, context.topology, 0, {}, &ledger, level};
    const int rank = context.comm.rank();
    CsrMatrix prolongation = csr_of(P, places);
    CsrMatrix restriction = transposed_csr(P, places);
    if (options.overlap) {
        prolongation.set_shell(places.extra(0));
        restriction.shell.assign(restriction.rows(), 1);
        std::fill_n(restriction.shell.begin(), places.extra(0), 0);
    }
    P_ = fine.make_rows(prolongation);
    ghosts_ = make_exchange(
        operations_, rank, P.ghosts, [&](const Item& item) { return cell_of_item(P, places, item); }, plan,
        options, transport);
    interpolating_ = plan.traffic(rank, context.topology, 1);

    transposed_ = memory_->make_rows(restriction);

    const std::size_t all = places.blocks() * block_rows;
    const auto place_of_slot = [&](std::size_t slot) {
        const std::size_t first_home = way.contributions + way.relays;
        return slot < first_home
                   ? places.extra(slot)
                   : static_cast<std::size_t>(way.homes[slot - first_home] - P.columns.first(rank));
    };
    std::size_t come = way.contributions + way.relays;
    for (std::size_t h = 0; h < way.stages.size(); ++h) {
        const ReverseStage& stage = way.stages[h];
        const bool last = h + 1 == way.stages.size();
        RowLists sum(last ? places.rows : all);
        for (std::size_t r = 0; r < places.rows; ++r) sum.add(r, r, 1.0);
        for (std::size_t n = 0; !last && n < way.contributions + way.relays; ++n)
            sum.add(places.extra(n), places.extra(n), 1.0);
        std::map<Item, std::size_t> place_of_part;
        std::vector<Item> needed;
        for (const ReverseStage::Contribution& part : stage.sends)
            place_of_part.emplace(part.item, place_of_slot(part.slot));
        for (const ReverseStage::Contribution& part : stage.receives) {
            place_of_part.emplace(part.item, places.extra(come));
            needed.push_back(part.item);
            sum.add(place_of_slot(part.slot), places.extra(come++), 1.0);
        }
        steps_.push_back(
            {make_exchange(
                 operations_, rank, needed, [&](const Item& item) { return cell_at(place_of_part.at(item)); },
                 stage.plan, options, transport),
             last ? coarse.make_rows(sum.csr()) : memory_->make_rows(sum.csr())});
    }
    restricting_ = way.traffic(rank, context.topology);
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
