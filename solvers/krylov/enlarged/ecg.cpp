// Enlarged conjugate gradients with the all-reduces of Lockhart 2023, Alg. 4.4 (ECG), the baseline for
// enlarged_cg.cpp, which makes the same iterates with one. The paper sends t^2 words for Z^T A Z, and 3t^2
// for P^T R, (A P)^T A P and (A P_old)^T A P. R is a block of t columns whose sum is r. A must be symmetric
// and positive definite (semi-definite with b in its range).
//
// The step numbers are those of Alg. 4.1. Changes: (r,r) is a word more in the first all-reduce of the next
// iteration, where the listing has a third all-reduce at once; so a solve ends with an application and an
// all-reduce in vain. X, of which no product is formed, is kept as x, the sum of its columns. P = Z B by the
// factorisation with pivots of block.hpp, so that dependent columns are dropped.
// Per iteration with t columns: t applications, 1 exchange for all of them, 2 all-reduces of t^2 + 1 and 3t^2
// words (2t^2 in the first iteration). Vectors: 5t. t F_A + 16t^2 + 6t + 4 flops per cell.
// Weakness: as orthodir's, it stagnates on ill-conditioned systems without scaling.

#include <algorithm>
#include <cmath>
#include <utility>

#include "solvers/krylov/enlarged/block.hpp"
#include "solvers/krylov/enlarged/numbers.hpp"
#include "solvers/krylov/krylov.hpp"

namespace keel {
namespace {

class EnlargedCGOfTwoSums : public MethodOfSystem {
  public:
    explicit EnlargedCGOfTwoSums(const MethodSetup& setup) : MethodOfSystem(setup) {
        for (auto* matrix : {&ZAZ, &c, &d, &d_old}) matrix->setZero(t, t);
        sum_of_c.setZero(t);
    }

    Outcome iterate(const Run& run, Report& report) override {
        const auto& [x, r, rr_start, target, limit, scale] = run;
        A.split(R, r, options.splitting);  // 1
        A.split(Z, r, options.splitting);
        int k = t;      // columns of Z ...
        int k_old = 0;  // ... and of P_old
        for (int i = 0;; ++i) {
            A.apply(first(AZ, k), first(Z, k));  // 3
            double rr = 0;
            products.add(ZAZ, first(Z, k), first(AZ, k));
            products.add(rr, r, r);
            products.reduce(A);
            if (i > 0) {
                report.residuals.push_back(std::sqrt(rr) / scale);
                if (std::sqrt(rr) <= target) return Outcome::converged;  // 9
                if (i == limit) return Outcome::iteration_limit;
            }
            if (!std::isfinite(rr)) return report.breakdown("(r,r)");
            k = B.factor(ZAZ);  // 4
            if (k == 0) return report.breakdown("Z^T A Z");
            report.columns_dropped = std::max(report.columns_dropped, t - k);
            B.orthonormalise(A, Z);  // 5: P = Z B, which stands in Z ...
            B.orthonormalise(A, AZ);
            const auto P = first(Z, k);  // ... as A P in AZ
            const auto AP = first(AZ, k);
            products.add(c, P, R);                          // 6
            products.add(d, AP, AP);                        // 10
            products.add(d_old, first(AP_old, k_old), AP);  // 11
            products.reduce(A);
            sum_of_c = c.rowwise().sum();
            sum.add(x).add(P, sum_of_c).into(A, x);  // 7
            sum.add(r).add(AP, sum_of_c, -1).into(A, r);
            for (int j = 0; j < t; ++j)  // 8: R = R - A P c
                sum.add(R[static_cast<std::size_t>(j)])
                    .add(AP, c.col(j), -1)
                    .into(A, R[static_cast<std::size_t>(j)]);
            ++report.iterations;
            for (int j = 0; j < k; ++j)  // 12: Z = A P - P d - P_old d_old, where A P_old stood
                sum.add(AP[static_cast<std::size_t>(j)])
                    .add(P, d.col(j), -1)
                    .add(first(P_old, k_old), d_old.col(j), -1)
                    .into(A, AP_old[static_cast<std::size_t>(j)]);
            P_old.swap(Z);  // 13
            Z.swap(AP_old);
            AP_old.swap(AZ);
            k_old = k;
        }
    }

  private:
    int t = options.block;
    Block R = make_block(A, t), Z = make_block(A, t), AZ = make_block(A, t);
    Block P_old = make_block(A, t), AP_old = make_block(A, t);
    RankRevealing B{t};
    BlockSum sum{2 * t + 1};
    BlockProducts products{3 * t * t};
    Eigen::MatrixXd ZAZ, c, d, d_old;
    Eigen::VectorXd sum_of_c;
};

double flops_per_cell(double t) {
    return 2 * (4 * t * t + 1) + 2 * triangle(t, 0) + combinations(t + 2, t + 1) + combinations(t, 2 * t + 1);
}

}  // namespace

Method ecg() {
    Method method = enlarged_method("ecg", "Lockhart 2023, Alg. 4.4");
    method.use = "enlarged_cg with the paper's two all-reduces, to compare with";
    method.reductions = 2;
    method.words = in_t("4t^2 + 1", [](double t) { return 4 * t * t + 1; });
    method.vectors = in_t("5t", [](double t) { return 5 * t; });
    method.flops = in_t("16t^2 + 6t + 4", flops_per_cell);
    method.make = made<EnlargedCGOfTwoSums>;
    return method;
}

}  // namespace keel
