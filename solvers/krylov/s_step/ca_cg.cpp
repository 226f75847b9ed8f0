// CA-CG: conjugate gradients with one all-reduce every s iterations (Toledo 1995; Hoemmen 2010). A must be
// symmetric and positive definite (semi-definite with b in its range). In exact arithmetic the iterates are
// those of cg.cpp for every s and basis; the numbers in the margin are those of the same steps there (Saad,
// Alg. 6.18).
//
// Per outer step of s iterations: 2s - 1 applications, s exchanges (paired; 2s - 1 sequential;
// ceil(s / depth) of deep ghosts with matrix powers, whose redundant work comes on top: grid_system.hpp), 1
// all-reduce of (2s+1)(s+1) words. Vectors: p, 2s - 1 further basis vectors and a spare, 2s + 1, besides x
// and r. About (2s - 1) F_A + 2 (2s+1)(s+1) + 6 (2s+1) flops per cell and outer step (newton: 3 more for each
// application, chebyshev: 5), F_A those of an application.
//
// Weakness: as ca_bicgstab.cpp, but the degree is half of that one's. Monomial bases keep CG's counts up to
// s = 4, cost 40 % more iterations at s = 8 and fail from s = 12 on; Newton and Chebyshev keep them up to
// s = 16 with Jacobi scaling or a constant coefficient.

#include <algorithm>
#include <cmath>
#include <optional>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/s_step/numbers.hpp"
#include "solvers/krylov/s_step/s_step.hpp"

namespace keel {
namespace {

template <class Scalar>
class CaConjugateGradients : public MethodOfSystem {
  public:
    explicit CaConjugateGradients(const MethodSetup& setup) : MethodOfSystem(setup) {
        std::vector<Vector> powers;
        while (powers.size() < PairSpace<Scalar>::vectors(options.s)) powers.push_back(vector());
        for (const int s : outer_steps(options)) steps.emplace_back(setup, s, powers);
    }

    void adopt(const Spectrum& spectrum) override {
        for (OuterStep& step : steps) step.V.update(spectrum);
    }

    Outcome iterate(const Run& run, Report& report) override {
        A.copy(p, run.r);  // 1
        const int last = report.iterations + run.limit;
        for (std::size_t m = 0; report.iterations < last; ++m) {
            OuterStep& step = steps[std::min(m, steps.size() - 1)];
            step.V.span(A, p, run.r);
            const auto end = inner_loop(step, run, last, report);
            if (end) {
                step.V.add(A, run.x, step.e);
                return *end;
            }
            step.V.advance(A, run.x, step.e, next_p, step.a, run.r, step.c);
            std::swap(p, next_p);
        }
        return Outcome::iteration_limit;
    }

  private:
    // An outer step of one length: its space, and coordinates in it of p (a), r (c) and x - x_m (e).
    struct OuterStep {
        OuterStep(const MethodSetup& setup, int length, std::span<const Vector> powers)
            : s(length), V(setup.options, setup.spectrum, s, powers) {
            for (auto* coordinates : {&a, &c, &e, &Ta, &GTa}) coordinates->resize(V.size());
        }
        int s;
        PairSpace<Scalar> V;
        typename PairSpace<Scalar>::Coordinates a, c, e, Ta, GTa;
    };

    // The iterations of one outer step, or how they ended before.
    static std::optional<Outcome> inner_loop(OuterStep& step, const Run& run, int last, Report& report) {
        auto& [s, V, a, c, e, Ta, GTa] = step;
        a.setZero();
        c.setZero();
        e.setZero();
        a(0) = 1;
        c(V.place_of_r()) = 1;
        Scalar norm = V.norm(c);
        if (unusable(double(norm))) return report.breakdown("(r,r)");
        for (int j = 0; j < s; ++j) {  // 2
            Ta.noalias() = V.T * a;
            GTa.noalias() = V.G * Ta;
            const Scalar pAp = a.dot(GTa);
            const Scalar alpha = norm * norm / pAp;  // 3
            if (unusable(double(alpha)) || pAp < Scalar(0)) return report.breakdown("(p,Ap)");
            e += alpha * a;   // 4
            c -= alpha * Ta;  // 5
            ++report.iterations;
            const Scalar next = V.norm(c);
            const double norm_r = double(next);
            report.residuals.push_back(norm_r / run.scale);
            if (norm_r <= run.target) return Outcome::converged;
            if (!std::isfinite(norm_r)) return report.breakdown("(r,r)");
            const Scalar beta = next * next / (norm * norm);  // 6
            a = c + beta * a;                                 // 7
            norm = next;
            if (report.iterations == last) return Outcome::iteration_limit;
        }
        return std::nullopt;
    }

    Vector p = vector(), next_p = vector();
    std::vector<OuterStep> steps;
};

}  // namespace

Method ca_cg() {
    return {
        .name = "ca_cg",
        .source = "Toledo 1995; Hoemmen 2010",
        .use = "as ca_bicgstab for half the work; stands twice the s",
        .scaling = DiagonalScaling::symmetric,
        .exchanges = exchanges_of_pairs("1", "2 - 1/s", "s", 1),
        .reductions = per_outer_step("1/s", [](double) { return 1.0; }),
        .words = words_of_pairs("(2s+1)(s+1)/s", [](double s) { return (2 * s + 1) * (s + 1); }),
        .vectors = in_s("2s + 1", [](double s) { return 2 * s + 1; }),
        .applications = in_s("2 - 1/s", [](double s) { return 2 - 1 / s; }),
        .flops = flops_of_pairs("(4s^2+18s+7)/s", 1, 0),
        .at_once = vectors_of_pairs(),
        .small_bytes = small_bytes_of_pairs(1),
        .sums = sums_of_pairs(1),
        .degree = in_s("s", [](double s) { return s; }),
        .keys = keys_of_pairs(),
        .independent = independent_pairs(1),
        .make = made_in_precision<CaConjugateGradients>,
    };
}

}  // namespace keel
