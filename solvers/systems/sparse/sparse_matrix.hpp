#pragma once

// A sparse matrix whose rows are distributed over ranks in contiguous parts, with the vectors it is
// multiplied by.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/carry/exchange.hpp"
#include "comm/patterns/row_partition.hpp"
#include "comm/plans/schemes.hpp"
#include "comm/reductions/reduction.hpp"
#include "kernels/backends/registry.hpp"
#include "kernels/bodies/diagonal_scaling.hpp"
#include "kernels/bodies/sparse.hpp"
#include "kernels/timing/timed_operations.hpp"
#include "solvers/systems/spectrum.hpp"

namespace keel {

// Some rows of a matrix by global columns, which ascend in each row: entries of row r are first[r] <= e <
// first[r + 1].
struct GlobalRows {
    std::vector<std::int64_t> first{0};
    std::vector<std::int64_t> columns;
    std::vector<double> values;

    std::size_t rows() const { return first.size() - 1; }
};

// Entries of a row.
struct RowEntries {
    std::size_t begin;
    std::size_t end;
};
template <class Rows>
RowEntries entries_of(const Rows& rows, std::size_t r) {
    return {static_cast<std::size_t>(rows.first[r]), static_cast<std::size_t>(rows.first[r + 1])};
}
template <class Rows, class Column>
void append(Rows& rows, Column column, double value) {
    rows.columns.push_back(column);
    rows.values.push_back(value);
}
// Ends the row whose entries were appended.
template <class Rows>
void end_row(Rows& rows) {
    rows.first.push_back(std::ssize(rows.columns));
}

// The transpose of entries that are given by rows, of `rows` rows; columns of a row of it ascend.
CsrMatrix transpose(std::span<const std::int64_t> first, std::span<const std::int32_t> columns,
                    std::span<const double> values, std::size_t rows);
// A matrix whose columns are numbers of values, with columns at the places of these in a vector.
CsrMatrix placed(CsrMatrix A);

// The columns of a rank's rows that are rows of other ranks, as items of a pattern: ascending, distinct,
// named by their row.
std::vector<Item> ghosts_of(const RowPartition& partition, int rank, std::span<const std::int64_t> columns);

// The part of every vector on one rank: the values of its rows and, behind them, of its ghosts.
struct VectorPart {
    RowPartition partition;
    int rank = 0;
    std::vector<Item> ghosts;

    std::int64_t first() const { return partition.first(rank); }
    std::size_t rows() const { return partition.size(rank); }
    Layout layout() const;                      // blocks of rows, then of ghosts
    std::size_t place(std::int64_t row) const;  // where an own row or a ghost is
};

// Fills the ghosts of vectors of such parts; the operations' boxes are at least those of the rows. `plan` is
// negotiated.
std::unique_ptr<Exchange> make_exchange(Operations& operations, const VectorPart& part, Plan plan,
                                        const ExchangeOptions& options, const TransportOptions& transport);

// Right scaling divides by the diagonal, symmetric scaling by its root.
constexpr bool scalable(double diagonal, DiagonalScaling scaling) {
    return scaling == DiagonalScaling::none ||
           (scaling == DiagonalScaling::right ? diagonal != 0 : diagonal > 0);
}

struct SparseOptions {
    SchemeOptions scheme = {};
    ExchangeOptions exchange{};
    AllReduceOptions all_reduce = {};
    int level = 0;                  // the ledger's
    std::optional<Plan> plan = {};  // for the matrix' ghosts; none: negotiated by the scheme
    bool keeps_rows = true;         // on the host, too, from which scaled() and spectrum() are made
};

// This rank's rows. Entries of a row stay in the order of global columns, so that products do not depend on
// the ranks.
class SparseMatrix {
  public:
    // `rows` are this rank's of the partition; the matrix is square. Backend and ledger must outlive this
    // object. Collective, as apply() and scaled().
    SparseMatrix(const Communicator& comm, const Topology& topology, const Backend& backend,
                 const RowPartition& partition, const GlobalRows& rows, const SparseOptions& options,
                 Ledger& ledger);

    // Exchanges by this scheme from now on. What was made with the matrix before must no longer be used.
    // Collective.
    void carry_by(const Communicator& comm, const Topology& topology, const SchemeOptions& scheme);
    // Wraps the exchange and the reduction with the given decorators. Solvers made with the matrix before
    // must no longer be used.
    void decorate(const std::function<std::unique_ptr<Exchange>(std::unique_ptr<Exchange>)>& exchange,
                  const std::function<std::unique_ptr<Reduction>(std::unique_ptr<Reduction>)>& reduction);

    const RowPartition& partition() const { return part_.partition; }
    std::int64_t first_row() const { return part_.first(); }
    std::size_t rows() const { return part_.rows(); }  // this rank's
    std::size_t nonzeros() const { return plain_rows_.nonzeros; }
    std::size_t ghosts() const { return part_.ghosts.size(); }  // columns that are rows of other ranks
    const SparseRows& plain() const { return plain_rows_; }
    const std::vector<double>& diagonal() const { return diagonal_; }  // for this rank's rows

    // D^-1 or D^-1/2 (linear_system.hpp), of scalable rows.
    Field scale(DiagonalScaling scaling);
    // A D^-1 or D^-1/2 A D^-1/2 with that scale.
    SparseRows scaled(DiagonalScaling scaling, Field scale);
    // Gershgorin's bounds for a matrix of real positive eigenvalues, as those of a level (level_krylov.cpp).
    // Collective.
    Spectrum spectrum(const Communicator& comm, DiagonalScaling scaling) const;

    Field make_vector();  // zero
    void clear(Field x);  // zero again, with its ghosts
    // x = f(row) at this rank's rows. Set-up only.
    void assign(Field x, const std::function<double(std::int64_t row)>& f);
    std::vector<double> read(Field x) const;  // this rank's rows
    // y_n = A x_n with one message a neighbour for all; no y is among the x. If exchanges overlap, rows
    // without ghosts are multiplied while messages are in flight; the order of additions stays.
    void apply(std::span<const Field> y, const SparseRows& A, std::span<const Field> x);

    Operations& operations() { return operations_; }  // as Krylov methods call them, timed
    Operations& untimed() { return *vectors_; }
    Exchange& exchange() { return *exchange_; }
    const Exchange& exchange() const { return *exchange_; }
    Reduction& reduction() { return *reduction_; }

  private:
    void carry(const Communicator& comm, const Topology& topology, Plan plan);

    SparseOptions options_;
    VectorPart part_;
    Ledger& ledger_;
    CsrMatrix csr_;
    std::vector<double> diagonal_;         // this rank's
    std::unique_ptr<Operations> memory_;   // works on vectors with their ghosts
    std::unique_ptr<Operations> vectors_;  // works on the rows alone
    TimedOperations operations_;
    std::unique_ptr<Exchange> exchange_;
    std::unique_ptr<Reduction> reduction_;
    Meanwhile meanwhile_;  // progresses the reduction during exchanges
    SparseRows plain_rows_;
};

}  // namespace keel
