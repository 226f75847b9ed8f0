#pragma once

// Parts of a domain whose constant rounding loses: a residual within the tolerance does not determine u
// there.

#include <string>

#include "kernels/layout/domain.hpp"
#include "miniapp/deck/parameters.hpp"

namespace keel {

// The part of the domain whose constant is determined worst.
struct WeakPart {
    double loss = 0;        // relative error of the constant that rounding f and L may make; at most 1
    double cells = 0;       // of the part
    Index at{};             // its first sampled cell
    double digits() const;  // decimal digits of u that are lost, of 16
};

// A part P of N cells whose couplings among each other are stronger than those to the rest and to Dirichlet
// faces determines its constant by E = SUM_P a alpha + SUM over its outer faces c. Rounding leaves residuals
// of eps max D, so the loss is eps N max D / E. P runs over the connected components of the couplings above
// every threshold, on a graph of at most some ten thousand nodes, each a cuboid of cells of a box. A
// component without any coupling outwards and with a = 0 is no part: there the problem is singular. Purely
// local; takes at most some tenths of a second, and nothing where coefficients are moderate.
WeakPart weakest_part(const ProblemOptions& problem, const Domain& domain);

// Why digits of u are lost, how many, and the remedy; empty where no part loses more than 1e-6 of u.
std::string warning_of_lost_digits(const ProblemOptions& problem, const Domain& domain);

}  // namespace keel
