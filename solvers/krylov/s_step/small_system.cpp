#include "solvers/krylov/s_step/small_system.hpp"

#include <utility>

namespace keel {

bool ScaledMatrix::take(const Eigen::MatrixXd& W, int n) {
    n_ = n;
    scale().array() = W.diagonal().head(n).array().rsqrt();
    auto M = factor_.topLeftCorner(n, n);
    M.noalias() = scale().asDiagonal() * W.topLeftCorner(n, n) * scale().asDiagonal();
    if (by_ == SmallSystemBy::gauss_seidel) return M.allFinite();
    Eigen::Ref<Eigen::MatrixXd> in_place(M);
    const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> factors(in_place);
    return factors.info() == Eigen::Success && M.diagonal().allFinite();
}

SmallSystem::SmallSystem(int s, SmallSystemBy how) : old_(s, how), now_(s, how) {
    for (auto* matrix : {&W, &B, &C, &W_old_}) matrix->setZero(s, s);
    for (auto* vector : {&alpha, &Pr}) vector->setZero(s);
}

bool SmallSystem::solve(int n, int m) {
    if (m > 0)
        for (int j = 0; j < n; ++j) {
            B.col(j).head(m) = -C.col(j).head(m);
            old_.solve(B.col(j));
        }
    for (int i = 0; i < n; ++i)
        for (int a = 0; a < m; ++a) {
            alpha(i) += B(a, i) * Pr(a);
            for (int j = 0; j < n; ++j) {
                W(i, j) += C(a, i) * B(a, j) + B(a, i) * C(a, j);
                for (int b = 0; b < m; ++b) W(i, j) += B(a, i) * W_old_(a, b) * B(b, j);
            }
        }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j) W(i, j) = W(j, i) = (W(i, j) + W(j, i)) / 2;
    if (!now_.take(W, n)) return false;
    now_.solve(alpha);
    W_old_ = W;
    std::swap(old_, now_);
    return true;
}

}  // namespace keel
