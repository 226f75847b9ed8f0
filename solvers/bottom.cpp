#include "solvers/bottom.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels/check.hpp"
#include "solvers/smoother.hpp"

namespace keel {

namespace {

// A number of the methods with a pipeline of depth l.
Quantity in_depth(const std::string& text, int (*formula)(int l)) {
    return {text, [formula](const BottomOptions& o) { return formula(o.depth); }};
}

}  // namespace

const std::vector<BottomMethod>& bottom_methods() {
    static const std::vector<BottomMethod> methods{
        {"bicgstab", "van der Vorst 1992; Williams et al. 2014, Alg. 1", DiagonalScaling::right, 2, 6, 6, 5,
         "the papers' baseline: every inner product waits for its own all-reduce"},
        {"bicgstab_fused", "the same recurrences, inner products fused", DiagonalScaling::right, 2, 2, 6, 5,
         "the default to compare with: a third of the all-reduces at no cost"},
        {"cg", "Hestenes and Stiefel 1952; Saad, Alg. 6.18", DiagonalScaling::symmetric, 1, 2, 2, 2,
         "the operator is symmetric: half the work of BiCGStab per iteration"},
        {"pipelined_cg", "Ghysels and Vanroose 2014, p-CG", DiagonalScaling::symmetric, 1, 1, 2, 5,
         "cg, its one all-reduce hidden behind the application of the operator; loose tolerances"},
        {"deep_pipelined_cg", "Cools, Cornelis and Vanroose 2019, Alg. 1", DiagonalScaling::symmetric, 1, 1,
         in_depth("l + 1", [](int l) { return l + 1; }),
         in_depth("2l + max(3, l)", [](int l) { return 2 * l + std::max(3, l); }),
         "l = bottom.depth all-reduces on their way, each hidden behind l applications; wants scaling = "
         "jacobi"},
        {"pipelined_bicgstab", "Cools and Vanroose 2017", DiagonalScaling::right, 2, 2, 7, 8,
         "bicgstab, each all-reduce hidden behind an application; bottom.replace_every for tight tolerances"},
        {"smooth", "relaxation with multigrid.smoother", DiagonalScaling::none, 2, 0, 0, 0,
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

DiagonalScaling scaling_of(const BottomOptions& options) {
    return options.scaling == Scaling::none ? DiagonalScaling::none : bottom_method(options.solver).jacobi;
}

// L is positive semi-definite, and the rows of D^-1 L lie about 1.
std::unique_ptr<KrylovMethod> make_deep_pipeline(const BottomOptions& options, LinearSystem& A,
                                                 const Level& level) {
    if (scaling_of(options) == DiagonalScaling::none)
        return make_deep_pipelined_cg(A, options.depth, 0.0, level.gershgorin_bound);
    return make_deep_pipelined_cg(A, options.depth, std::max(0.0, 2.0 - level.jacobi_bound),
                                  level.jacobi_bound);
}

std::unique_ptr<KrylovMethod> make_method(const BottomOptions& options, LinearSystem& A, const Level& level) {
    const std::string& name = options.solver;
    if (name == "bicgstab") return make_bicgstab(A);
    if (name == "bicgstab_fused") return make_bicgstab_fused(A);
    if (name == "cg") return make_cg(A);
    if (name == "pipelined_cg") return make_pipelined_cg(A);
    if (name == "deep_pipelined_cg") return make_deep_pipeline(options, A, level);
    if (name == "pipelined_bicgstab") return make_pipelined_bicgstab(A, options.replace_every);
    throw std::invalid_argument("unknown bottom solver " + name);
}

class KrylovBottom : public BottomSolver {
  public:
    KrylovBottom(Hierarchy& hierarchy, const BottomOptions& options)
        : level_(hierarchy.bottom()),
          singular_(hierarchy.singular()),
          stop_{options.tolerance, options.max_iterations, options.max_restarts},
          system_(level_.bottom_operations, *level_.ghosts, *level_.reduction, level_.L, scaling_of(options)),
          solver_(system_, make_method(options, system_, level_)),
          y_(system_.make_vector()),
          b_(system_.make_vector()) {}

    Visit solve(Field u, Field f) override {
        if (singular_) remove_mean(level_.bottom_operations, *level_.reduction, f);
        system_.scale_right_side(b_, f);
        const Report report = solver_.solve(y_, b_, stop_);
        system_.unscale_solution(u, y_);
        return {report.iterations,    name(report.outcome), report.vanished,
                report.true_residual, report.met,           report.counts};
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
    bool singular_;
    Stop stop_;
    GridSystem system_;
    Solver solver_;
    Field y_, b_;
};

class SmoothBottom : public BottomSolver {
  public:
    SmoothBottom(Hierarchy& hierarchy, int sweeps, const MultigridOptions& options)
        : level_(hierarchy.bottom()), singular_(hierarchy.singular()), sweeps_(sweeps), options_(options) {}

    Visit solve(Field u, Field f) override {
        check(u == level_.u && f == level_.f, "relaxation works on the level's own fields");
        if (singular_) remove_mean(level_.bottom_operations, *level_.reduction, f);
        level_.bottom_operations.fill(u, 0.0);
        return improve();
    }

    Visit improve() override {
        smooth(level_, level_.bottom_operations, sweeps_, options_);
        return {sweeps_, "not_tested", "", std::nullopt, true, {}};
    }

  private:
    Level& level_;
    bool singular_;
    int sweeps_;
    MultigridOptions options_;
};

}  // namespace

int bottom_fields(const BottomOptions& options) {
    if (options.solver == "smooth") return 0;
    const int of_system = GridSystem::fields(scaling_of(options), 1);
    return static_cast<int>(bottom_method(options.solver).vectors.of(options)) + 4 +
           of_system;  // y, b; the solver's residual and best iterate
}

std::unique_ptr<BottomSolver> make_bottom(Hierarchy& hierarchy, const BottomOptions& bottom,
                                          const MultigridOptions& multigrid) {
    if (bottom.solver == "smooth") return std::make_unique<SmoothBottom>(hierarchy, bottom.sweeps, multigrid);
    return std::make_unique<KrylovBottom>(hierarchy, bottom);
}

}  // namespace keel
