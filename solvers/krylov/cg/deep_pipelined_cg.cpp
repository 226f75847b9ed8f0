// Deeply pipelined conjugate gradients, p(l)-CG: Cornelis, Cools and Vanroose 2018 in the stable form of
// Cools, Cornelis and Vanroose 2019, Alg. 1, whose equation numbers are in the margin; with a preconditioner
// and without. The iterates are those of cg.cpp in exact arithmetic. Two changes: |r_0| is known on entry,
// so the first vector is normalised at once; and |r_{k+1}| = |zeta_{k+1}| is tested as soon as it is known,
// with x_{k+1}, an iteration earlier than printed.
//
// The Lanczos vectors v_j, A V = V T, are never multiplied with A. Auxiliary bases run ahead of them,
//     z^(q)_j = P_q(A) v_{j-q},   P_q(t) = (t - sigma_0) .. (t - sigma_{q-1}),   q = 0 .. l,
//     z^(0) = v,   z^(l) = z;
// inner products of z give, l iterations late, its coordinates G in V (z_c = SUM_j g_jc v_j), and those give
// T. With a preconditioner M, A is M A here, inner products are (u,z) with u_j = M^-1 z_j, which z alone has
// for a partner, and the norm of r is the natural one, sqrt(r . M r).
//
// Per iteration: 1 application (1 exchange) and 1 all-reduce of l + 1 words, waited for after l further
// applications: l all-reduces are in flight at any time. k iterations cost k + l applications, so for the
// few iterations of a bottom solve a small l is best. Vectors: 2 of each z^(q), q < l; max(3, l) of z, one of
// which is r; p. F_A + 7 l + 13 flops per cell. With a preconditioner k + l + 1 applications of M, and three
// vectors more: u_{i-1}, u_i, u_{i+1}, one of which is r.
// Weakness: G is found by Cholesky's recurrence as if V were orthogonal. Once a Ritz value has converged it
// is not, a pivot is no longer positive and the run is over (a breakdown, from which the solver restarts).
// Outlying eigenvalues of variable coefficients do that unless the system is scaled by its diagonal, and
// smooth right-hand sides, the sooner the larger l. Measured on 32^3 with beta from 1 to 20, tolerance 1e-10:
// scaled, the 194 iterations of CG for l = 1, 2, 3, 5; unscaled, CG 263, l = 1 263, l = 2 352 with 3
// restarts, l = 3 not in 1000. When orthogonality goes is up to rounding: on 12^3 with contrasts of 45 to 55,
// tolerance 1e-8, l = 1 takes 108 to 243 iterations unscaled, CG 103, both 54 scaled. The bounds matter, too:
// with an upper one half as large again as Gershgorin's, l = 2 broke down after 18 iterations of a problem
// that it solves in 138.

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <stdexcept>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {
namespace {

// The rest of a sum after subtracting is noise below this part of it.
constexpr double noise = 1e-15;

std::size_t at(int n) {
    return static_cast<std::size_t>(n);
}

int checked(int depth) {
    if (depth < 1) throw std::invalid_argument("a pipeline is at least 1 deep");
    return depth;
}

// The last l + 1 columns of an upper triangular matrix with 2l + 1 diagonals.
class Band {
  public:
    explicit Band(int l) : l_(l), values_(at((l + 1) * (2 * l + 1))) {}
    // Row c - 2l <= j <= c of column c.
    double& operator()(int j, int c) { return values_[at(c % (l_ + 1) * (2 * l_ + 1) + c - j)]; }
    int first_row(int c) const { return std::max(0, c - 2 * l_); }

  private:
    int l_;
    std::vector<double> values_;
};

// The last l + 1 rows of a symmetric tridiagonal matrix.
class Tridiagonal {
  public:
    explicit Tridiagonal(int l) : gamma_(at(l + 1)), delta_(at(l + 1)) {}
    double& gamma(int k) { return gamma_[at(k) % gamma_.size()]; }  // the diagonal
    double& delta(int k) { return delta_[at(k) % delta_.size()]; }  // beside it, in rows k and k + 1

  private:
    std::vector<double> gamma_, delta_;
};

class DeepPipelinedCG : public MethodOfSystem {
  public:
    explicit DeepPipelinedCG(const MethodSetup& setup) : MethodOfSystem(setup) {
        adopt(setup.spectrum);
        for (int n = 0; n < 2 * l; ++n) bases_.push_back(vector());
        for (int n = 1; n < std::max(3, l); ++n) last_.push_back(vector());
        last_.push_back(vector_with_M());                    // or r of a run
        partners_ = {vector_with_M(), vector_with_M(), {}};  // the last is r of a run
        p = vector();
        products_.reserve(at(l + 1));
    }

    void adopt(const Spectrum& spectrum) override {
        const double centre = (spectrum.highest + spectrum.lowest) / 2;
        const double radius = (spectrum.highest - spectrum.lowest) / 2;
        for (int i = 0; i < l; ++i)  // zeros of the Chebyshev polynomial: P_l stays small
            sigma_[at(i)] = centre + radius * std::cos((2 * i + 1) * std::numbers::pi / (2 * l));  // 25
    }

    Outcome iterate(const Run& run, Report& report) override {
        begun_ = waited_ = 0;
        const Outcome outcome = pipeline(run, report);
        while (waited_ < begun_) wait();  // the sums in flight are not needed
        return outcome;
    }

  private:
    Outcome pipeline(const Run& run, Report& report) {
        const auto& [x, r, rr, target, limit, scale] = run;
        double zeta = std::sqrt(rr);
        double eta = 0;
        (M ? partners_.back() : last_.back()) = r;
        A.combine(u(0), {1 / zeta}, {r});
        if (M) M->apply(z(l, 0), u(0));
        A.copy(z(0, 0), z(l, 0));
        G(0, 0) = 1;

        for (int i = 0;; ++i) {
            A.apply(u(i + 1), z(l, i));
            if (i < l) A.axpby(u(i + 1), 1, u(i + 1), -sigma(i), u(i));  // 29
            if (M) M->apply(z(l, i + 1), u(i + 1));
            if (i < l) {  // the pipe fills; all bases begin alike
                if (i + 1 < l) A.copy(z(i + 1, i + 1), z(l, i + 1));
                begin(i + 1);
                continue;
            }
            const int k = i - l;
            wait();
            const bool positive = complete_column(k + 1);
            complete_row(k);
            // D-Lanczos (16-22): T = L U without pivoting, x = V U^-1 L^-1 |r_0| e_0
            const double before = k > 0 ? T.delta(k - 1) : 0.0;
            eta = T.gamma(k) - (k > 0 ? before / eta * before : 0.0);  // the pivots of T
            if (!(eta > 0) || !std::isfinite(eta)) return report.breakdown("pivot of T");
            const double next_zeta = -T.delta(k) / eta * zeta;
            const bool converged = std::abs(next_zeta) <= target;
            const bool goes_on = positive && !converged && k + 1 < limit;
            if (goes_on) {
                extend_bases(k);
                begin(i + 1);
            }
            if (k == 0)
                A.combine(p, {1 / eta}, {z(0, 0)});
            else
                A.axpby(p, 1 / eta, z(0, k), -before / eta, p);
            A.axpby(x, 1, x, zeta, p);
            ++report.iterations;
            if (!positive) return report.breakdown("pivot of Z^T Z");
            report.residuals.push_back(std::abs(next_zeta) / scale);
            if (!goes_on) return converged ? Outcome::converged : Outcome::iteration_limit;
            zeta = next_zeta;
        }
    }

    // Begins the all-reduce of the (z_c,z_j) that column c of G needs; the rows above c - l follow from
    // symmetry.
    void begin(int c) {
        products_.clear();
        if (c >= l) products_.push_back({u(c), z(0, c - l)});
        for (int j = std::max(0, c - l + 1); j <= c; ++j) products_.push_back({u(c), z(l, j)});
        pending_[at(++begun_ % l)] = A.begin_dots(products_);
    }

    // Finishes the oldest all-reduce.
    void wait() {
        ++waited_;
        pending_[at(waited_ % l)]->finish(std::span(sums_).first(at(std::min(waited_, l) + 1)));
    }

    // Column c of G from the inner products received. False if z_c has nothing outside the span of
    // v_0 .. v_{c-1}, or if rounding leaves no more to be said about it than that.
    bool complete_column(int c) {
        const int top = G.first_row(c);
        const int received = std::max(0, c - l);
        for (int j = top; j < received; ++j) G(j, c) = G(c - l, j + l);  // 9
        for (int j = received; j <= c; ++j) G(j, c) = sums_[at(j - received)];
        for (int j = std::max(0, c - l + 1); j < c; ++j) {  // 12
            for (int q = top; q < j; ++q) G(j, c) -= G(q, j) * G(q, c);
            G(j, c) /= G(j, j);
        }
        const double zz = G(c, c);
        double rest = zz;
        for (int q = top; q < c; ++q) rest -= G(q, c) * G(q, c);
        const bool positive = rest > noise * zz;     // false for what is not a number, too
        G(c, c) = positive ? std::sqrt(rest) : 0.0;  // 13
        return positive;
    }

    // Row k of T from columns k and k + 1 of G.
    void complete_row(int k) {
        const double above = k > 0 ? T.delta(k - 1) * G(k - 1, k) : 0.0;
        if (k < l) {  // 14
            T.gamma(k) = (G(k, k + 1) + sigma(k) * G(k, k) - above) / G(k, k);
            T.delta(k) = G(k + 1, k + 1) / G(k, k);
        } else {  // 15
            T.gamma(k) = (G(k, k) * T.gamma(k - l) + G(k, k + 1) * T.delta(k - l) - above) / G(k, k);
            T.delta(k) = G(k + 1, k + 1) * T.delta(k - l) / G(k, k);
        }
    }

    // One more vector in every basis, by row k of T: v_{k+1}, .., z_{k+l+1}. The latter holds A z_{k+l} on
    // entry.
    void extend_bases(int k) {
        const double scale = 1 / T.delta(k);
        const std::size_t terms = k > 0 ? 3 : 2;
        for (int q = 0; q <= l; ++q) {  // 31; the last is 32
            const int j = k + q;
            const double shift = q < l ? sigma(q) : 0.0;
            const std::array c{scale, scale * (shift - T.gamma(k)), k > 0 ? -scale * T.delta(k - 1) : 0.0};
            const std::array x{z(std::min(q + 1, l), j + 1), z(q, j), k > 0 ? z(q, j - 1) : z(q, j)};
            A.combine(z(q, j + 1), std::span(c).first(terms), std::span(x).first(terms));
            if (!M || q < l) continue;
            const std::array y{u(j + 1), u(j), k > 0 ? u(j - 1) : u(j)};
            A.combine(u(j + 1), std::span(c).first(terms), std::span(y).first(terms));
        }
    }

    // z^(q)_j; the last two of each basis are kept, of z^(l) the last three at least.
    Vector z(int q, int j) const { return q < l ? bases_[at(2 * q + j % 2)] : last_[at(j) % last_.size()]; }
    // M^-1 z_j, of the last three.
    Vector u(int j) const { return M ? partners_[at(j) % 3] : z(l, j); }
    double sigma(int i) const { return sigma_[at(i)]; }

    int l = checked(options.depth);
    Band G{l};
    Tridiagonal T{l};
    Vector p;
    std::vector<Vector> bases_;  // z^(0), z^(0), z^(1), ..
    std::vector<Vector> last_;   // z^(l)
    std::array<Vector, 3> partners_;
    std::vector<double> sigma_ = std::vector<double>(at(l));
    int begun_ = 0;  // all-reduces, counted by column
    int waited_ = 0;
    std::vector<std::optional<AllReduceRequest>> pending_{at(l)};
    std::vector<Product> products_;
    std::vector<double> sums_ = std::vector<double>(at(l + 1));
};

// A number by a formula in the depth of the pipeline.
Quantity in_depth(const std::string& text, int (*formula)(int l)) {
    return {text, [formula](const BottomOptions& o) { return formula(o.depth); }};
}

}  // namespace

Method deep_pipelined_cg() {
    return {
        .name = "deep_pipelined_cg",
        .source = "Cools, Cornelis and Vanroose 2019, Alg. 1",
        .use =
            "l = bottom.depth all-reduces in flight, each hidden behind l applications; wants scaling = "
            "jacobi",
        .scaling = DiagonalScaling::symmetric,
        .exchanges = 1,
        .reductions = 1,
        .words = in_depth("l + 1", [](int l) { return l + 1; }),
        .vectors = in_depth("2l + max(3, l)", [](int l) { return 2 * l + std::max(3, l); }),
        .hides_all_reduces = true,
        .applications = 1,
        .flops = in_depth("7l + 13", [](int l) { return 7 * l + 13; }),
        .keys = {"depth", "spectrum", "norm"},
        .independent = Independent{.key = "depth", .value = &BottomOptions::depth},
        .preconditioning = Preconditioning::symmetric,
        .norms = {Norm::natural},
        .preconditioned_vectors = 3,
        .make = made<DeepPipelinedCG>,
        .make_preconditioned = made<DeepPipelinedCG>,
    };
}

}  // namespace keel
