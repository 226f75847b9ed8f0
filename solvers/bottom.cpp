#include "solvers/bottom.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/check.hpp"
#include "kernels/vector.hpp"
#include "solvers/preconditioner.hpp"
#include "solvers/smoother.hpp"

namespace keel {

namespace {

// A number of the methods with a pipeline of depth l.
Quantity in_depth(const std::string& text, int (*formula)(int l)) {
    return {text, [formula](const BottomOptions& o) { return formula(o.depth); }};
}

// --- The numbers of s-step methods, once telescoping has reached s.
using FormulaInS = double (*)(double s);

Quantity in_s(const std::string& text, FormulaInS formula) {
    return {text, [formula](const BottomOptions& o) { return formula(o.s); }};
}
Quantity per_outer_step(const std::string& text, FormulaInS formula) {
    return {text, [formula](const BottomOptions& o) { return formula(o.s) / o.s; }};
}
// Paired, one per power of A on the longer of the two bases, whose degree is m; sequential, one per application; matrix
// powers, one for each `depth` powers.
Quantity exchanges_of_pairs(const std::string& paired, const std::string& sequential, const std::string& m,
                            int degree_per_s) {
    return {paired + "; sequential " + sequential + "; matrix_powers ceil(" + m + "/depth)/s",
            [degree_per_s](const BottomOptions& o) {
                const int degree = degree_per_s * o.s;
                const int depth = o.powers_depth > 0 ? o.powers_depth : degree;
                if (o.powers == Powers::matrix_powers) return std::ceil(1.0 * degree / depth) / o.s;
                return o.powers == Powers::paired ? degree_per_s : 2 * degree_per_s - 1.0 / o.s;
            }};
}
// Beside the applications: the Gram matrix of the n = 2 degree + 1 vectors with themselves and `others`, three
// combinations of them, and the recurrences of the basis. The text is that of the monomial one.
Quantity flops_of_pairs(const std::string& text, int degree_per_s, int others) {
    return {"about " + text, [degree_per_s, others](const BottomOptions& o) {
                const int degree = degree_per_s * o.s;
                const auto n = static_cast<std::size_t>(2 * degree + 1);
                const double gram =
                    2.0 * static_cast<double>(gram_pairs(n, static_cast<std::size_t>(others)));
                const int first = std::min(2, 2 * degree - 1);  // applications to the first vector of a basis
                const double recurrences = o.basis == Basis::newton      ? 3 * (2 * degree - 1)
                                           : o.basis == Basis::chebyshev ? 5 * (2 * degree - 1) - 2 * first
                                                                         : 0;
                return (gram + 2 * combine_flops(n) + combine_flops(n + 1) + recurrences) / o.s;
            }};
}
double pair_or_one(const BottomOptions& options) {
    return options.powers == Powers::paired ? 2 : 1;
}

// --- The numbers of enlarged methods with t columns.
using FormulaInT = double (*)(double t);

Quantity in_t(const std::string& text, FormulaInT formula) {
    return {text, [formula](const BottomOptions& o) { return formula(o.block); }};
}
Quantity by_variant(const Quantity& orthodir, const Quantity& orthomin) {
    return {orthodir.text() + "; orthomin " + orthomin.text(), [=](const BottomOptions& o) {
                return (o.variant == Enlarged::orthodir ? orthodir : orthomin).of(o);
            }};
}
// The flops of `count` combinations of n vectors ...
double combinations(double count, double n) {
    return count * combine_flops(static_cast<std::size_t>(n));
}
// ... and of t combinations of others + 1, others + 2, ..., others + t vectors.
double triangle(double t, double others) {
    double flops = 0;
    for (double n = 1; n <= t; ++n) flops += combinations(1, others + n);
    return flops;
}
double columns(double t) {
    return t;
}
double flops_of_orthodir(double t) {
    return 2 * (t + 1) * (t + 1) + combinations(2, t + 1) + triangle(t, 2 * t);
}
double flops_of_orthomin(double t) {
    return 2 * (3 * t * t + t + 1) + combinations(2 * t + 2, t + 1) + 2 * triangle(t, 0);
}
double flops_of_sre_cg(double t) {
    return 5 * t * t + 3 * t + 2 + combinations(2 * t, 2 * t + 1) + 2 * triangle(t, 0) +
           combinations(2, t + 1);
}

}  // namespace

const std::vector<BottomMethod>& bottom_methods() {
    static const std::vector<BottomMethod> methods{
        {"bicgstab", "van der Vorst 1992; Williams et al. 2014, Alg. 1", DiagonalScaling::right, 2, 6, 6, 5,
         2, 29, "the papers' baseline: every inner product waits for its own all-reduce"},
        {"bicgstab_fused", "the same recurrences, inner products fused", DiagonalScaling::right, 2, 2, 6, 5,
         2, 29, "the default to compare with: a third of the all-reduces at no cost"},
        {"cg", "Hestenes and Stiefel 1952; Saad, Alg. 6.18", DiagonalScaling::symmetric, 1, 2, 2, 2, 1, 13,
         "the operator is symmetric: half the work of BiCGStab per iteration"},
        {"ca_bicgstab", "Williams et al. 2014, Alg. 2, corrected", DiagonalScaling::right,
         exchanges_of_pairs("2", "4 - 1/s", "2s", 2), per_outer_step("1/s", [](double) { return 1.0; }),
         per_outer_step("(4s+1)(2s+2)/s", [](double s) { return (4 * s + 1) * (2 * s + 2); }),
         in_s("4s + 2", [](double s) { return 4 * s + 2; }),
         in_s("4 - 1/s", [](double s) { return 4 - 1 / s; }), flops_of_pairs("(16s^2+44s+9)/s", 2, 1),
         "all-reduces are the bottleneck: one every s iterations; beyond s = 4 with basis newton or "
         "chebyshev",
         Quantity("", pair_or_one)},
        {"ca_cg", "Toledo 1995; Hoemmen 2010", DiagonalScaling::symmetric,
         exchanges_of_pairs("1", "2 - 1/s", "s", 1), per_outer_step("1/s", [](double) { return 1.0; }),
         per_outer_step("(2s+1)(s+1)/s", [](double s) { return (2 * s + 1) * (s + 1); }),
         in_s("2s + 1", [](double s) { return 2 * s + 1; }),
         in_s("2 - 1/s", [](double s) { return 2 - 1 / s; }), flops_of_pairs("(4s^2+18s+7)/s", 1, 0),
         "as ca_bicgstab for half the work; stands twice the s", Quantity("", pair_or_one)},
        {"pipelined_cg", "Ghysels and Vanroose 2014, p-CG", DiagonalScaling::symmetric, 1, 1, 2, 5, 1, 22,
         "cg, its one all-reduce hidden behind the application of the operator; loose tolerances"},
        {"deep_pipelined_cg", "Cools, Cornelis and Vanroose 2019, Alg. 1", DiagonalScaling::symmetric, 1, 1,
         in_depth("l + 1", [](int l) { return l + 1; }),
         in_depth("2l + max(3, l)", [](int l) { return 2 * l + std::max(3, l); }), 1,
         in_depth("7l + 13", [](int l) { return 7 * l + 13; }),
         "l = bottom.depth all-reduces on their way, each hidden behind l applications; wants scaling = "
         "jacobi"},
        {"pipelined_bicgstab", "Cools and Vanroose 2017", DiagonalScaling::right, 2, 2, 7, 8, 2, 48,
         "bicgstab, each all-reduce hidden behind an application; bottom.replace_every for tight tolerances"},
        {"enlarged_cg", "Grigori and Tissot 2019; Lockhart 2023, Alg. 4.1, all-reduces fused",
         DiagonalScaling::symmetric, 1, by_variant(1, 2),
         by_variant(in_t("(t+1)^2", [](double t) { return (t + 1) * (t + 1); }),
                    in_t("3t^2 + t + 1", [](double t) { return 3 * t * t + t + 1; })),
         by_variant(in_t("4t", [](double t) { return 4 * t; }), in_t("3t", [](double t) { return 3 * t; })),
         in_t("t", columns),
         by_variant(in_t("about 7t^2 + 8t + 4", flops_of_orthodir),
                    in_t("12t^2 + 8t + 4", flops_of_orthomin)),
         "t directions at a time: fewer iterations for t times the work; variant orthomin where scaling = "
         "none",
         in_t("", columns)},
        {"sre_cg", "Grigori, Moufawad and Nataf 2016", DiagonalScaling::symmetric, 1, 4,
         in_t("(5t^2+3t)/2 + 1", [](double t) { return (5 * t * t + 3 * t) / 2 + 1; }),
         in_t("6t", [](double t) { return 6 * t; }), in_t("t", columns),
         in_t("about 15t^2 + 9t + 4", flops_of_sre_cg), "the iterates of enlarged_cg, to compare with",
         in_t("", columns)},
        {"smooth", "relaxation with multigrid.smoother", DiagonalScaling::none, 2, 0, 0, 0, 0, 13,
         "no all-reduce at all; only for bottom grids of a few cells"},
    };
    return methods;
}

std::vector<std::string> bottom_names() {
    std::vector<std::string> names;
    for (const BottomMethod& method : bottom_methods()) names.push_back(method.name);
    return names;
}

const BottomMethod& bottom_method(const std::string& name) {
    for (const BottomMethod& method : bottom_methods())
        if (method.name == name) return method;
    throw std::invalid_argument("unknown bottom solver " + name);
}

namespace {

// Of the system that the level makes with this scaling. L is positive semi-definite, and the rows of D^-1 L lie about 1.
Spectrum spectrum_of(const Level& level, DiagonalScaling scaling) {
    if (scaling == DiagonalScaling::none) return {0.0, level.gershgorin_bound};
    return {std::max(0.0, 2.0 - level.jacobi_bound), level.jacobi_bound};
}

}  // namespace

DiagonalScaling scaling_of(const BottomOptions& options) {
    return options.scaling == Scaling::none ? DiagonalScaling::none : bottom_method(options.solver).jacobi;
}

std::unique_ptr<KrylovMethod> make_method(const BottomOptions& options, LinearSystem& A,
                                          const Spectrum& spectrum) {
    const std::string& name = options.solver;
    const SStep s_step{options.s, options.basis, options.telescoping, options.powers, spectrum};
    if (name == "bicgstab") return make_bicgstab(A);
    if (name == "bicgstab_fused") return make_bicgstab_fused(A);
    if (name == "cg") return make_cg(A);
    if (name == "ca_bicgstab") return make_ca_bicgstab(A, s_step);
    if (name == "ca_cg") return make_ca_cg(A, s_step);
    if (name == "pipelined_cg") return make_pipelined_cg(A);
    if (name == "deep_pipelined_cg")
        return make_deep_pipelined_cg(A, options.depth, spectrum.lowest, spectrum.highest);
    if (name == "pipelined_bicgstab") return make_pipelined_bicgstab(A, options.replace_every);
    if (name == "enlarged_cg") return make_enlarged_cg(A, options.block, options.splitting, options.variant);
    if (name == "sre_cg") return make_sre_cg(A, options.block, options.splitting);
    throw std::invalid_argument("unknown bottom solver " + name);
}

namespace {

// The level's deep ghosts, where the options ask for them.
DeepGhosts deep_ghosts_of(Level& level, const BottomOptions& options) {
    const PowersNeed need = powers_need(options, level.layout.width());
    if (need.layers == 0) return {};
    check(level.deep_layers >= need.layers, "the bottom level has the ghost layers that the powers need");
    level.deep_ghosts->reserve(static_cast<std::size_t>(need.at_once));
    return {level.deep_ghosts.get(), level.deep_layers};
}

class PlainKrylov : public KrylovSolver {
  public:
    PlainKrylov(Level& level, bool singular, const BottomOptions& options)
        : level_(level),
          singular_(singular),
          stop_{options.tolerance, options.max_iterations, options.max_restarts},
          system_(level.bottom_operations, *level.ghosts, *level.reduction, level.L, scaling_of(options),
                  static_cast<std::size_t>(vectors_at_once(options)), deep_ghosts_of(level, options)),
          solver_(system_, make_method(options, system_, spectrum_of(level, scaling_of(options)))),
          y_(system_.make_vector()),
          b_(system_.make_vector()) {}

