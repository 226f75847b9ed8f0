// SRE-CG, the short-recurrence enlarged conjugate gradients of Grigori, Moufawad and Nataf 2016: W = A W_1
// made A-orthogonal first to W_1 and W_2, the blocks of the last two iterations, and then in itself. In exact
// arithmetic its iterates are those of enlarged_cg.cpp's orthodir, whose comment says when columns are
// dropped. A must be symmetric and positive definite (semi-definite with b in its range).
//
// A W is kept and updated beside W, which saves the second block application of other codes. Per iteration
// with t columns: t applications, 1 exchange for all of them, 4 all-reduces of 2t^2, t(t+1)/2, t and 1 words.
// Vectors: 6t. t F_A + 15t^2 + 9t + 4 flops per cell.
// Weakness: as orthodir's, it stagnates on ill-conditioned systems without scaling.

#include <algorithm>
#include <cmath>

#include "solvers/krylov/enlarged/block.hpp"
#include "solvers/krylov/enlarged/numbers.hpp"
#include "solvers/krylov/krylov.hpp"

namespace keel {
namespace {

class ShortRecurrenceEnlargedCG : public MethodOfSystem {
  public:
    explicit ShortRecurrenceEnlargedCG(const MethodSetup& setup) : MethodOfSystem(setup) {
        for (auto* matrix : {&C1, &C2, &WAW}) matrix->setZero(t, t);
        alpha.setZero(t);
    }

    Outcome iterate(const Run& run, Report& report) override {
        const auto& [x, r, rr_start, target, limit, scale] = run;
        last.columns = before.columns = 0;
        for (int i = 0; i < limit; ++i) {
            auto& [W, AW, k] = current;
            if (i == 0) {
                k = t;
                A.split(W, r, options.splitting);
                A.apply(first(AW, k), first(W, k));
            } else {
                k = last.columns;
                orthogonalise_against_last_two();
            }
            products.add_symmetric(WAW, first(W, k), first(AW, k));
            products.reduce(A);
            k = basis.factor(WAW);
            if (k == 0) return report.breakdown("W^T A W");
            report.columns_dropped = std::max(report.columns_dropped, t - k);
            basis.orthonormalise(A, W);
            basis.orthonormalise(A, AW);

            products.add(alpha, first(W, k), r);
            products.reduce(A);
            sum.add(x).add(first(W, k), alpha).into(A, x);
            sum.add(r).add(first(AW, k), alpha, -1).into(A, r);
            ++report.iterations;
            const double rr = A.dot(r, r);
            report.residuals.push_back(std::sqrt(rr) / scale);
            if (std::sqrt(rr) <= target) return Outcome::converged;
            if (!std::isfinite(rr)) return report.breakdown("(r,r)");
            std::swap(before, last);
            std::swap(last, current);
        }
        return Outcome::iteration_limit;
    }

  private:
    struct Basis {
        Basis(LinearSystem& A, int t) : W(make_block(A, t)), AW(make_block(A, t)) {}
        Block W, AW;
        int columns = 0;
    };

    // W = A W_1 - W_1 (A W_1)^T A W_1 - W_2 (A W_2)^T A W_1, and A W with the same coefficients.
    void orthogonalise_against_last_two() {
        const auto W_1 = first(last.W, last.columns);
        const auto AW_1 = first(last.AW, last.columns);
        const auto W_2 = first(before.W, before.columns);
        const auto AW_2 = first(before.AW, before.columns);
        A.apply(first(current.AW, last.columns), AW_1);
        products.add(C1, AW_1, AW_1);
        products.add(C2, AW_2, AW_1);
        products.reduce(A);
        for (int j = 0; j < last.columns; ++j) {
            const auto n = static_cast<std::size_t>(j);
            sum.add(AW_1[n]).add(W_1, C1.col(j), -1).add(W_2, C2.col(j), -1).into(A, current.W[n]);
            const auto AAW = current.AW[n];
            sum.add(AAW).add(AW_1, C1.col(j), -1).add(AW_2, C2.col(j), -1).into(A, AAW);
        }
    }

    int t = options.block;
    RankRevealing basis{t};
    BlockSum sum{2 * t + 1};
    BlockProducts products{2 * t * t};
    Basis current{A, t}, last{A, t}, before{A, t};
    Eigen::MatrixXd C1, C2, WAW;
    Eigen::VectorXd alpha;
};

double flops_per_cell(double t) {
    return 5 * t * t + 3 * t + 2 + combinations(2 * t, 2 * t + 1) + 2 * triangle(t, 0) +
           combinations(2, t + 1);
}

}  // namespace

Method sre_cg() {
    Method method = enlarged_method("sre_cg", "Grigori, Moufawad and Nataf 2016");
    method.use = "the iterates of enlarged_cg, to compare with";
    method.reductions = 4;
    method.words = in_t("(5t^2+3t)/2 + 1", [](double t) { return (5 * t * t + 3 * t) / 2 + 1; });
    method.vectors = in_t("6t", [](double t) { return 6 * t; });
    method.flops = in_t("about 15t^2 + 9t + 4", flops_per_cell);
    method.make = made<ShortRecurrenceEnlargedCG>;
    return method;
}

}  // namespace keel
