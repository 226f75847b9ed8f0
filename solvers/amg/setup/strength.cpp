#include "solvers/amg/setup/strength.hpp"

#include <algorithm>
#include <cmath>

namespace keel {
namespace {

double threshold(double theta) {
    return std::max(theta * (1 - slack), slack);
}

std::vector<char> symmetric_strength(const PartRows& A, GhostValues& ghosts, double theta) {
    const std::vector<double> diagonal = ghosts.complete(diagonal_of(A));
    std::vector<char> strong(A.places.size(), 0);
    for (std::size_t r = 0; r < A.rows.rows(); ++r)
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e) {
            const auto c = static_cast<std::size_t>(A.places[e]);
            const double both = std::sqrt(std::abs(diagonal[r]) * std::abs(diagonal[c]));
            strong[e] = c != r && std::abs(A.rows.values[e]) >= threshold(theta) * both;
        }
    return strong;
}

std::vector<char> dependent_on(const PartRows& A, double theta) {
    const std::vector<double> diagonal = diagonal_of(A);
    std::vector<char> strong(A.places.size(), 0);
    for (std::size_t r = 0; r < A.rows.rows(); ++r) {
        const double sign = diagonal[r] > 0 ? 1.0 : diagonal[r] < 0 ? -1.0 : 0.0;
        double most = 0;
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e)
            if (static_cast<std::size_t>(A.places[e]) != r) most = std::max(most, -sign * A.rows.values[e]);
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e)
            strong[e] = static_cast<std::size_t>(A.places[e]) != r && most > 0 &&
                        -sign * A.rows.values[e] >= threshold(theta) * most;
    }
    return strong;
}

// The columns of the entries with a flag, as rows of a matrix.
GlobalRows flagged(const PartRows& A, const std::vector<char>& flags) {
    GlobalRows rows;
    for (std::size_t r = 0; r < A.rows.rows(); ++r) {
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e)
            if (flags[e]) {
                rows.columns.push_back(A.rows.columns[e]);
                rows.values.push_back(1.0);
            }
        end_row(rows);
    }
    return rows;
}

bool has_column(const GlobalRows& rows, std::size_t r, std::int64_t column) {
    return std::binary_search(rows.columns.begin() + rows.first[r], rows.columns.begin() + rows.first[r + 1],
                              column);
}

}  // namespace

Dependence dependence(const PartRows& A, GhostValues& ghosts, double theta) {
    Dependence found{dependent_on(A, theta), {}, {}};
    found.either = found.on;
    found.dependents.assign(A.rows.rows(), 0.0);
    const GlobalRows own = flagged(A, found.on);
    const GlobalRows others = ghosts.rows(own);
    for (std::size_t r = 0; r < A.rows.rows(); ++r)
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e) {
            const auto c = static_cast<std::size_t>(A.places[e]);
            const std::int64_t row = A.first() + static_cast<std::int64_t>(r);
            if (c < own.rows() ? !has_column(own, c, row) : !has_column(others, c - own.rows(), row))
                continue;
            found.either[e] = 1;
            found.dependents[r] += 1;
        }
    return found;
}

std::vector<char> strong_connections(const PartRows& A, GhostValues& ghosts, StrengthRule rule,
                                     double theta) {
    return rule == StrengthRule::symmetric ? symmetric_strength(A, ghosts, theta)
                                           : dependence(A, ghosts, theta).either;
}

}  // namespace keel
