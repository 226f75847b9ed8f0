#pragma once

// Vectors of so many rows on the ranks at hand, as a linear system: what methods that need no grid are tried
// with.

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "solvers/systems/sparse/sparse_matrix.hpp"
#include "solvers/systems/sparse/sparse_system.hpp"
#include "tests/chosen_backend.hpp"

namespace keel::test {

using EntriesOfRow = std::function<std::map<std::int64_t, double>(std::int64_t)>;

inline GlobalRows rows_of(const EntriesOfRow& entries, std::int64_t first, std::size_t count) {
    GlobalRows rows;
    for (std::size_t n = 0; n < count; ++n) {
        for (const auto& [column, value] : entries(first + static_cast<std::int64_t>(n))) {
            rows.columns.push_back(column);
            rows.values.push_back(value);
        }
        rows.first.push_back(static_cast<std::int64_t>(rows.columns.size()));
    }
    return rows;
}

struct RowSpace {
    explicit RowSpace(std::int64_t size, const EntriesOfRow& entries = unit,
                      const SparseOptions& options = {}, Communicator ranks = Communicator::world())
        : comm(std::move(ranks)),
          partition{size, comm.size()},
          topology(virtual_topology(comm.size(), std::min(2, comm.size()))),
          backend(chosen_backend(comm.rank())),
          ledger(1),
          matrix(comm, topology, *backend, partition,
                 rows_of(entries, partition.first(comm.rank()), partition.size(comm.rank())), options,
                 ledger),
          system(matrix, DiagonalScaling::none) {}

    Field make(const std::function<double(std::int64_t row)>& f) {
        const Field x = system.make_vector();
        matrix.assign(x, f);
        return x;
    }
    std::vector<double> read(Field x) const { return matrix.read(x); }  // this rank's
    static std::map<std::int64_t, double> unit(std::int64_t row) { return {{row, 1.0}}; }

    Communicator comm;
    RowPartition partition;
    Topology topology;
    std::unique_ptr<Backend> backend;
    Ledger ledger;
    SparseMatrix matrix;
    SparseSystem system;
};

}  // namespace keel::test
