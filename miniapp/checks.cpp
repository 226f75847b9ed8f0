#include "miniapp/checks.hpp"

#include <cmath>

#include "miniapp/parameters.hpp"

namespace keel {
namespace {

double dot(Level& level, Field x, Field y) {
    std::vector<double> parts(static_cast<std::size_t>(level.layout.local_count()));
    const Product product{x, y};
    double result = 0;
    level.plain->dots(std::span(&product, 1), parts);
    level.reduction->sum(parts, std::span(&result, 1));
    return result;
}

double max_norm(Level& level, Field u) {
    double norm = 0;
    level.plain->max_norm(u, norm);
    return level.reduction->max(norm);
}

Region all_cells(const Level& level) {
    return cube(level.layout.width());
}

Check residual_recomputed(Level& level, double tolerance) {
    level.ghosts->run(level.u);
    level.plain->residual(level.r, level.L, level.u, level.f);
    const double norm_f = max_norm(level, level.f);
    const double value = norm_f > 0 ? max_norm(level, level.r) / norm_f : max_norm(level, level.r);
    // The cycle's own residual met the tolerance; another order of summation may differ in the last digits.
    return {"residual_recomputed", value <= 1.001 * tolerance, value, "<= multigrid.tolerance"};
}

// The L2 norm of u - exact, the mean removed where the problem leaves it open. Overwrites r.
double error(Level& level, const Problem& problem, int ratio) {
    level.plain->assign(level.r, all_cells(level), problem.exact_solution(ratio));
    level.plain->axpby(level.r, 1, level.u, -1, level.r);
    if (problem.singular()) remove_mean(*level.plain, *level.reduction, level.r);
    return l2_norm(level, level.r);
}

Check discretisation_order(Hierarchy& hierarchy, Multigrid& multigrid, const Problem& problem) {
    const double fine = error(hierarchy.level(0), problem, 1);
    Level& coarse = hierarchy.level(1);
    coarse.plain->assign(coarse.f, all_cells(coarse), problem.right_side(2));
    multigrid.solve(1);
    const double order = std::log2(error(coarse, problem, 2) / fine);
    return {"discretisation_order", order >= 1.8 && order <= 2.2, order, "1.8..2.2"};
}

Check operator_symmetry(Hierarchy& hierarchy) {
    double worst = 0;
    for (int l = 0; l < hierarchy.levels(); ++l) {
        Level& level = hierarchy.level(l);
        // Any two vectors without structure will do; these need no seed.
        const auto noise = [](double a, double b) {
            return [a, b](const Index& c) { return std::sin(a * c[0] + b * c[1] * c[1] + a * b * c[2] + a); };
        };
        level.plain->assign(level.u, all_cells(level), noise(1.7, 2.3));
        level.plain->assign(level.f, all_cells(level), noise(2.9, 1.1));
        level.ghosts->run(level.u);
        level.plain->apply(level.r, level.L, level.u);
        const double Lx_y = dot(level, level.r, level.f);
        const double size = std::sqrt(dot(level, level.r, level.r) * dot(level, level.f, level.f));
        level.ghosts->run(level.f);
        level.plain->apply(level.r, level.L, level.f);
        const double x_Ly = dot(level, level.u, level.r);
        // One cell with itself as neighbour makes L = 0 where a = 0.
        if (size > 0) worst = std::max(worst, std::abs(Lx_y - x_Ly) / size);
    }
    return {"operator_symmetry", worst < 1e-12, worst, "< 1e-12"};
}

}  // namespace

double l2_norm(Level& level, Field u) {
    const double h = level.layout.spacing();
    return std::sqrt(h * h * h * dot(level, u, u));
}

std::vector<Check> run_checks(Hierarchy& hierarchy, Multigrid& multigrid, const Problem& problem,
                              double tolerance) {
    std::vector<Check> checks;
    checks.push_back(residual_recomputed(hierarchy.level(0), tolerance));
    if (problem.has_exact_solution() && hierarchy.levels() > 1)
        checks.push_back(discretisation_order(hierarchy, multigrid, problem));
    checks.push_back(operator_symmetry(hierarchy));
    return checks;
}

}  // namespace keel
