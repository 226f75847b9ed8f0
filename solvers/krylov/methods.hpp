#pragma once

// The methods that solve on the bottom grid, and alone: what each is for, where it is from, what an iteration
// costs and how it is made. A method is one file, which ends in its row; the list in methods.cpp names it,
// and nothing else does.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/bodies/diagonal_scaling.hpp"
#include "solvers/krylov/options.hpp"
#include "solvers/krylov/single_launch/launched_solve.hpp"

namespace keel {

class KrylovMethod;
struct MethodSetup;

// A number of a row: fixed, or by a formula in the options.
class Quantity {
  public:
    Quantity(int value)
        : text_(std::to_string(value)), formula_([value](const BottomOptions&) { return value; }) {}
    Quantity(std::string text, std::function<double(const BottomOptions&)> formula)
        : text_(std::move(text)), formula_(std::move(formula)) {}

    const std::string& text() const { return text_; }
    double of(const BottomOptions& options) const { return formula_(options); }

  private:
    std::string text_;
    std::function<double(const BottomOptions&)> formula_;
};

// How a method takes a preconditioner M: not at all; as the system A M y = b (LinearSystem); or in a
// form of its own, for any M or for symmetric ones.
enum class Preconditioning { none, right, own, symmetric };

// Vectors that a method needs to be linearly independent, so that there must be as many unknowns: `per_unit`
// times the value of a key of [bottom], and `more`.
struct Independent {
    std::string key;
    int BottomOptions::*value = nullptr;
    int per_unit = 1;
    int more = 0;
    // The key changes what the method communicates and not its iterates: fit() may lower it.
    bool lowered = false;

    double vectors(const BottomOptions& options) const { return 1.0 * per_unit * (options.*value) + more; }
    // The largest value of the key for this number of unknowns; below 1 where there is none.
    double most(double unknowns) const;
};

// One row. --solvers, docs/ and the memory prediction come from it, and a test compares it with counted
// values.
struct Method {
    std::string name;
    std::string source;  // paper or book
    std::string use;
    DiagonalScaling scaling = DiagonalScaling::none;  // if bottom.scaling = "jacobi"
    Quantity exchanges = 0;                           // per iteration
    Quantity reductions = 0;                          // all-reduces per iteration
    Quantity words = 0;                               // doubles in them
    Quantity vectors = 0;  // the method's own, besides x, b and those of the verify-and-restart rule
    bool hides_all_reduces = false;  // works between begin and end of an all-reduce
    Quantity applications = 0;       // applications of the operator per iteration
    Quantity flops = 0;              // per cell and iteration, besides those of the applications
    Quantity at_once = 1;            // max vectors that one exchange carries
    Quantity degree = 0;  // degree of the longest Krylov basis that the system makes for it; 0: none
    std::vector<std::string> keys = {};  // it reads beyond those that every Krylov method reads
    std::optional<Independent> independent = {};
    bool multiplies_basis = false;  // needs products of its basis's polynomials, which newton's has not
    Preconditioning preconditioning = Preconditioning::none;
    // With a symmetric preconditioner: the norms it can test, and vectors more than without.
    std::vector<Norm> norms = {Norm::residual};
    bool tests_max = false;  // without a preconditioner: whether it can test max|r|, too
    Quantity preconditioned_vectors = 0;
    bool flexible = false;                           // whether it takes a preconditioner that varies
    LaunchedMethod launched = LaunchedMethod::none;  // its loop in one launch of a device
    using Make = std::unique_ptr<KrylovMethod>(const MethodSetup& setup);
    Make* make = nullptr;                 // null: it is no Krylov method
    Make* make_preconditioned = nullptr;  // the form with a preconditioner, where it has one of its own

    bool is_krylov() const { return make != nullptr; }
    // Whether it repeats a preconditioner, cycles of another multigrid, and is no method without.
    bool repeats_cycles() const { return !make && make_preconditioned; }
    bool accepts_preconditioner() const { return preconditioning != Preconditioning::none; }
    // Whether it takes one that rounds to single precision: it keeps what M gave, or corrects x by no M y.
    bool accepts_single_precision() const {
        return flexible || preconditioning == Preconditioning::symmetric;
    }
    bool tests(Norm norm) const;
    // Words of all-reduces that an iteration has besides with a preconditioner: the norm that it would not
    // need.
    int words_of_norm(Norm norm) const { return norm == Norm::residual && tests(Norm::natural) ? 1 : 0; }
    bool reads(std::string_view key) const;  // a key of [bottom]
};

// How a row makes its method, either way.
template <class Kind>
std::unique_ptr<KrylovMethod> made(const MethodSetup& setup) {
    return std::make_unique<Kind>(setup);
}

// All of them. The first is the default of BottomOptions.
const std::vector<Method>& methods();
std::vector<std::string> method_names();
const Method& method_named(std::string_view name);  // throws std::invalid_argument for an unknown name
// The one that other code asks for, in its file as all are: sweeps of the cycle's smoother, no Krylov method.
Method relaxation();
Method algebraic_cycles();  // cycles of algebraic multigrid on the bottom grid

// --- What options mean for their method

// Whether they ask for algebraic multigrid, as solver or as preconditioner.
bool uses_algebraic(const BottomOptions& options);

// Whether a preconditioner must be symmetric: not if its cycles are the whole method.
bool wants_symmetric_preconditioner(const BottomOptions& options);

DiagonalScaling scaling_of(const BottomOptions& options);

// The max number of vectors that an exchange of the method carries.
int vectors_at_once(const BottomOptions& options);

// Needs of bottom.powers = matrix_powers on a level whose boxes are `width` wide: ghost layers, and the
// most vectors in an exchange of them. Nothing for other powers, and for methods that make no bases. More
// layers than the box has, or than the longest basis has powers, are of no use.
struct PowersNeed {
    int layers = 0;
    int at_once = 0;
};
PowersNeed powers_need(const BottomOptions& options, int width);

// Lowers the key that makes more vectors than unknowns, which cannot be independent, to the largest value
// that fits. False if nothing was lowered: it fits, the method's iterates depend on it, or not even 1 fits.
bool fit(BottomOptions& options, double unknowns);

// By the name in its options, without a preconditioner. Throws std::invalid_argument where there is no such
// Krylov method.
std::unique_ptr<KrylovMethod> make_method(const MethodSetup& setup);

}  // namespace keel
