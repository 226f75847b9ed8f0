#pragma once

// Anderson acceleration of fixed points x = G(x): Anderson 1965; Walker and Ni, SIAM J. Numer. Anal. 49
// (2011), 1715; kept by a QR factorisation as in Lockhart 2023, Algs. 6.2, 6.3, 6.5 and 6.6. Of the last m
// differences of f = G(x) - x those that cancel f best are found by least squares, and the same combination
// of the differences of G is taken from G(x).
//
// Per iteration: one evaluation of G, the all-reduces of the orthogonalisation (orthogonalise/), 2 of them in
// its fused forms, and that of the test: none where a fused form stops by |f|_2. Vectors beside x: 2 m + 5,
// and those of a composite inner one.
//
// Weaknesses: alternate Picard iterations (inner = picard) ruin the condition of R where G does not contract:
// without condition control they end in values that are not finite on the heat source 2 in 64^2 cells. A
// composite takes fewer iterations but was never seen to take fewer evaluations.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/names.hpp"
#include "solvers/orthogonalise/orthogonalisers.hpp"
#include "solvers/systems/linear_system.hpp"

namespace keel {

// The solves inside of a map's evaluations so far; nothing where there are none.
struct MapWork {
    std::optional<long> cycles = {};    // V-cycles
    std::optional<long> unsolved = {};  // evaluations whose cycles missed the tolerance
    std::optional<long> bottom_iterations = {};
    long visits = 0;  // to the bottom

    friend MapWork operator-(MapWork a, const MapWork& b) {
        for (const auto number : {&MapWork::cycles, &MapWork::unsolved, &MapWork::bottom_iterations})
            if (a.*number) *(a.*number) -= *(b.*number);
        a.visits -= b.visits;
        return a;
    }
};

// A map whose fixed point is sought. Collective.
class FixedPoint {
  public:
    using Vector = LinearSystem::Vector;
    virtual ~FixedPoint() = default;
    virtual void evaluate(Vector g, Vector x) = 0;  // g = G(x); x is not changed
    // Whether the map knows a norm of what is to vanish at its fixed point; that, formed before each
    // iteration, then is the test.
    virtual bool has_residual() const { return false; }
    virtual double residual(Vector) { return 0; }
    virtual MapWork work() const { return {}; }
};

// The quantity that is compared with the tolerance: max|x_{i+1} - x_i|, max|G(x_i) - x_i| or its 2-norm.
enum class AndersonTest { step, residual, residual_2 };
constexpr auto names_of(AndersonTest) {
    return std::array{"step", "residual", "residual_2"};
}

enum class AndersonOutcome { converged, iteration_limit, not_finite, diverged, not_verified };
constexpr auto names_of(AndersonOutcome) {
    return std::array{"converged", "iteration_limit", "not_finite", "diverged", "not_verified"};
}

struct AndersonOptions {
    int depth = 5;  // differences kept; 0: Picard's iteration
    // "icwy/mgs": icwy, and mgs in the inner acceleration of a composite; one name is for both.
    std::string orthogonalisation = "dcgs2_fused";
    double damping = 1.0;        // factor of f; 1: none
    double max_condition = 1e8;  // of R, beyond which the oldest differences go; 0: they stay
    // Depth of an inner acceleration from each new x, one iteration more than it is deep (composite); 0:
    // none; picard: every second iteration is Picard's (alternating).
    int inner = 0;
    static constexpr int picard = -1;
    AndersonTest test = AndersonTest::step;
    double tolerance = 1e-10;
    int max_iterations = 100;

    const Orthogonaliser& outer() const;  // the method but of an inner acceleration
};

struct AndersonReport {
    AndersonOutcome outcome = AndersonOutcome::iteration_limit;
    int iterations = 0;
    int evaluations = 0;  // G(x) formed, without the one that verifies
    // The quantity tested, in each iteration; with a residual of the map's own, also before the first.
    std::vector<double> history;
    double true_residual = 0;  // max|G(x) - x| of the x returned, or the map's own residual
    int dropped = 0;           // columns, by the control of the condition
    int dependent = 0;         // differences that were not taken since nothing of them was left
    QRCost orthogonalisation;  // all-reduces and words counted
    Counts counts;             // of the system, G's by it included

    bool converged() const { return outcome == AndersonOutcome::converged; }
};

class Anderson {
  public:
    using Vector = LinearSystem::Vector;

    // The system is for its vectors and their sums; its operator plays no part. It must outlive this object.
    Anderson(LinearSystem& system, const AndersonOptions& options);
    // All-reduces and words that the orthogonalisation takes in `iterations` iterations, where no column is
    // dependent or dropped.
    static QRCost predicted(const AndersonOptions& options, int iterations);

    // Iterates from x, in place. Convergence is accepted if max|G(x) - x|, recomputed, is at most `slack`
    // times the tolerance: only the test of a small step can be met by a larger residual. Steps left at most
    // 0.2 of the tolerance in the 73 solves of golden files that converge (test_anderson, [nightly]); of
    // damping b they leave 1 / b of it, so that below a tenth the other tests are wanted. Where a G(x) is not
    // finite, x is the one that led there. Collective.
    static constexpr double slack = 10;
    AndersonReport solve(Vector x, FixedPoint& G);

  private:
    void iterate(Vector x, FixedPoint& G, bool tests, AndersonReport& report);
    bool ends(double norm, AndersonReport& report) const;
    double norm_of_f(bool appended);
    void remember(AndersonReport& report);
    Vector make_step(bool accelerated, AndersonReport& report);
    void book(const Counts& before, AndersonReport& report) const;

    LinearSystem& A_;
    AndersonOptions options_;
    std::unique_ptr<QR> qr_;           // none without depth
    std::unique_ptr<Anderson> inner_;  // of a composite
    Vector g_, g_old_, f_, f_old_;
    Vector y_;                // x and the inner iterations' steps
    std::vector<Vector> dg_;  // oldest first, as the columns of X
    std::vector<double> factors_;
    std::vector<Vector> terms_;
};

}  // namespace keel
