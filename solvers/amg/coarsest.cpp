#include "solvers/amg/coarsest.hpp"

#include <Eigen/Dense>
#include <bit>
#include <cmath>
#include <limits>

#include "solvers/amg/options.hpp"

namespace keel {

struct Coarsest::Factors {
    Eigen::PartialPivLU<Eigen::MatrixXd> lu;
    std::optional<Eigen::VectorXd> null;  // of length 1

    void project(Eigen::VectorXd& x) const {
        if (null) x -= null->dot(x) * *null;
    }
};

namespace {

// n / |n| where A n = 0 but for rounding.
std::optional<Eigen::VectorXd> null_vector(const Eigen::MatrixXd& A, const std::vector<double>& n,
                                           double size) {
    const Eigen::VectorXd unit =
        Eigen::Map<const Eigen::VectorXd>(n.data(), static_cast<Eigen::Index>(n.size())).normalized();
    if (!((A * unit).norm() <= slack * size)) return {};
    return unit;
}

}  // namespace

Coarsest::Coarsest(const Communicator& comm, const PartRows& A, double size,
                   const std::optional<std::vector<double>>& null)
    : first_(static_cast<std::size_t>(A.first())), owners_(comm.split(A.rows.rows() > 0 ? 0 : 1)) {
    if (A.rows.rows() > 0) {
        for (int rank = 0; rank < A.partition.ranks; ++rank)
            if (A.partition.size(rank) > 0) counts_.push_back(static_cast<int>(A.partition.size(rank)));
        std::vector<std::int64_t> mine;  // row, column, bits of the value
        for (std::size_t r = 0; r < A.rows.rows(); ++r)
            for (auto [e, end] = entries_of(A.rows, r); e < end; ++e)
                mine.insert(mine.end(), {A.first() + static_cast<std::int64_t>(r), A.rows.columns[e],
                                         std::bit_cast<std::int64_t>(A.rows.values[e])});
        const std::vector<std::int64_t> all = owners_.all_gather(mine);
        Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(A.partition.rows, A.partition.rows);
        for (std::size_t n = 0; n < all.size(); n += 3)
            dense(all[n], all[n + 1]) = std::bit_cast<double>(all[n + 2]);
        std::optional<Eigen::VectorXd> of_null;
        if (null) of_null = null_vector(dense, owners_.all_gather(std::span(*null), counts_), size);
        // What has the inverse of A where that has one, and is as large as A elsewhere.
        if (of_null) {
            const double largest = dense.diagonal().cwiseAbs().maxCoeff();
            dense += (largest > slack * size ? largest : size) * *of_null * of_null->transpose();
        }
        factors_ = std::make_unique<const Factors>(Factors{dense.partialPivLu(), of_null});
        const auto pivots = factors_->lu.matrixLU().diagonal().cwiseAbs();
        constexpr double epsilon = std::numeric_limits<double>::epsilon();
        const double noise =
            epsilon * (64 * size + static_cast<double>(A.partition.rows) * pivots.maxCoeff());
        singular_ = !(pivots.minCoeff() > noise);
    }
    singular_ = comm.max(singular_ ? 1.0 : 0.0) > 0;
}

Coarsest::~Coarsest() = default;

std::vector<double> Coarsest::solve(std::span<const double> b) const {
    if (b.empty()) return {};
    const std::vector<double> all = owners_.all_gather(b, counts_);
    Eigen::VectorXd right =
        Eigen::Map<const Eigen::VectorXd>(all.data(), static_cast<Eigen::Index>(all.size()));
    factors_->project(right);
    Eigen::VectorXd x = factors_->lu.solve(right);
    factors_->project(x);
    const auto first = x.data() + first_;
    return {first, first + b.size()};
}

}  // namespace keel
