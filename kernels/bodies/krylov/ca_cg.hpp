#pragma once

#include <optional>
#include <utility>

#include "kernels/bodies/krylov/pair_space.hpp"
#include "kernels/bodies/krylov/run.hpp"

namespace keel::bodies {

// CA-CG (solvers/krylov/s_step/ca_cg.cpp): the iterations of one outer step, or how they ended before.
template <class Space, class Run, class Report>
constexpr std::optional<Outcome> ca_cg_inner_loop(Space& V, const Run& run, int last, Report& report) {
    auto norm = V.norm(V.c);
    if (unusable(double(norm))) return report.breakdown(Vanished::r_r);
    for (int j = 0; j < V.s; ++j) {  // 2
        V.apply(V.Ta, V.a);
        V.weigh(V.GT, V.Ta);
        const auto pAp = V.dot(V.a, V.GT);
        const auto alpha = norm * norm / pAp;  // 3
        if (unusable(double(alpha)) || double(pAp) < 0) return report.breakdown(Vanished::p_Ap);
        V.add(V.e, V.e, alpha, V.a);    // 4
        V.add(V.c, V.c, -alpha, V.Ta);  // 5
        ++report.iterations;
        const auto next = V.norm(V.c);
        const double norm_r = double(next);
        report.residuals.push_back(norm_r / run.scale);
        if (norm_r <= run.target) return Outcome::converged;
        if (!std::isfinite(norm_r)) return report.breakdown(Vanished::r_r);
        const auto beta = next * next / (norm * norm);  // 6
        V.add(V.a, V.c, beta, V.a);                     // 7
        norm = next;
        if (report.iterations == last) return Outcome::iteration_limit;
    }
    return std::nullopt;
}

template <class System, class Space, class Report, class Vector = typename System::Vector>
constexpr Outcome ca_cg(System& A, const KrylovRun<Vector>& run, Report& report, Space& V, Vector p,
                        Vector next_p) {
    A.copy(p, run.r);  // 1
    const int last = report.iterations + run.limit;
    for (V.begin(); report.iterations < last; V.lengthen()) {
        V.span(run.x, p, run.r);
        if (const auto end = ca_cg_inner_loop(V, run, last, report)) {
            V.finish();
            return *end;
        }
        V.advance(next_p);
        std::swap(p, next_p);
    }
    return Outcome::iteration_limit;
}

}  // namespace keel::bodies