    Report solve(Field u, Field f) override {
        if (singular_) remove_mean(level_.bottom_operations, *level_.reduction, f);
        system_.scale_right_side(b_, f);
        Report report = solver_.solve(y_, b_, stop_);
        system_.unscale_solution(u, y_);
        return report;
    }

  private:
    Level& level_;
    bool singular_;
    Stop stop_;
    GridSystem system_;
    Solver solver_;
    Field y_, b_;
};

// Solves L M y = f, or L u = f with preconditioned CG, where y is u.
class PreconditionedKrylov : public KrylovSolver {
  public:
    PreconditionedKrylov(Level& level, bool singular, const BottomOptions& options, Preconditioner& M)
        : level_(level),
          singular_(singular),
          stop_{options.tolerance, options.max_iterations, options.max_restarts},
          L_(level.bottom_operations, *level.ghosts, *level.reduction, level.L, DiagonalScaling::none,
             static_cast<std::size_t>(vectors_at_once(options))) {
        if (options.solver == "cg") {
            solver_ = std::make_unique<Solver>(L_, make_preconditioned_cg(L_, M));
            return;
        }
        LM_.emplace(L_, M, static_cast<std::size_t>(vectors_at_once(options)));
        solver_ = std::make_unique<Solver>(*LM_, make_method(options, *LM_, {}));
        y_ = LM_->make_vector();
    }

