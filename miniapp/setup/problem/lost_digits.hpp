#pragma once

#include <string>

#include "kernels/layout/domain.hpp"
#include "miniapp/deck/parameters.hpp"

namespace keel {

// Why rounding may lose digits of u that a residual within the tolerance does not determine, how many, and
// the remedy; empty where it loses at most 1e-6 of u.
std::string warning_of_lost_digits(const ProblemOptions& problem, const Domain& domain);

}  // namespace keel
