#pragma once

// The table of bottom solvers: what each is for, where it is from, and what an iteration costs.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "solvers/options.hpp"
#include "solvers/systems/scaled_system.hpp"

namespace keel {

// A number of the table: fixed, or by a formula in the options.
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

// One row of the table of bottom solvers; --help, the README and the memory prediction come from it, and a test
// compares it with counted values.
struct BottomMethod {
    std::string name;
    std::string source;      // paper or book
    DiagonalScaling jacobi;  // what bottom.scaling = "jacobi" means for it
    Quantity exchanges;      // per iteration
    Quantity reductions;     // all-reduces per iteration
    Quantity words;          // doubles in them
    Quantity vectors;        // of the method itself, besides x, b and those of the verify-and-restart rule
    Quantity applications;   // of the operator, per iteration
    Quantity flops;          // per cell and iteration, besides those of the applications
    std::string use;
    Quantity at_once = 1;  // vectors that one exchange carries at the most
};
const std::vector<BottomMethod>& bottom_methods();
std::vector<std::string> bottom_names();
const BottomMethod& bottom_method(const std::string& name);

}  // namespace keel
