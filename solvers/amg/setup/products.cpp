#include "solvers/amg/setup/products.hpp"

#include <algorithm>

#include "comm/patterns/pattern.hpp"
#include "kernels/check.hpp"

namespace keel {
namespace {

// Rows by places among the columns that occur, so that what is kept for each column is no longer than their number.
class CompactColumns {
  public:
    explicit CompactColumns(std::vector<std::int64_t> columns) : columns_(std::move(columns)) {
        sort_distinct(columns_);
    }
    std::size_t count() const { return columns_.size(); }
    std::int64_t column(std::size_t place) const { return columns_[place]; }
    std::vector<std::int32_t> places(const std::vector<std::int64_t>& columns) const {
        std::vector<std::int32_t> places;
        places.reserve(columns.size());
        for (const std::int64_t column : columns)
            places.push_back(
                static_cast<std::int32_t>(std::ranges::lower_bound(columns_, column) - columns_.begin()));
        return places;
    }

  private:
    std::vector<std::int64_t> columns_;
};

// A row that is summed up (Gustavson, "Two fast algorithms for sparse matrices", ACM TOMS 1978).
class RowSum {
  public:
    explicit RowSum(const CompactColumns& columns)
        : columns_(columns), sums_(columns.count(), 0.0), is_there_(columns.count(), 0) {}

    void add(double factor, const GlobalRows& rows, const std::vector<std::int32_t>& places,
             std::size_t row) {
        for (auto [e, end] = entries_of(rows, row); e < end; ++e) {
            const auto place = static_cast<std::size_t>(places[e]);
            if (!is_there_[place]) {
                is_there_[place] = 1;
                there_.push_back(place);
                sums_[place] = 0;
            }
            sums_[place] += factor * rows.values[e];
        }
    }
    // Hands over the entries by ascending columns, and begins anew.
    template <class Visit>
    void finish(const Visit& visit) {
        std::ranges::sort(there_);
        for (const std::size_t place : there_) {
            visit(columns_.column(place), sums_[place]);
            is_there_[place] = 0;
        }
        there_.clear();
    }

  private:
    const CompactColumns& columns_;
    std::vector<double> sums_;
    std::vector<char> is_there_;
    std::vector<std::size_t> there_;
};

void append(GlobalRows& rows, const PartialRow& row) {
    rows.columns.insert(rows.columns.end(), row.columns.begin(), row.columns.end());
    rows.values.insert(rows.values.end(), row.values.begin(), row.values.end());
    end_row(rows);
}

}  // namespace

GlobalRows multiply(const PartRows& A, const GlobalRows& own, const GlobalRows& of_ghosts) {
    std::vector<std::int64_t> all = own.columns;
    all.insert(all.end(), of_ghosts.columns.begin(), of_ghosts.columns.end());
    const CompactColumns columns(std::move(all));
    const std::vector<std::int32_t> own_places = columns.places(own.columns);
    const std::vector<std::int32_t> ghost_places = columns.places(of_ghosts.columns);
    RowSum sum(columns);
    GlobalRows product;
    for (std::size_t r = 0; r < A.rows.rows(); ++r) {
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e) {
            const auto k = static_cast<std::size_t>(A.places[e]);
            if (k < own.rows())
                sum.add(A.rows.values[e], own, own_places, k);
            else
                sum.add(A.rows.values[e], of_ghosts, ghost_places, k - own.rows());
        }
        sum.finish([&](std::int64_t column, double value) {
            product.columns.push_back(column);
            product.values.push_back(value);
        });
        end_row(product);
    }
    return product;
}

GlobalRows multiply_transposed(const Team& team, const PartRows& P, const GlobalRows& AP, const Homeward& way,
                               Traffic& sent) {
    // The entries of P by columns: those of column c from first[c] on, by ascending rows.
    struct InColumn {
        std::size_t row;
        double value;
    };
    const std::size_t own = P.own_columns();
    std::vector<std::size_t> first(own + P.ghosts.size() + 1, 0);
    for (const std::int32_t place : P.places) ++first[static_cast<std::size_t>(place) + 1];
    for (std::size_t c = 1; c < first.size(); ++c) first[c] += first[c - 1];
    std::vector<InColumn> entries(P.places.size());
    std::vector<std::size_t> next = first;
    for (std::size_t r = 0; r < P.rows.rows(); ++r)
        for (auto [e, end] = entries_of(P.rows, r); e < end; ++e)
            entries[next[static_cast<std::size_t>(P.places[e])]++] = {r, P.rows.values[e]};

    const CompactColumns columns(AP.columns);
    const std::vector<std::int32_t> places = columns.places(AP.columns);
    RowSum sum(columns);
    const auto partial = [&](std::size_t c) {
        PartialRow row;
        for (std::size_t n = first[c]; n < first[c + 1]; ++n)
            sum.add(entries[n].value, AP, places, entries[n].row);
        sum.finish([&](std::int64_t column, double value) {
            row.columns.push_back(column);
            row.values.push_back(value);
        });
        return row;
    };

    check_equal(way.contributions, P.ghosts.size(), "the way is that of the ghosts of P");
    std::vector<PartialRow> slots(way.slots());
    for (std::size_t n = 0; n < P.ghosts.size(); ++n) slots[n] = partial(own + n);
    send_home(team, way, slots, sent);

    GlobalRows product;
    std::size_t home = 0;
    for (std::size_t c = 0; c < own; ++c) {
        const std::int64_t row = P.columns.first(P.rank) + static_cast<std::int64_t>(c);
        if (home < way.homes.size() && way.homes[home] == row)
            append(product, merged(partial(c), slots[way.contributions + way.relays + home++]));
        else
            append(product, partial(c));
    }
    return product;
}

}  // namespace keel
