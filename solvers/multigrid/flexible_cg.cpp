#include "solvers/multigrid/flexible_cg.hpp"

#include "solvers/krylov/krylov.hpp"

namespace keel {

FlexibleCG::FlexibleCG(Level& level)
    : level_(level),
      L_(level.operations, *level.ghosts, *level.reduction, level.L, DiagonalScaling::none),
      r_(L_.make_vector()),
      z_(L_.make_vector()),
      p_(L_.make_vector()),
      Lp_(L_.make_vector()) {}

void FlexibleCG::begin() {
    L_.copy(r_, level_.f);
    pLp_ = 0;
}

bool FlexibleCG::step(const std::function<void(Field z, Field r)>& cycle) {
    cycle(z_, r_);
    if (pLp_ == 0) {
        L_.copy(p_, z_);
    } else {
        const double beta = -L_.dot(z_, Lp_) / pLp_;
        L_.axpby(p_, 1, z_, beta, p_);
    }
    L_.apply(Lp_, p_);
    const auto [pLp, pr] = L_.dots({{p_, Lp_}, {p_, r_}});
    if (unusable(pLp) || pLp < 0 || unusable(pr)) return false;
    pLp_ = pLp;
    L_.axpby(level_.u, 1, level_.u, pr / pLp, p_);
    return true;
}

double FlexibleCG::residual_norm() {
    form_residual(level_, r_);
    return L_.max_norm(r_);
}

}  // namespace keel