    Report solve(Field u, Field f) override {
        if (singular_) remove_mean(level_.bottom_operations, *level_.reduction, f);
        Report report = solver_->solve(LM_ ? y_ : u, f, stop_);
        if (LM_) LM_->recover(u, y_);
        return report;
    }

  private:
    Level& level_;
    bool singular_;
    Stop stop_;
    GridSystem L_;
    std::optional<RightPreconditioned> LM_;
    std::unique_ptr<Solver> solver_;
    Field y_;
};
class KrylovBottom : public BottomSolver {
  public:
    KrylovBottom(Level& level, bool singular, const BottomOptions& options)
        : level_(level), krylov_(make_krylov(level_, singular, options)) {}

    Visit solve(Field u, Field f) override {
        const Report report = krylov_->solve(u, f);
        return {report.iterations, name(report.outcome),    report.vanished,
                report.restarts,   report.residuals.back(), report.true_residual,
                report.met,        report.columns_dropped,  report.counts};
    }

    Visit improve() override {  // u += L^-1 (f - L u)
        level_.ghosts->run(level_.u);
        level_.operations.residual(level_.r, level_.L, level_.u, level_.f);
        const Visit visit = solve(level_.r, level_.r);
        level_.operations.axpby(level_.u, 1, level_.u, 1, level_.r);
        return visit;
    }

