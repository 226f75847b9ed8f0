#include "solvers/amg/setup/prolongation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "solvers/amg/setup/products.hpp"

namespace keel {
namespace {

using Words = std::vector<std::int64_t>;

// Sums by aggregate, all of one length.
using Sums = std::map<std::int64_t, std::vector<double>>;

// Totals of sums whose parts ranks have, for the aggregates of each rank and for those that it gave parts of.
// Parts are added in the order of the ranks, and so are their letters: an aggregate and its sums each.
Sums totals(const SetupContext& context, const RowPartition& partition, int rank, Sums parts,
            std::size_t length) {
    WordsByRank questions;
    for (const auto& [aggregate, part] : parts)
        if (const int owner = partition.owner(aggregate); owner != rank) {
            Words& letter = questions[owner];
            letter.push_back(aggregate);
            for (const double value : part) letter.push_back(std::bit_cast<std::int64_t>(value));
        }
    // Calls visit(sums of the aggregate, words of them).
    const auto for_each = [&](const WordsByRank& letters, const auto& visit) {
        for (const auto& [from, letter] : letters)
            for (std::size_t n = 0; n < letter.size(); n += 1 + length)
                visit(parts.at(letter[n]), std::span(letter).subspan(n + 1, length));
    };
    context.tell(AmgStep::exchange, AmgMessages::norms);
    WordsByRank asked = context.negotiator->exchange(questions);
    for_each(asked, [](std::vector<double>& sums, std::span<const std::int64_t> words) {
        for (std::size_t n = 0; n < words.size(); ++n) sums[n] += std::bit_cast<double>(words[n]);
    });
    for (auto& [to, letter] : asked)
        for (std::size_t n = 0; n < letter.size(); n += 1 + length)
            for (std::size_t k = 0; k < length; ++k)
                letter[n + 1 + k] = std::bit_cast<std::int64_t>(parts.at(letter[n])[k]);
    context.tell(AmgStep::exchange, AmgMessages::norms);
    for_each(context.negotiator->exchange(asked),
             [](std::vector<double>& sums, std::span<const std::int64_t> words) {
                 for (std::size_t n = 0; n < words.size(); ++n) sums[n] = std::bit_cast<double>(words[n]);
             });
    return parts;
}

// The place of an entry of an upper triangle of k columns, kept row by row.
std::size_t in_triangle(std::size_t i, std::size_t j, std::size_t k) {
    return i * k - i * (i + 1) / 2 + j;
}

// R of G = R^T R, in place. A row whose pivot is lost in rounding is zero.
void factorise(std::vector<double>& G, std::size_t k) {
    constexpr double lost = 1e-13;  // relative to the diagonal
    for (std::size_t i = 0; i < k; ++i) {
        const double diagonal = G[in_triangle(i, i, k)];
        for (std::size_t j = i; j < k; ++j)
            for (std::size_t l = 0; l < i; ++l)
                G[in_triangle(i, j, k)] -= G[in_triangle(l, i, k)] * G[in_triangle(l, j, k)];
        const double pivot = G[in_triangle(i, i, k)];
        const double root = pivot > lost * diagonal ? std::sqrt(pivot) : 0.0;
        for (std::size_t j = i; j < k; ++j)
            G[in_triangle(i, j, k)] = root == 0 ? 0.0 : j == i ? root : G[in_triangle(i, j, k)] / root;
    }
}

}  // namespace

Tentative tentative_prolongation(const SetupContext& context, const Aggregates& aggregates, int rank,
                                 const NearNull& B) {
    const auto k = static_cast<std::size_t>(B.vectors);
    const std::size_t length = k * (k + 1) / 2;
    const std::int64_t first = aggregates.partition.first(rank);
    const std::size_t own = aggregates.partition.size(rank);
    std::vector<double> Q = B.values;
    // Calls visit(aggregate, row of Q) for the rows that have an aggregate.
    const auto for_each_row = [&](const auto& visit) {
        for (std::size_t r = 0; r * k < Q.size(); ++r)
            if (const std::int64_t a = aggregates.of_row[r / static_cast<std::size_t>(B.node)]; a >= 0)
                visit(a, std::span(Q).subspan(r * k, k));
    };
    std::vector<double> coarse(own * k * k, 0.0);  // the product of all R so far
    for (std::size_t n = 0; n < own * k; ++n) coarse[n * k + n % k] = 1.0;
    for (int pass = 0; pass < (k > 1 ? 2 : 1); ++pass) {
        Sums R;
        for_each_row([&](std::int64_t a, std::span<const double> q) {
            std::vector<double>& gram = R[a];
            gram.resize(length);
            for (std::size_t i = 0; i < k; ++i)
                for (std::size_t j = i; j < k; ++j) gram[in_triangle(i, j, k)] += q[i] * q[j];
        });
        R = totals(context, aggregates.partition, rank, std::move(R), length);
        for (auto& [a, gram] : R) factorise(gram, k);
        for_each_row([&](std::int64_t a, std::span<double> q) {
            const std::vector<double>& r = R.at(a);
            for (std::size_t j = 0; j < k; ++j) {
                for (std::size_t i = 0; i < j; ++i) q[j] -= q[i] * r[in_triangle(i, j, k)];
                const double pivot = r[in_triangle(j, j, k)];
                q[j] = pivot == 0 ? 0.0 : q[j] / pivot;
            }
        });
        for (std::size_t n = 0; n < own; ++n) {
            const std::vector<double>& r = R.at(first + static_cast<std::int64_t>(n));
            const std::span<double> block = std::span(coarse).subspan(n * k * k, k * k);
            for (std::size_t i = 0; i < k; ++i)
                for (std::size_t j = i; j < k; ++j) {
                    double sum = 0;
                    for (std::size_t l = i; l <= j; ++l) sum += r[in_triangle(i, l, k)] * block[l * k + j];
                    block[i * k + j] = sum;
                }
        }
    }
    Tentative T{{}, {std::move(coarse), B.vectors, B.vectors}};
    for (std::size_t r = 0; r * k < Q.size(); ++r) {
        if (const std::int64_t a = aggregates.of_row[r / static_cast<std::size_t>(B.node)]; a >= 0)
            for (std::size_t j = 0; j < k; ++j) {
                T.rows.columns.push_back(a * B.vectors + static_cast<std::int64_t>(j));
                T.rows.values.push_back(Q[r * k + j]);
            }
        end_row(T.rows);
    }
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
