#include "solvers/systems/sparse/sparse_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "comm/plans/negotiation.hpp"
#include "kernels/check.hpp"

namespace keel {
namespace {

std::size_t place_of_ghost(std::size_t rows, std::size_t ghost) {
    return blocks_of(rows) * block_rows + ghost;
}

}  // namespace

CsrMatrix transpose(std::span<const std::int64_t> first, std::span<const std::int32_t> columns,
                    std::span<const double> values, std::size_t rows) {
    CsrMatrix result{std::vector<std::int64_t>(rows + 1, 0), std::vector<std::int32_t>(columns.size()),
                     std::vector<double>(columns.size())};
    for (const std::int32_t column : columns) ++result.first[static_cast<std::size_t>(column) + 1];
    for (std::size_t r = 0; r < rows; ++r) result.first[r + 1] += result.first[r];
    std::vector<std::int64_t> next = result.first;
    for (std::size_t r = 0; r + 1 < first.size(); ++r)
        for (auto e = static_cast<std::size_t>(first[r]); e < static_cast<std::size_t>(first[r + 1]); ++e) {
            const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(columns[e])]++);
            result.columns[to] = static_cast<std::int32_t>(r);
            result.values[to] = values[e];
        }
    return result;
}

CsrMatrix placed(CsrMatrix A) {
    for (std::int32_t& column : A.columns)
        column = static_cast<std::int32_t>(place_of(static_cast<std::size_t>(column)));
    return A;
}

std::vector<Item> ghosts_of(const RowPartition& partition, int rank, std::span<const std::int64_t> columns) {
    const std::int64_t first = partition.first(rank);
    const std::int64_t last = partition.first(rank + 1);
    std::vector<Item> ghosts;
    for (const std::int64_t column : columns) {
        if (column >= first && column < last) continue;
        // Many rows need the same: room is made for what is distinct.
        if (ghosts.size() == ghosts.capacity()) {
            sort_distinct(ghosts);
            ghosts.reserve(2 * ghosts.size() + block_rows);
        }
        ghosts.push_back({partition.owner(column), 1, column});
    }
    sort_distinct(ghosts);
    ghosts.shrink_to_fit();
    return ghosts;
}

Layout VectorPart::layout() const {
    return block_layout(blocks_of(rows()) + blocks_of(ghosts.size()));
}

std::size_t VectorPart::place(std::int64_t row) const {
    if (row >= first() && row < first() + static_cast<std::int64_t>(rows()))
        return static_cast<std::size_t>(row - first());
    const auto ghost = std::lower_bound(ghosts.begin(), ghosts.end(), Item{partition.owner(row), 1, row});
    return place_of_ghost(rows(), static_cast<std::size_t>(ghost - ghosts.begin()));
}

std::unique_ptr<Exchange> make_exchange(Operations& operations, const VectorPart& part, Plan plan,
                                        const ExchangeOptions& options, const TransportOptions& transport) {
    return make_exchange(
        operations, part.rank, part.ghosts,
        [&](const Item& item) {
            const auto [box, at] = cell_of(part.place(item.name));
            return BoxCell{box, at};
        },
        std::move(plan), options, transport);
}

SparseMatrix::SparseMatrix(const Communicator& comm, const Topology& topology, const Backend& backend,
                           const RowPartition& partition, const GlobalRows& rows,
                           const SparseOptions& options, Ledger& ledger)
    : options_(options),
      part_{partition, comm.rank(), ghosts_of(partition, comm.rank(), rows.columns)},
      ledger_(ledger),
      diagonal_(part_.rows(), 0.0),
      memory_(backend.make_operations(part_.layout(), 0)),
      vectors_(backend.make_operations(block_layout(blocks_of(part_.rows())), 0)),
      operations_(*vectors_, ledger, options.level, Caller::bottom) {
    const std::size_t own = part_.rows();
    check_equal(rows.rows(), own, "a rank gives the rows that it owns");
    check(place_of_ghost(own, part_.ghosts.size()) <= std::numeric_limits<std::int32_t>::max(),
          "a rank can number 2^31 rows and ghosts");
    csr_.first = rows.first;
    csr_.values = rows.values;
    csr_.columns.reserve(rows.columns.size());
    for (std::size_t r = 0; r < own; ++r)
        for (auto [e, end] = entries_of(rows, r); e < end; ++e) {
            const std::int64_t column = rows.columns[e];
            check(column >= 0 && column < partition.rows, "columns are those of a square matrix");
            csr_.columns.push_back(static_cast<std::int32_t>(place_of(part_.place(column))));
            if (column == first_row() + static_cast<std::int64_t>(r)) diagonal_[r] = rows.values[e];
        }
    if (options.exchange.overlap) csr_.set_shell(place_of_ghost(own, 0));
    plain_rows_ = vectors_->make_rows(csr_);
    if (!options.keeps_rows) csr_ = {};
    reduction_ =
        make_reduction(comm, topology, vectors_->layout(), false, options.all_reduce, &ledger, options.level);
    // Who waits for ghosts books all of that time.
    meanwhile_ = [plain = reduction_.get()] { return plain->progress_unbooked(); };
    if (auto plan = std::exchange(options_.plan, {}))
        carry(comm, topology, *std::move(plan));
    else
        carry_by(comm, topology, options.scheme);
}

