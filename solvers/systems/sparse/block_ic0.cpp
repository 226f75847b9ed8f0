#include "solvers/systems/sparse/block_ic0.hpp"

#include <cmath>

namespace keel {
namespace {

// The lower triangle of the rows from `first` on, by columns of the block.
CsrMatrix lower_triangle(const GlobalRows& rows, std::int64_t first) {
    CsrMatrix L;
    for (std::size_t r = 0; r < rows.rows(); ++r) {
        for (auto [e, end] = entries_of(rows, r); e < end; ++e) {
            const std::int64_t column = rows.columns[e] - first;
            if (column < 0 || column > static_cast<std::int64_t>(r)) continue;
            append(L, static_cast<std::int32_t>(column), rows.values[e]);
        }
        end_row(L);
    }
    return L;
}

// The sum of products of two rows of L at common columns below `column`.
double common(const CsrMatrix& L, std::size_t i, std::size_t j, std::int32_t column) {
    auto [a, end_a] = entries_of(L, i);
    auto [b, end_b] = entries_of(L, j);
    double sum = 0;
    while (a < end_a && b < end_b && L.columns[a] < column && L.columns[b] < column) {
        if (L.columns[a] == L.columns[b])
            sum += L.values[a++] * L.values[b++];
        else if (L.columns[a] < L.columns[b])
            ++a;
        else
            ++b;
    }
    return sum;
}

// Replaces the triangle by its factor; false if a pivot is not positive, or a row has no diagonal entry.
bool factor(CsrMatrix& L) {
    for (std::size_t i = 0; i < L.rows(); ++i) {
        const auto [first, end] = entries_of(L, i);
        if (first == end || L.columns[end - 1] != static_cast<std::int32_t>(i)) return false;
        for (std::size_t e = first; e < end; ++e) {
            const auto j = static_cast<std::size_t>(L.columns[e]);
            L.values[e] -= common(L, i, j, L.columns[e]);
            if (j < i) L.values[e] /= L.values[entries_of(L, j).end - 1];
        }
        double& pivot = L.values[end - 1];
        if (!(pivot > 0) || !std::isfinite(pivot)) return false;
        pivot = std::sqrt(pivot);
    }
    return true;
}

}  // namespace

BlockIncompleteCholesky::BlockIncompleteCholesky(const Communicator& comm, SparseMatrix& A,
                                                 const GlobalRows& rows, Ledger& ledger)
    : operations_(A.untimed()), ledger_(ledger) {
    CsrMatrix L = lower_triangle(rows, A.first_row());
    if (comm.min(factor(L) ? 1.0 : 0.0) == 0) {
        vanished_ = "pivot of IC(0)";
        return;
    }
    L_ = operations_.make_rows(placed(L));
    transposed_ = operations_.make_rows(placed(transpose(L.first, L.columns, L.values, L.rows())));
}

// Sweeps with triangular matrices are solves with them.
void BlockIncompleteCholesky::multiply(Vector z, Vector r) {
    booked(ledger_, Op::bottom_preconditioner, 0, [&] {
        Work work = operations_.sweep(z, L_, r, false);
        work += operations_.sweep(z, transposed_, z, true);
        return work;
    });
}

}  // namespace keel
