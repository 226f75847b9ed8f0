#pragma once

// Methods of the table, and a problem as a linear system of one level that they solve.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/systems/grid_system.hpp"
#include "tests/solvers/golden_problem.hpp"

namespace keel::test {

using Make = std::function<std::unique_ptr<KrylovMethod>(LinearSystem&)>;

// For a system whose eigenvalues lie in the spectrum; solver of the options plays no part.
inline Make made(const std::string& solver, const BottomOptions& options = {},
                 const Spectrum& spectrum = {}) {
    return [=](LinearSystem& A) { return method_named(solver).make({A, options, spectrum}); };
}

// Solves of one system by one method, under the verify-and-restart rule.
class Restarted {
  public:
    Restarted(LinearSystem& A, const Make& make) : A_(A), method_(make(A)), own_(A) {}

    Report solve(Field x, Field b, const Stop& stop) {
        return verify_and_restart(A_, *method_, own_, x, b, stop);
    }

  private:
    LinearSystem& A_;
    std::unique_ptr<KrylovMethod> method_;
    RestartVectors own_;
};

inline const Problem rough{.boxes = {2, 2, 2}, .width = 4, .beta = "smooth10", .alpha = "wave"};

// A y = b belongs to L u = f: y and b are scaled as A is. Each solve takes its b from f of the level.
struct OneLevel {
    explicit OneLevel(const Problem& problem, DiagonalScaling chosen = DiagonalScaling::none,
                      const HierarchyOptions& options = {}, bool powers_in_one_pass = false,
                      const Communicator& comm = Communicator::world(),
                      Placement placement = Placement::curve)
        : scaling(chosen),
          setup(problem, with_bottom(options, problem.width), comm, placement),
          level(setup.finest()),
          A(level.operations, *level.ghosts, *level.reduction, level.L, scaling, most_vectors,
            {level.deep_ghosts.get(), level.deep_layers, powers_in_one_pass}, problem.singular()),
          b(A.make_vector()),
          y(A.make_vector()) {}

    Report solve(const Make& make, const Stop& stop) {
        Restarted solver(A, make);
        return solve(solver, stop);
    }
    Report solve(Restarted& solver, const Stop& stop) {
        A.scale_right_side(b, level.f);
        const Report report = solver.solve(y, b, stop);
        A.unscale_solution(level.u, y);
        return report;
    }

    std::vector<double> solution() { return level.plain->read(y, cube(level.layout.width())); }
    double residual() {  // |b - A y| / |b|, formed anew
        const Field r = A.make_vector();
        A.residual(r, b, y);
        return std::sqrt(A.dot(r, r) / A.dot(b, b));
    }
    double distance(Field x, Field reference) {  // |x - reference| / |reference|
        const Field d = A.make_vector();
        A.axpby(d, 1, x, -1, reference);
        return std::sqrt(A.dot(d, d) / A.dot(reference, reference));
    }
    double distance(Field reference) { return distance(y, reference); }

    static constexpr std::size_t most_vectors = 8;  // operands of one application
    DiagonalScaling scaling;
    Setup setup;
    Level& level;
    GridSystem A;
    Field b, y;

  private:
    static HierarchyOptions with_bottom(HierarchyOptions options, int width) {
        options.bottom_box = width;
        return options;
    }
};

// A method by the name that a failing test shows, and the scaling that it is tried with.
struct Tried {
    std::string name;
    Make make;
    DiagonalScaling scaling = DiagonalScaling::none;
};

// Deep pipelined CG; without bounds, for a system scaled by its diagonal.
inline Make deep(int depth, const Spectrum& spectrum = {0.0, 2.0}) {
    return made("deep_pipelined_cg", {.depth = depth}, spectrum);
}
inline Make pipelined_bicgstab(int replace_every) {
    return made("pipelined_bicgstab", {.replace_every = replace_every});
}

inline std::vector<Tried> pipelined_cg_family() {
    constexpr auto scaled = DiagonalScaling::symmetric;
    return {{"p-CG", made("pipelined_cg"), scaled},
            {"p(1)-CG", deep(1), scaled},
            {"p(2)-CG", deep(2), scaled},
            {"p(3)-CG", deep(3), scaled},
            {"p(5)-CG", deep(5), scaled},
            {"PR-CG", made("pr_cg"), scaled},
            {"PIPE-PR-CG", made("pipelined_pr_cg"), scaled}};
}
inline std::vector<Tried> pipelined_methods() {
    std::vector<Tried> methods = pipelined_cg_family();
    methods.push_back({"p-BiCGStab", pipelined_bicgstab(0), DiagonalScaling::symmetric});
    methods.push_back({"p-BiCGStab with replacement", pipelined_bicgstab(3), DiagonalScaling::symmetric});
    return methods;
}

}  // namespace keel::test
