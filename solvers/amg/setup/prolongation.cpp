#include "solvers/amg/setup/prolongation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "solvers/amg/setup/products.hpp"

namespace keel {
namespace {

using Words = std::vector<std::int64_t>;

// Totals of sums whose parts ranks have, for the aggregates of each rank and for those that it gave parts of.
// Parts are added in the order of the ranks, and so are their letters: an aggregate and a number each.
std::map<std::int64_t, double> totals(const SetupContext& context, const RowPartition& partition, int rank,
                                      std::map<std::int64_t, double> parts) {
    WordsByRank questions;
    for (const auto& [aggregate, part] : parts)
        if (const int owner = partition.owner(aggregate); owner != rank) {
            Words& letter = questions[owner];
            letter.insert(letter.end(), {aggregate, std::bit_cast<std::int64_t>(part)});
        }
    context.tell(AmgStep::exchange, AmgMessages::norms);
    const WordsByRank asked = context.negotiator->exchange(questions);
    for (const auto& [from, letter] : asked)
        for (std::size_t n = 0; n < letter.size(); n += 2)
            parts[letter[n]] += std::bit_cast<double>(letter[n + 1]);
    WordsByRank answers = asked;
    for (auto& [to, letter] : answers)
        for (std::size_t n = 0; n < letter.size(); n += 2)
            letter[n + 1] = std::bit_cast<std::int64_t>(parts.at(letter[n]));
    context.tell(AmgStep::exchange, AmgMessages::norms);
    for (const auto& [from, letter] : context.negotiator->exchange(answers))
        for (std::size_t n = 0; n < letter.size(); n += 2)
            parts[letter[n]] = std::bit_cast<double>(letter[n + 1]);
    return parts;
}

}  // namespace

Tentative tentative_prolongation(const SetupContext& context, const Aggregates& aggregates, int rank,
                                 const std::vector<double>& B) {
    std::map<std::int64_t, double> squares;
    for (std::size_t r = 0; r < B.size(); ++r)
        if (aggregates.of_row[r] >= 0) squares[aggregates.of_row[r]] += B[r] * B[r];
    squares = totals(context, aggregates.partition, rank, std::move(squares));
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
