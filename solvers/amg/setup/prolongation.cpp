#include "solvers/amg/setup/prolongation.hpp"

#include <Eigen/Dense>
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

using Matrix = Eigen::MatrixXd;
// Gram matrices by aggregate, all of one size.
using Grams = std::map<std::int64_t, Matrix>;

// Totals of Gram matrices whose parts ranks have, for the aggregates of each rank and for those that it gave
// parts of. Parts are added in the order of the ranks, and so are their letters: an aggregate and its upper
// triangle each.
Grams totals(const SetupContext& context, const RowPartition& partition, int rank, Grams parts) {
    // Calls visit(value) for a triangle.
    const auto for_each = [](Matrix& gram, const auto& visit) {
        for (Eigen::Index j = 0; j < gram.cols(); ++j)
            for (Eigen::Index i = 0; i <= j; ++i) visit(gram(i, j));
    };
    const auto write = [&](Words& letter, std::int64_t aggregate) {
        letter.push_back(aggregate);
        for_each(parts.at(aggregate),
                 [&](double value) { letter.push_back(std::bit_cast<std::int64_t>(value)); });
    };
    WordsByRank questions;
    for (const auto& [aggregate, part] : parts)
        if (const int owner = partition.owner(aggregate); owner != rank) write(questions[owner], aggregate);
    context.tell(AmgStep::exchange, AmgMessages::norms);
    // The aggregates that were asked about, by rank.
    WordsByRank asked;
    for (const auto& [from, letter] : context.negotiator->exchange(questions))
        for (auto word = letter.begin(); word != letter.end();) {
            asked[from].push_back(*word);
            for_each(parts.at(*word++), [&](double& sum) { sum += std::bit_cast<double>(*word++); });
        }
    WordsByRank answers;
    for (const auto& [to, aggregates] : asked)
        for (const std::int64_t aggregate : aggregates) write(answers[to], aggregate);
    context.tell(AmgStep::exchange, AmgMessages::norms);
    for (const auto& [from, letter] : context.negotiator->exchange(answers))
        for (auto word = letter.begin(); word != letter.end();)
            for_each(parts.at(*word++), [&](double& sum) { sum = std::bit_cast<double>(*word++); });
    return parts;
}

// R of G = R^T R. A row whose pivot is lost in rounding is zero.
Matrix factorised(const Matrix& G) {
    constexpr double lost = 1e-13;  // relative to the diagonal
    Matrix R = Matrix::Zero(G.rows(), G.cols());
    for (Eigen::Index i = 0; i < G.rows(); ++i) {
        const double pivot = G(i, i) - R.col(i).squaredNorm();
        if (!(pivot > lost * G(i, i))) continue;
        R(i, i) = std::sqrt(pivot);
        for (Eigen::Index j = i + 1; j < G.cols(); ++j)
            R(i, j) = (G(i, j) - R.col(i).head(i).dot(R.col(j).head(i))) / R(i, i);
    }
    return R;
}

}  // namespace

Tentative tentative_prolongation(const SetupContext& context, const Aggregates& aggregates, int rank,
                                 const NearNull& B) {
    const auto k = static_cast<std::size_t>(B.vectors);
    std::vector<double> Q = B.values;
    // Calls visit(aggregate, row of Q) for the rows that have an aggregate.
    const auto for_each_row = [&](const auto& visit) {
        for (std::size_t r = 0; r * k < Q.size(); ++r)
            if (const std::int64_t a = aggregates.of_row[r / static_cast<std::size_t>(B.node)]; a >= 0)
                visit(a, Eigen::Map<Eigen::RowVectorXd>(Q.data() + r * k, B.vectors));
    };
    std::vector<Matrix> coarse(aggregates.partition.size(rank), Matrix::Identity(B.vectors, B.vectors));
    for (int pass = 0; pass < (k > 1 ? 2 : 1); ++pass) {
        Grams R;
        for_each_row([&](std::int64_t a, const auto& q) {
            R.try_emplace(a, Matrix::Zero(B.vectors, B.vectors)).first->second.noalias() += q.transpose() * q;
        });
        R = totals(context, aggregates.partition, rank, std::move(R));
        for (auto& [a, gram] : R) gram = factorised(gram);
        for_each_row([&](std::int64_t a, auto q) {
            const Matrix& r = R.at(a);
            for (Eigen::Index j = 0; j < q.size(); ++j)
                q(j) = r(j, j) == 0 ? 0.0 : (q(j) - q.head(j).dot(r.col(j).head(j))) / r(j, j);
        });
        std::int64_t a = aggregates.partition.first(rank);
        for (Matrix& product : coarse) product = R.at(a++) * product;
    }
    Tentative T{{}, {{}, B.vectors, B.vectors}};
    for (const Matrix& product : coarse)
        for (Eigen::Index i = 0; i < product.rows(); ++i)
            for (Eigen::Index j = 0; j < product.cols(); ++j) T.coarse_null.values.push_back(product(i, j));
    for (std::size_t r = 0; r * k < Q.size(); ++r) {
        if (const std::int64_t a = aggregates.of_row[r / static_cast<std::size_t>(B.node)]; a >= 0)
            for (std::size_t j = 0; j < k; ++j)
                append(T.rows, a * B.vectors + static_cast<std::int64_t>(j), Q[r * k + j]);
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