  private:
    Level& level_;
    std::unique_ptr<KrylovSolver> krylov_;
};

class SmoothBottom : public BottomSolver {
  public:
    SmoothBottom(Level& level, bool singular, int sweeps, const MultigridOptions& options)
        : level_(level), singular_(singular), sweeps_(sweeps), options_(options) {}

    Visit solve(Field u, Field f) override {
        check(u == level_.u && f == level_.f, "relaxation works on the level's own fields");
        if (singular_) remove_mean(level_.bottom_operations, *level_.reduction, f);
        level_.bottom_operations.fill(u, 0.0);
        return improve();
    }

    Visit improve() override {
        (options_.symmetric ? smooth_symmetric : smooth)(level_, level_.bottom_operations, sweeps_, options_);
        return {sweeps_, "not_tested", "", 0, std::nullopt, std::nullopt, true, 0, {}};
    }

  private:
    Level& level_;
    bool singular_;
    int sweeps_;
    MultigridOptions options_;
};

std::unique_ptr<BottomSolver> make_solver_on(Level& level, bool singular, const BottomOptions& bottom,
                                             const MultigridOptions& multigrid) {
    if (bottom.solver == "smooth")
        return std::make_unique<SmoothBottom>(level, singular, bottom.sweeps, multigrid);
    return std::make_unique<KrylovBottom>(level, singular, bottom);
}

// A solver on the level that a bottom grid has elsewhere; ranks without it wait for the others.
class MovedBottom : public BottomSolver {
  public:
    MovedBottom(Level& spread, BottomGrid& grid, bool singular, const BottomOptions& bottom,
                const MultigridOptions& multigrid)
        : spread_(spread), grid_(grid) {
        if (grid.level()) solver_ = make_solver_on(*grid.level(), singular, bottom, multigrid);
    }

