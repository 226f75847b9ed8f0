#include "solvers/amg/coarsest/dense.hpp"

#include <Eigen/Dense>
#include <bit>
#include <limits>

#include "solvers/amg/options.hpp"

namespace keel {

struct DenseCoarsest::Factors {
    Eigen::PartialPivLU<Eigen::MatrixXd> lu;
    std::optional<Eigen::VectorXd> null;  // a unit vector

    void project(Eigen::VectorXd& x) const {
        if (null) x -= null->dot(x) * *null;
    }
    std::vector<double> solve(const std::vector<double>& b) const {
        Eigen::VectorXd right =
            Eigen::Map<const Eigen::VectorXd>(b.data(), static_cast<Eigen::Index>(b.size()));
        project(right);
        Eigen::VectorXd x = lu.solve(right);
        project(x);
        return {x.data(), x.data() + x.size()};
    }
};

namespace {

// n / |n| where A n = 0 but for rounding.
std::optional<Eigen::VectorXd> null_vector(const Eigen::MatrixXd& A, std::span<const double> n, double size) {
    const Eigen::VectorXd unit =
        Eigen::Map<const Eigen::VectorXd>(n.data(), static_cast<Eigen::Index>(n.size())).normalized();
    if (!((A * unit).norm() <= slack * size)) return {};
    return unit;
}

}  // namespace

// On the ranks that it is factorised on; nothing on others.
template <class Value>
std::vector<Value> DenseCoarsest::gathered(const std::vector<Value>& mine) const {
    if (counts_.size() == 1) return mine;
    const std::span<const Value> values(mine);
    if constexpr (std::is_same_v<Value, double>)
        return place_.on_one_rank ? owners_.gather(values, counts_) : owners_.all_gather(values, counts_);
    else
        return place_.on_one_rank ? owners_.gather(values) : owners_.all_gather(values);
}

DenseCoarsest::DenseCoarsest(const Communicator& comm, const PartRows& A, SparseMatrix& vectors, double size,
                             const std::optional<std::vector<double>>& null, const Place& place,
                             Ledger& ledger)
    : vectors_(vectors),
      place_(place),
      ledger_(ledger),
      rows_(A.partition.rows),
      owners_(comm.split(A.rows.rows() > 0 ? 0 : 1)) {
    if (A.rows.rows() > 0) {
        for (int rank = 0; rank < A.partition.ranks; ++rank)
            if (A.partition.size(rank) > 0) counts_.push_back(static_cast<int>(A.partition.size(rank)));
        std::vector<std::int64_t> mine;  // row, column, bits of the value
        for (std::size_t r = 0; r < A.rows.rows(); ++r)
            for (auto [e, end] = entries_of(A.rows, r); e < end; ++e)
                mine.insert(mine.end(), {A.first() + static_cast<std::int64_t>(r), A.rows.columns[e],
                                         std::bit_cast<std::int64_t>(A.rows.values[e])});
        const std::vector<std::int64_t> all = gathered(mine);
        const std::vector<double> of_null = null ? gathered(*null) : std::vector<double>();
        if (is_here()) factorise(all, size, of_null);
    }
    singular_ = comm.max(singular_ ? 1.0 : 0.0) > 0;
}

DenseCoarsest::~DenseCoarsest() = default;

void DenseCoarsest::factorise(const std::vector<std::int64_t>& entries, double size,
                              std::span<const double> null) {
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(rows_, rows_);
    for (std::size_t n = 0; n < entries.size(); n += 3)
        dense(entries[n], entries[n + 1]) = std::bit_cast<double>(entries[n + 2]);
    std::optional<Eigen::VectorXd> of_null;
    if (!null.empty()) of_null = null_vector(dense, null, size);
    // The sum has the inverse of A on the range of A, and is as large as A on the null vector.
    if (of_null) {
        const double largest = dense.diagonal().cwiseAbs().maxCoeff();
        dense += (largest > slack * size ? largest : size) * *of_null * of_null->transpose();
    }
    factors_ = std::make_unique<const Factors>(Factors{dense.partialPivLu(), of_null});
    const auto pivots = factors_->lu.matrixLU().diagonal().cwiseAbs();
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    const auto rows = static_cast<double>(rows_);
    ledger_.book(Op::coarsest, place_.level,
                 {2.0 / 3.0 * rows * rows * rows, 2 * sizeof(double) * rows * rows});
    const double noise = epsilon * (64 * size + rows * pivots.maxCoeff());
    singular_ = !(pivots.minCoeff() > noise);
}

void DenseCoarsest::solve(Field x, Field b) {
    if (counts_.empty()) return;
    const std::vector<double> mine = vectors_.read(b);
    const std::vector<double> solution = timed(ledger_, Op::coarsest, place_.level, [&] {
        std::vector<double> all = gathered(mine);
        if (is_here()) {
            all = factors_->solve(all);
            // A solve moves each factor once.
            const auto entries = static_cast<double>(rows_) * static_cast<double>(rows_);
            ledger_.book(Op::coarsest, place_.level, {2 * entries, sizeof(double) * entries});
        }
        if (place_.on_one_rank && counts_.size() > 1) return owners_.scatter(all, counts_);
        const auto first = all.begin() + (vectors_.first_row());
        return std::vector<double>(first, first + static_cast<std::ptrdiff_t>(mine.size()));
    });
    ledger_.at(Op::coarsest, place_.level).words += words();
    vectors_.assign(x, [&, first = vectors_.first_row()](std::int64_t row) {
        return solution[static_cast<std::size_t>(row - first)];
    });
}

std::int64_t DenseCoarsest::words() const {
    if (counts_.size() < 2) return 0;
    if (!place_.on_one_rank) return rows_;
    return (owners_.rank() == 0 ? rows_ : 0) + static_cast<std::int64_t>(vectors_.rows());
}

}  // namespace keel
