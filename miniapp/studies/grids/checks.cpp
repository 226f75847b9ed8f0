#include "miniapp/studies/grids/checks.hpp"

#include <cmath>

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

// The L2 norm of u - exact, the mean removed where the problem leaves it open. Overwrites r.
double error(Level& level, const Problem& problem, int ratio) {
    level.plain->assign(level.r, all_cells(level), problem.exact_solution(ratio));
    level.plain->axpby(level.r, 1, level.u, -1, level.r);
    if (problem.singular()) remove_mean(*level.plain, *level.reduction, level.r);
    return l2_norm(level, level.r);
}

// Two vectors without structure, which need no seed.
void fill_with_noise(Level& level, Field x, Field y) {
    const auto noise = [](double a, double b) {
        return [a, b](const Index& c) { return std::sin(a * c[0] + b * c[1] * c[1] + a * b * c[2] + a); };
    };
    level.plain->assign(x, all_cells(level), noise(1.7, 2.3));
    level.plain->assign(y, all_cells(level), noise(2.9, 1.1));
}

}  // namespace

Check residual_recomputed(Level& level, double tolerance) {
    level.ghosts->run(level.u);
    level.plain->residual(level.r, level.L, level.u, level.f);
    const double norm_f = max_norm(level, level.f);
    const double value = norm_f > 0 ? max_norm(level, level.r) / norm_f : max_norm(level, level.r);
    // The cycle's own residual met the tolerance; another order of summation may differ in the last digits.
    return {"residual_recomputed", value <= 1.001 * tolerance, value, "<= multigrid.tolerance"};
}

Check residual_recomputed(Level& level, DiagonalScaling scaling, double tolerance) {
    level.ghosts->run(level.u);
    level.plain->residual(level.r, level.L, level.u, level.f);
    const auto norm = [&](Field x) {
        if (scaling == DiagonalScaling::symmetric) {  // |D^-1/2 x|
            level.plain->multiply(level.u, level.L.inverse_diagonal, x);
            return std::sqrt(dot(level, level.u, x));
        }
        return std::sqrt(dot(level, x, x));
    };
    const double norm_r = norm(level.r);
    const double norm_f = norm(level.f);
    const double value = norm_f > 0 ? norm_r / norm_f : norm_r;
    return {"residual_recomputed", value <= 1.001 * tolerance, value, "<= bottom.tolerance"};
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
        fill_with_noise(level, level.u, level.f);
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

Check preconditioner_symmetry(Hierarchy& hierarchy, Preconditioner& M) {
    Level& level = hierarchy.level(0);
    const Field Mx = level.plain->make_field();
    fill_with_noise(level, level.u, level.f);
    if (hierarchy.singular())  // where M is symmetric on vectors of mean 0
        for (const Field x : {level.u, level.f}) remove_mean(*level.plain, *level.reduction, x);
    M.apply(Mx, level.u);
    const double Mx_y = dot(level, Mx, level.f);
    const double size = std::sqrt(dot(level, Mx, Mx) * dot(level, level.f, level.f));
    M.apply(Mx, level.f);
    const double value = std::abs(Mx_y - dot(level, level.u, Mx)) / size;
    return {"preconditioner_symmetry", value < 1e-12, value, "< 1e-12"};
}

double l2_norm(Level& level, Field u) {
    const double h = level.layout.spacing();
    return std::sqrt(h * h * h * dot(level, u, u));
}

}  // namespace keel
