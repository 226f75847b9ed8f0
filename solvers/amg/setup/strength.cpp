#include "solvers/amg/setup/strength.hpp"

#include <algorithm>
#include <cmath>

namespace keel {
namespace {

double threshold(double theta) {
    return std::max(theta * (1 - slack), slack);
}

std::vector<char> dependent_on(const PartRows& A, double theta) {
    const std::vector<double> diagonal = diagonal_of(A);
    std::vector<char> strong(A.places.size(), 0);
    const double part = threshold(theta);
    for (std::size_t r = 0; r < A.rows.rows(); ++r) {
        const double sign = diagonal[r] > 0 ? 1.0 : diagonal[r] < 0 ? -1.0 : 0.0;
        const auto [begin, end] = entries_of(A.rows, r);
        double most = 0;  // never the diagonal's, which has the other sign
        for (std::size_t e = begin; e < end; ++e) most = std::max(most, -sign * A.rows.values[e]);
        if (most == 0) continue;
        for (std::size_t e = begin; e < end; ++e) strong[e] = -sign * A.rows.values[e] >= part * most;
    }
    return strong;
}

// The entries with a flag whose columns are other ranks', as rows of a matrix.
GlobalRows flagged_outwards(const PartRows& A, const std::vector<char>& flags) {
    GlobalRows rows;
    for (std::size_t r = 0; r < A.rows.rows(); ++r) {
        for (auto [e, end] = entries_of(A.rows, r); e < end && !A.is_inside(r); ++e)
            if (flags[e] && static_cast<std::size_t>(A.places[e]) >= A.own_columns())
                append(rows, A.rows.columns[e], 1.0);
        end_row(rows);
    }
    return rows;
}

}  // namespace

Dependence dependence(const PartRows& A, GhostValues& ghosts, double theta) {
    Dependence found{dependent_on(A, theta), {}, {}};
    found.back.assign(found.on.size(), 0);
    found.dependents.assign(A.rows.rows(), 0.0);
    const GlobalRows others = ghosts.rows(flagged_outwards(A, found.on));
    AscendingSearch mirrored(A.rows);
    AscendingSearch of_ghosts(others);
    for (std::size_t r = 0; r < A.rows.rows(); ++r) {
        const std::int64_t row = A.first() + static_cast<std::int64_t>(r);
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e) {
            const auto c = static_cast<std::size_t>(A.places[e]);
            if (c < A.rows.rows()) {
                const std::int64_t back = mirrored.entry(c, row);
                if (back == AscendingSearch::none || !found.on[static_cast<std::size_t>(back)]) continue;
            } else if (of_ghosts.entry(c - A.rows.rows(), row) == AscendingSearch::none)
                continue;
            found.back[e] = 1;
            found.dependents[r] += 1;
        }
    }
    return found;
}

std::vector<char> strong_connections(const PartRows& A, GhostValues& ghosts, double theta) {
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

std::vector<char> strong_for_either(const PartRows& A, GhostValues& ghosts, double theta) {
    const Dependence found = dependence(A, ghosts, theta);
    std::vector<char> strong(found.on.size());
    for (std::size_t e = 0; e < strong.size(); ++e) strong[e] = found.either(e);
    return strong;
}

}  // namespace keel
