#pragma once

#include <optional>
#include <utility>

#include "kernels/bodies/krylov/pair_space.hpp"
#include "kernels/bodies/krylov/run.hpp"

namespace keel::bodies {

// CABiCGStab (solvers/krylov/s_step/ca_bicgstab.cpp): the iterations of one outer step, or how they ended
// before.
template <class Space, class Run, class Report>
constexpr std::optional<Outcome> ca_bicgstab_inner_loop(Space& V, const Run& run, int last, Report& report) {
    auto delta = V.dot(V.g, V.c);
    for (int j = 0; j < V.s; ++j) {
        V.apply(V.Ta, V.a);
        const auto alpha = delta / V.dot(V.g, V.Ta);
        if (unusable(double(alpha))) return report.breakdown(Vanished::r0_Ap);
        V.add(V.e, V.e, alpha, V.a);  // 12
        V.add(V.d, V.c, -alpha, V.Ta);
        ++report.iterations;
        const double norm_s = double(V.norm(V.d));
        if (norm_s <= run.target) return report.converged(norm_s / run.scale);

        V.apply(V.Td, V.d);
        V.weigh(V.GT, V.Td);
        const auto AsAs = V.dot(V.Td, V.GT);
        const auto omega = V.dot(V.d, V.GT) / AsAs;
        if (unusable(double(omega)) || double(AsAs) < 0) return report.breakdown(Vanished::omega);
        V.add(V.e, V.e, omega, V.d);
        V.add(V.c, V.d, -omega, V.Td);  // 17
        const double norm_r = double(V.norm(V.c));
        if (norm_r <= run.target) return report.converged(norm_r / run.scale);
        report.residuals.push_back(norm_r / run.scale);

        const auto next = V.dot(V.g, V.c);
        if (unusable(double(next))) return report.breakdown(Vanished::r0_r);
        const auto beta = next / delta * alpha / omega;
        V.add(V.a, V.a, -omega, V.Ta);
        V.add(V.a, V.c, beta, V.a);  // 20
        delta = next;
        if (report.iterations == last) return Outcome::iteration_limit;
    }
    return std::nullopt;
}

template <class System, class Space, class Report, class Vector = typename System::Vector>
constexpr Outcome ca_bicgstab(System& A, const KrylovRun<Vector>& run, Report& report, Space& V, Vector r0,
                              Vector p, Vector next_p) {
    A.copy(r0, run.r);
    A.copy(p, run.r);
    const int last = report.iterations + run.limit;
    for (V.begin(); report.iterations < last; V.lengthen()) {
        V.span(run.x, p, run.r, std::span<const Vector>(&r0, 1));
        if (const auto end = ca_bicgstab_inner_loop(V, run, last, report)) {
            V.finish();  // 24
            return *end;
        }
        V.advance(next_p);  // 24, 22, 23
        std::swap(p, next_p);
    }
    return Outcome::iteration_limit;
}

}  // namespace keel::bodies