    Visit solve(Field u, Field f) override {
        collect(f, level().f);
        const Visit visit = solver_ ? solver_->solve(level().u, level().f) : elsewhere();
        grid_.spread(std::span(&level().u, 1), std::span(&u, 1));
        return visit;
    }

    Visit improve() override {
        collect(spread_.u, level().u);
        collect(spread_.f, level().f);
        const Visit visit = solver_ ? solver_->improve() : elsewhere();
        grid_.spread(std::span(&level().u, 1), std::span(&spread_.u, 1));
        return visit;
    }

  private:
    Level& level() { return grid_.level() ? *grid_.level() : spread_; }
    void collect(Field from, Field to) { grid_.collect(std::span(&from, 1), std::span(&to, 1)); }
    static Visit elsewhere() {
        Visit visit;
        visit.outcome = "on_other_ranks";
        return visit;
    }

    Level& spread_;
    BottomGrid& grid_;
    std::unique_ptr<BottomSolver> solver_;
};

}  // namespace

int vectors_at_once(const BottomOptions& options) {
    return static_cast<int>(bottom_method(options.solver).at_once.of(options));
}

double application_flops(const BottomOptions& options) {
    const DiagonalScaling scaling = scaling_of(options);
    return Apply::cost.flops + (scaling == DiagonalScaling::none    ? 0
                                : scaling == DiagonalScaling::right ? Multiply::cost.flops
                                                                    : 2 * Multiply::cost.flops);
}

PowersNeed powers_need(const BottomOptions& options, int width) {
    const bool cg = options.solver == "ca_cg";
    if (options.powers != Powers::matrix_powers || (!cg && options.solver != "ca_bicgstab")) return {};
    const int degree = (cg ? 1 : 2) * options.s;
    const int layers = std::min({options.powers_depth > 0 ? options.powers_depth : degree, degree, width});
    // A recurrence of three terms goes on from two vectors of each basis.
    const bool two = options.basis == Basis::chebyshev && layers > 1 && degree > layers + 1;
    return {layers, two ? 4 : 2};
}

int bottom_fields(const BottomOptions& options) {
    return options.solver == "smooth" ? 0 : krylov_fields(options, false);
}

int krylov_fields(const BottomOptions& options, bool preconditioned) {
    const int of_method = static_cast<int>(bottom_method(options.solver).vectors.of(options));
    const int of_solver = 2;  // the residual and the best iterate
    if (!preconditioned)      // y, b
        return of_method + of_solver + 2 + GridSystem::fields(scaling_of(options), vectors_at_once(options));
    return of_method + of_solver + 1 +
           (options.solver == "cg" ? 0 : vectors_at_once(options));  // z, or y and M x
}

bool accepts_preconditioner(const BottomMethod& method) {
    return method.name == "cg" || method.jacobi == DiagonalScaling::right;
}

std::vector<std::string> preconditionable() {
    std::vector<std::string> names;
    for (const BottomMethod& method : bottom_methods())
        if (accepts_preconditioner(method)) names.push_back(method.name);
    return names;
}

std::unique_ptr<KrylovSolver> make_krylov(Level& level, bool singular, const BottomOptions& options,
                                          Preconditioner* M) {
    if (!M) return std::make_unique<PlainKrylov>(level, singular, options);
    if (!accepts_preconditioner(bottom_method(options.solver)) || options.scaling != Scaling::none ||
        (options.solver == "ca_bicgstab" &&
         (options.basis != Basis::monomial || options.powers == Powers::matrix_powers)))
        throw std::invalid_argument(options.solver + ": no such preconditioned method");
    return std::make_unique<PreconditionedKrylov>(level, singular, options, *M);
}

std::unique_ptr<BottomSolver> make_bottom(Hierarchy& hierarchy, const BottomOptions& bottom,
                                          const MultigridOptions& multigrid) {
    if (BottomGrid* const grid = hierarchy.bottom_grid())
        return std::make_unique<MovedBottom>(hierarchy.bottom(), *grid, hierarchy.singular(), bottom,
                                             multigrid);
    return make_solver_on(hierarchy.bottom(), hierarchy.singular(), bottom, multigrid);
}

}  // namespace keel
