#pragma once

// Vectors of so many rows on the ranks at hand, as a linear system: what methods that need no grid are tried
// with.

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "solvers/systems/sparse/sparse_matrix.hpp"
#include "solvers/systems/sparse/sparse_system.hpp"
#include "tests/solvers/golden_problem.hpp"

namespace keel::test {

using EntriesOfRow = std::function<std::map<std::int64_t, double>(std::int64_t)>;

class RowSpace {
  public:
    explicit RowSpace(std::int64_t size, const EntriesOfRow& entries = unit)
        : comm(Communicator::world()),
          partition{size, comm.size()},
          topology_(virtual_topology(comm.size(), std::min(2, comm.size()))),
          backend_(chosen_backend(comm.rank())),
          ledger_(1),
          matrix(comm, topology_, *backend_, partition, rows_of(entries), {}, ledger_),
          system(matrix, DiagonalScaling::none) {}

    Field make(const std::function<double(std::int64_t row)>& f) {
        const Field x = system.make_vector();
        matrix.assign(x, f);
        return x;
    }
    std::vector<double> read(Field x) const { return matrix.read(x); }  // this rank's

    Communicator comm;
    RowPartition partition;

  private:
    static std::map<std::int64_t, double> unit(std::int64_t row) { return {{row, 1.0}}; }
    GlobalRows rows_of(const EntriesOfRow& entries) const {
        GlobalRows rows;
        for (std::int64_t row = partition.first(comm.rank()); row < partition.first(comm.rank() + 1); ++row) {
            for (const auto& [column, value] : entries(row)) {
                rows.columns.push_back(column);
                rows.values.push_back(value);
            }
            rows.first.push_back(static_cast<std::int64_t>(rows.columns.size()));
        }
        return rows;
    }

    Topology topology_;
    std::unique_ptr<Backend> backend_;
    Ledger ledger_;

  public:
    SparseMatrix matrix;
    SparseSystem system;
};

}  // namespace keel::test
