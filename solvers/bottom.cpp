#include "solvers/bottom.hpp"

#include <stdexcept>

#include "kernels/check.hpp"
#include "solvers/smoother.hpp"

namespace keel {

const std::vector<BottomMethod>& bottom_methods() {
    static const std::vector<BottomMethod> methods{
        {"bicgstab", "van der Vorst 1992; Williams et al. 2014, Alg. 1", DiagonalScaling::right, 2, 6, 6, 5,
         "the papers' baseline: every inner product waits for its own all-reduce"},
        {"bicgstab_fused", "the same recurrences, inner products fused", DiagonalScaling::right, 2, 2, 6, 5,
         "the default to compare with: a third of the all-reduces at no cost"},
        {"cg", "Hestenes and Stiefel 1952; Saad, Alg. 6.18", DiagonalScaling::symmetric, 1, 2, 2, 2,
         "the operator is symmetric: half the work of BiCGStab per iteration"},
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

std::unique_ptr<KrylovMethod> make_method(const std::string& name, LinearSystem& A) {
    if (name == "bicgstab") return make_bicgstab(A);
    if (name == "bicgstab_fused") return make_bicgstab_fused(A);
    if (name == "cg") return make_cg(A);
    throw std::invalid_argument("unknown bottom solver " + name);
}

class KrylovBottom : public BottomSolver {
  public:
    KrylovBottom(Hierarchy& hierarchy, const BottomOptions& options)
        : level_(hierarchy.bottom()),
          singular_(hierarchy.singular()),
          stop_{options.tolerance, options.max_iterations, options.max_restarts},
          system_(level_.bottom_operations, *level_.ghosts, *level_.reduction, level_.L, scaling_of(options)),
          solver_(system_, make_method(options.solver, system_)),
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
    const int of_scaling = scaling_of(options) == DiagonalScaling::none    ? 0
                           : scaling_of(options) == DiagonalScaling::right ? 1
                                                                           : 2;
    return static_cast<int>(bottom_method(options.solver).vectors.of(options)) + 4 +
           of_scaling;  // y, b; the solver's residual and best iterate
}

std::unique_ptr<BottomSolver> make_bottom(Hierarchy& hierarchy, const BottomOptions& bottom,
                                          const MultigridOptions& multigrid) {
    if (bottom.solver == "smooth") return std::make_unique<SmoothBottom>(hierarchy, bottom.sweeps, multigrid);
    return std::make_unique<KrylovBottom>(hierarchy, bottom);
}

}  // namespace keel
