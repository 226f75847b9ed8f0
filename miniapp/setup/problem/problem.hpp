#pragma once

// The problem by formulas: coefficients, right-hand sides, exact solution. All formulas take coordinates that
// run from 0 to 1 along each side of the domain, so that they have its period whatever its shape.

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "kernels/layout/layout.hpp"
#include "miniapp/deck/parameters.hpp"
#include "miniapp/setup/problem/file_values.hpp"
#include "solvers/multigrid/hierarchy.hpp"

namespace keel {

// The fraction of a alpha that rounding may take from D = a alpha + SUM c and then from 1 / D where nothing
// else keeps the operator from being singular: eps times the largest SUM c / (a alpha). 0 with a = 0, and
// with a boundary value.
double loss_of_a(const ProblemOptions& parameters, double spacing, bool has_dirichlet);

// Why rounding may lose digits of u that a residual within the tolerance does not determine, how many, and
// the remedy; empty where it loses at most 1e-6 of u.
std::string warning_of_lost_digits(const ProblemOptions& problem, const Domain& domain);

// a = 0 and no Dirichlet face: constants are in the null space.
inline bool is_singular(const ProblemOptions& parameters, bool has_dirichlet) {
    return parameters.a == 0.0 && !has_dirichlet;
}

// A function of one coordinate, tabulated for a line of cells: place 2 i is the lower face of cell i, 2 i + 1
// its centre.
class LineFunction {
  public:
    LineFunction() = default;
    LineFunction(int cells, std::function<double(double)> function);
    double operator()(int place) const {
        const auto n = static_cast<std::size_t>(place);
        return n < values_.size() ? values_[n] : function_(0.5 * place / cells_);
    }

  private:
    int cells_ = 1;
    std::function<double(double)> function_;
    std::vector<double> values_;  // empty where there are too many places
};

class Problem {
  public:
    // Reads the boxes of files.
    Problem(const ProblemOptions& parameters, const Layout& finest);

    // Coefficients and right-hand sides become those of the n-th step; formulas that were handed out, too.
    void at_step(int n);
    bool drifts() const { return parameters_.drift != Triple{}; }

    // The finest operator: a alpha at cells, c = w b beta / h^2 at faces (kernels/bodies/stencil.hpp).
    OperatorFormulas operator_formulas() const;

    // f at the cells of the level whose cells are `ratio` finest cells wide. For the manufactured solution f
    // is the finite-volume integral of the exact fluxes, a alpha u - b/h SUM_f (+-) beta_f du/dn(face), with
    // the level's own (averaged) alpha and beta: so u is known for every coefficient, jumps included, and the
    // discretisation must reach it with order 2. Where boxes are missing u is the boundary value, or its flux
    // is.
    Formula right_side(int ratio = 1) const;
    // f without what boundary values add to it.
    Formula source(int ratio = 1) const;
    bool has_data() const { return parameters_.data != BoundaryData::zero; }

    Formula exact_solution(int ratio = 1) const;

    double loss_of_a() const { return keel::loss_of_a(parameters_, h_, has_dirichlet_); }
    bool singular() const { return is_singular(parameters_, has_dirichlet_); }

  private:
    using Point = std::array<double, 3>;

    Index finest_cells(int ratio) const;  // finest cells in a cell, in each direction
    // The centre of one of n cells in each direction. In two dimensions z = 0: waves and lines do not notice
    // it there.
    Point centre(const Index& cell, const Index& n) const;
    double alpha(const Point& x) const;
    double beta(const Point& x) const;
    double beta_at(const Index& place) const;                // in halves of finest cells, as in LineFunction
    double smooth_beta(double x, double y, double z) const;  // by the wave along each direction
    void tabulate_waves();
    double mean_alpha(const Index& cell, int ratio) const;
    double mean_beta(std::size_t direction, const Index& face,
                     int ratio) const;  // over the fine faces that tile it
    double manufactured_right_side(const Index& cell, int ratio) const;
    double data(const Point& x) const;  // u on a Dirichlet face, by a formula
    double data_part(const Index& cell) const;
    double dirichlet_part(std::size_t direction, const Index& face, int ratio, double g) const;
    ProblemOptions parameters_;
    Layout finest_;
    Index cells_;  // finest cells around the domain
    double h_;     // spacing of the finest level
    int step_ = 0;
    Boundaries boundary_;
    bool has_dirichlet_;
    std::array<LineFunction, 3> wave_;    // for smooth coefficients
    std::array<LineFunction, 3> factor_;  // the manufactured u is their product
    std::array<LineFunction, 3> slope_;   // derivatives of the factors
    FileValues of_files_;
};

// f of the finest level; where the problem is singular, less its mean, which is returned over max|f|.
// Collective.
double set_right_side(Level& finest, const Problem& problem);

}  // namespace keel
