#include "solvers/amg/setup/prolongation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "kernels/hash.hpp"
#include "solvers/amg/setup/products.hpp"

namespace keel {
namespace {

using Words = std::vector<std::int64_t>;

// Totals of sums whose parts ranks have, for the aggregates of each rank and for those that it gave parts of. Parts are added
// in the order of the ranks, and so are their letters: an aggregate and a number each.
std::map<std::int64_t, double> totals(const Team& team, const RowPartition& partition, int rank,
                                      std::map<std::int64_t, double> parts) {
    WordsByRank questions;
    for (const auto& [aggregate, part] : parts)
        if (const int owner = partition.owner(aggregate); owner != rank) {
            Words& letter = questions[owner];
            letter.insert(letter.end(), {aggregate, std::bit_cast<std::int64_t>(part)});
        }
    const WordsByRank asked = team.negotiator->exchange(questions);
    for (const auto& [from, letter] : asked)
        for (std::size_t n = 0; n < letter.size(); n += 2)
            parts[letter[n]] += std::bit_cast<double>(letter[n + 1]);
    WordsByRank answers = asked;
    for (auto& [to, letter] : answers)
        for (std::size_t n = 0; n < letter.size(); n += 2)
            letter[n + 1] = std::bit_cast<std::int64_t>(parts.at(letter[n]));
    for (const auto& [from, letter] : team.negotiator->exchange(answers))
        for (std::size_t n = 0; n < letter.size(); n += 2)
            parts[letter[n]] = std::bit_cast<double>(letter[n + 1]);
    return parts;
}

// How many eigenvalues of a symmetric tridiagonal matrix are below x: negative pivots of T - x I (Sylvester's law of inertia).
std::size_t eigenvalues_below(double x, const std::vector<double>& diagonal,
                              const std::vector<double>& beside) {
    std::size_t below = 0;
    double pivot = 1;
    for (std::size_t n = 0; n < diagonal.size(); ++n) {
        const double coupled = n > 0 ? beside[n - 1] * beside[n - 1] / pivot : 0;
        pivot = diagonal[n] - x - coupled;
        if (pivot == 0) pivot = -1e-300;
        below += pivot < 0;
    }
    return below;
}

// The largest one, by bisection between bounds.
double largest_eigenvalue(const std::vector<double>& diagonal, const std::vector<double>& beside) {
    double high = 0;
    for (std::size_t n = 0; n < diagonal.size(); ++n)
        high = std::max(
            high, std::abs(diagonal[n]) + (n > 0 ? beside[n - 1] : 0) + (n < beside.size() ? beside[n] : 0));
    double low = -high;
    for (int step = 0; step < 60; ++step) {
        const double middle = (low + high) / 2;
        (eigenvalues_below(middle, diagonal, beside) == diagonal.size() ? high : low) = middle;
    }
    return high;
}

}  // namespace

Tentative tentative_prolongation(const Team& team, const Aggregates& aggregates, int rank,
                                 const std::vector<double>& B) {
    std::map<std::int64_t, double> squares;
    for (std::size_t r = 0; r < B.size(); ++r)
        if (aggregates.of_row[r] >= 0) squares[aggregates.of_row[r]] += B[r] * B[r];
    squares = totals(team, aggregates.partition, rank, std::move(squares));
    Tentative T;
    for (std::size_t r = 0; r < B.size(); ++r) {
        if (const std::int64_t aggregate = aggregates.of_row[r]; aggregate >= 0) {
            T.rows.columns.push_back(aggregate);
            T.rows.values.push_back(B[r] / std::sqrt(squares.at(aggregate)));
        }
        end_row(T.rows);
    }
    const std::int64_t first = aggregates.partition.first(rank);
    for (std::int64_t a = first; a < aggregates.partition.first(rank + 1); ++a)
        T.coarse_null.push_back(std::sqrt(squares.at(a)));
    return T;
}

double bound_of_eigenvalues(const Communicator& comm, const PartRows& A) {
    const std::vector<double> diagonal = diagonal_of(A);
    double bound = 0;
    for (std::size_t r = 0; r < diagonal.size(); ++r) {
        double sum = 0;
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e) sum += std::abs(A.rows.values[e]);
        bound = std::max(bound, sum / std::abs(diagonal[r]));
    }
    return comm.max(bound);
}

double estimate_of_eigenvalues(const Communicator& comm, const PartRows& A, GhostValues& ghosts,
                               std::uint64_t seed) {
    const std::size_t rows = A.rows.rows();
    std::vector<double> scale = diagonal_of(A);
    for (double& value : scale) value = 1 / std::sqrt(std::abs(value));
    scale = ghosts.complete(std::move(scale));
    const auto dot = [&](const std::vector<double>& x, const std::vector<double>& y) {
        double sum = 0;
        for (std::size_t r = 0; r < rows; ++r) sum += x[r] * y[r];
        return comm.sum(sum);
    };
    std::vector<double> v(rows);
    std::vector<double> before(rows, 0.0);
    for (std::size_t r = 0; r < rows; ++r) {
        const auto row = static_cast<std::uint64_t>(A.first()) + r;
        v[r] = static_cast<double>(scramble(scramble(seed) + row) >> 11) * 0x1p-52 - 1;
    }
    const double norm = std::sqrt(dot(v, v));
    for (double& value : v) value /= norm;

    std::vector<double> alpha;
    std::vector<double> beta;
    while (static_cast<int>(alpha.size()) < lanczos_steps) {
        const std::vector<double> all = ghosts.complete(v);
        std::vector<double> w(rows);
        for (std::size_t r = 0; r < rows; ++r) {
            double sum = 0;
            for (auto [e, end] = entries_of(A.rows, r); e < end; ++e) {
                const auto c = static_cast<std::size_t>(A.places[e]);
                sum += A.rows.values[e] * scale[c] * all[c];
            }
            w[r] = scale[r] * sum - (beta.empty() ? 0 : beta.back()) * before[r];
        }
        alpha.push_back(dot(w, v));
        for (std::size_t r = 0; r < rows; ++r) w[r] -= alpha.back() * v[r];
        const double length = std::sqrt(dot(w, w));
        if (static_cast<int>(alpha.size()) == lanczos_steps || !(length > slack * std::abs(alpha.front())))
            break;
        beta.push_back(length);
        before = std::exchange(v, std::move(w));
        for (double& value : v) value /= length;
    }
    const double above = largest_eigenvalue(alpha, beta);
    for (double& value : alpha) value = -value;
    return std::max(above, largest_eigenvalue(alpha, beta));
}

GlobalRows smoothed_prolongation(const PartRows& A, const RowPartition& columns, GlobalRows T,
                                 GhostValues& ghosts, int sweeps, double weight, Work& work) {
    const std::vector<double> diagonal = diagonal_of(A);
    GlobalRows P = std::move(T);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        // The pattern of A P contains that of P, for A has its diagonal.
        GlobalRows next = multiply(A, columns, P, ghosts.rows(P), work);
        for (std::size_t r = 0; r < next.rows(); ++r) {
            auto [old, old_end] = entries_of(P, r);
            for (auto [e, end] = entries_of(next, r); e < end; ++e) {
                next.values[e] *= -weight / diagonal[r];
                if (old < old_end && P.columns[old] == next.columns[e]) next.values[e] += P.values[old++];
            }
        }
        P = std::move(next);
    }
    return P;
}

}  // namespace keel
