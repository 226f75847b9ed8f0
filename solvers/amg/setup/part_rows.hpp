#pragma once

// A rank's rows of a matrix, square or not, on the host while a hierarchy is set up.

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "kernels/cost.hpp"
#include "kernels/hash.hpp"
#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

struct PartRows {
    RowPartition partition;  // the rows'
    RowPartition columns;
    int rank = 0;
    GlobalRows rows;
    std::vector<Item> ghosts;          // columns of other ranks
    std::vector<std::int32_t> places;  // of each entry's column: own columns from 0, then ghosts

    PartRows(RowPartition of_rows, RowPartition of_columns, int of_rank, GlobalRows entries);

    std::int64_t first() const { return partition.first(rank); }
    std::size_t own_columns() const { return columns.size(rank); }
    bool is_inside(std::size_t r) const;  // whether the row has own columns alone
};

// Near-null vectors at a rank's rows, `vectors` values a row. Each `node` consecutive rows are a node, whose
// rows are aggregated together and belong to one rank.
struct NearNull {
    std::vector<double> values;
    int vectors = 1;
    int node = 1;
};

// Rows that become rows of the next level.
struct Roots {
    std::vector<std::int64_t> roots;  // this rank's, ascending
    RowPartition partition;           // all ranks'
    int rounds = 0;                   // of the search for them

    // Makes the partition, and returns the number in the next level of each row of this rank, -1 of those
    // that are no roots. Collective.
    std::vector<double> number(const Communicator& comm, const PartRows& A);
};

// The partition with `to` rows for each `from` rows of every rank.
RowPartition resized(const RowPartition& partition, int from, int to);

// Columns by places without holes that ascend as columns do: all of this rank's, and those of others that
// occur. What is kept for each column is no longer than their number, and only what is others' is searched.
class CompactColumns {
  public:
    CompactColumns(std::int64_t first_own, std::size_t own,
                   std::initializer_list<std::span<const std::int64_t>> columns);

    std::size_t count() const { return own_ + others_.size(); }
    std::size_t first_own() const { return below_; }  // place
    std::int64_t column(std::size_t place) const {
        if (place < below_) return others_[place];
        return place < below_ + own_ ? first_ + static_cast<std::int64_t>(place - below_)
                                     : others_[place - own_];
    }
    std::int32_t place(std::int64_t column) const;
    std::vector<std::int32_t> places(std::span<const std::int64_t> columns) const;

  private:
    std::int64_t first_;  // this rank's first
    std::size_t own_;
    std::vector<std::int64_t> others_;  // ascending
    std::size_t below_;                 // of these, before its own
};

// Finds entries by row and column without searching, if the columns that are asked of a row ascend.
class AscendingSearch {
  public:
    explicit AscendingSearch(const GlobalRows& rows)
        : rows_(rows), next_(rows.first.begin(), rows.first.end() - 1) {}

    static constexpr std::int64_t none = -1;
    std::int64_t entry(std::size_t row, std::int64_t column) {
        std::int64_t& e = next_[row];
        const std::int64_t end = rows_.first[row + 1];
        while (e < end && rows_.columns[static_cast<std::size_t>(e)] < column) ++e;
        return e < end && rows_.columns[static_cast<std::size_t>(e)] == column ? e : none;
    }

  private:
    const GlobalRows& rows_;
    std::vector<std::int64_t> next_;
};

// A row that is summed up (Gustavson, "Two fast algorithms for sparse matrices", ACM TOMS 1978).
class RowSum {
  public:
    static constexpr double bytes_of_entry = sizeof(double) + sizeof(std::int32_t);  // a value and a place

    explicit RowSum(std::size_t columns) : at_(columns, nowhere), places_(columns), values_(columns) {}

    void add(double factor, std::span<const std::int32_t> places, const double* values) {
        terms_ += places.size();
        for (std::size_t n = 0; n < places.size(); ++n) {
            const auto place = static_cast<std::size_t>(places[n]);
            if (at_[place] == nowhere) {
                at_[place] = static_cast<std::int32_t>(size_);
                places_[size_] = places[n];
                values_[size_++] = factor * values[n];
            } else
                values_[static_cast<std::size_t>(at_[place])] += factor * values[n];
        }
    }
    // Makes room for a place, with the value 0 if it is new.
    void add(std::int32_t place) {
        constexpr double zero = 0;
        add(1.0, {&place, 1}, &zero);
    }
    double* find(std::int32_t place) {
        const std::int32_t at = at_[static_cast<std::size_t>(place)];
        return at == nowhere ? nullptr : &values_[static_cast<std::size_t>(at)];
    }
    bool empty() const { return size_ == 0; }
    // Passes places and values in the order in which they came up, and begins anew.
    template <class Visit>
    void finish(const Visit& visit) {
        for (const std::int32_t place : std::span(places_).first(size_)) {
            std::int32_t& at = at_[static_cast<std::size_t>(place)];
            visit(place, values_[static_cast<std::size_t>(at)]);
            at = nowhere;
        }
        results_ += size_;
        size_ = 0;
    }
    // The same by ascending places.
    template <class Visit>
    void finish_sorted(const Visit& visit) {
        std::ranges::sort(std::span(places_).first(size_));
        finish(visit);
    }

    // The work on all rows so far.
    Work work() const {
        const auto terms = static_cast<double>(terms_);
        const auto results = static_cast<double>(results_);
        return {2 * terms, bytes_of_entry * (terms + results)};
    }

  private:
    static constexpr std::int32_t nowhere = -1;

    std::vector<std::int32_t> at_;      // by place, the position of its sum
    std::vector<std::int32_t> places_;  // those of the row
    std::vector<double> values_;
    std::size_t size_ = 0;
    std::size_t terms_ = 0;
    std::size_t results_ = 0;
};

// 53 random bits that break ties between rows, the same on any number of ranks.
inline std::uint64_t random_bits(std::int64_t row) {
    return scramble(scramble(0) + static_cast<std::uint64_t>(row)) >> 11;
}

// The diagonal of a square matrix; 0 where a row has no such entry.
std::vector<double> diagonal_of(const PartRows& A);

// Whether (j, i) is an entry wherever (i, j) is, but for a chance of 2^-64. Collective.
bool has_symmetric_pattern(const Communicator& comm, const PartRows& A);

}  // namespace keel
