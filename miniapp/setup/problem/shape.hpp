#pragma once

// The domain that a deck asks for: which boxes of those around it are present.

#include <string>
#include <utility>
#include <vector>

#include "kernels/layout/domain.hpp"
#include "miniapp/deck/parameters.hpp"

namespace keel {

// The boxes of a shape by their lexicographic numbers in the box around them, ascending; from a list those
// that are given once and lie inside.
std::vector<int> boxes_of_shape(const ProblemOptions& problem, const Index& around, int ranks);

// The domain on `ranks` ranks. The deck has passed why_no_domain().
Domain domain_of(const ProblemOptions& problem, int ranks);

// Why the shape makes no domain, or one on which the equation has no one solution: the keys that are to blame
// and what is wrong, with a remedy; no keys if all is well. The boxes around it can be numbered.
using ShapeComplaint = std::pair<std::vector<std::string>, std::string>;
ShapeComplaint why_no_domain(const ProblemOptions& problem, int ranks);

}  // namespace keel