void SparseMatrix::carry_by(const Communicator& comm, const Topology& topology, const SchemeOptions& scheme) {
    carry(comm, topology, Negotiator(comm, topology).plan(part_.ghosts, scheme));
}

void SparseMatrix::carry(const Communicator& comm, const Topology& topology, Plan plan) {
    exchange_ = make_exchange(operations_, part_, std::move(plan), options_.exchange,
                              {comm, topology, 0, meanwhile_, &ledger_, options_.level});
}

void SparseMatrix::decorate(
    const std::function<std::unique_ptr<Exchange>(std::unique_ptr<Exchange>)>& exchange,
    const std::function<std::unique_ptr<Reduction>(std::unique_ptr<Reduction>)>& reduction) {
    exchange_ = exchange(std::move(exchange_));
    reduction_ = reduction(std::move(reduction_));
}

Field SparseMatrix::scale(DiagonalScaling scaling) {
    check(scaling != DiagonalScaling::none, "a scaled matrix has a scale");
    const Field scale = make_vector();
    assign(scale, [&](std::int64_t row) {
        const double diagonal = diagonal_[static_cast<std::size_t>(row - first_row())];
        check(scalable(diagonal, scaling), "the diagonal can be divided by");
        return scaling == DiagonalScaling::symmetric ? 1.0 / std::sqrt(diagonal) : 1.0 / diagonal;
    });
    return scale;
}

SparseRows SparseMatrix::scaled(DiagonalScaling scaling, Field scale) {
    check(options_.keeps_rows, "a matrix that is scaled keeps its rows");
    exchange_->run(scale);
    const Field all(scale.data(), block_shape(memory_->layout().local_count()));  // with its ghosts
    const std::vector<double> scales = memory_->read(all, block_cells);
    std::vector<double> at_place(scales.size());
    for (std::size_t n = 0; n < scales.size(); ++n) at_place[place_of(n)] = scales[n];
    CsrMatrix A = csr_;
    for (std::size_t r = 0; r < rows(); ++r)
        for (auto [e, end] = entries_of(A, r); e < end; ++e) {
            A.values[e] *= at_place[static_cast<std::size_t>(A.columns[e])];
            if (scaling == DiagonalScaling::symmetric) A.values[e] *= scales[r];
        }
    return vectors_->make_rows(A);
}

// The eigenvalues of A D^-1 and of D^-1/2 A D^-1/2 are those of D^-1 A.
Spectrum SparseMatrix::spectrum(const Communicator& comm, DiagonalScaling scaling) const {
    check(options_.keeps_rows, "a matrix whose spectrum is asked for keeps its rows");
    double bound = 0;
    for (std::size_t r = 0; r < rows(); ++r) {
        double sum = 0;
        for (auto [e, end] = entries_of(csr_, r); e < end; ++e) sum += std::abs(csr_.values[e]);
        bound = std::max(bound, scaling == DiagonalScaling::none ? sum : sum / std::abs(diagonal_[r]));
    }
    bound = comm.max(bound);
    return {scaling == DiagonalScaling::none ? 0.0 : std::max(0.0, 2.0 - bound), bound};
}

Field SparseMatrix::make_vector() {
    return {memory_->make_field().data(), block_shape(vectors_->layout().local_count())};
}

void SparseMatrix::clear(Field x) {
    memory_->fill(Field(x.data(), block_shape(memory_->layout().local_count())), 0.0);
}

void SparseMatrix::assign(Field x, const std::function<double(std::int64_t)>& f) {
    const std::size_t own = rows();
    vectors_->assign(x, block_cells, [&](const Index& cell) {
        const std::size_t row = value_at(cell);
        return row < own ? f(first_row() + static_cast<std::int64_t>(row)) : 0.0;
    });
}

std::vector<double> SparseMatrix::read(Field x) const {
    std::vector<double> values = vectors_->read(x, block_cells);
    values.resize(rows());
    return values;
}

void SparseMatrix::apply(std::span<const Field> y, const SparseRows& A, std::span<const Field> x) {
    exchange_->run(x, [&](Part part) { operations_.apply(y, A.on(part), x); });
}

}  // namespace keel
