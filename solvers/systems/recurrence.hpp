#pragma once

// Polynomial bases of Krylov spaces as a system is asked for them; which there are: krylov/s_step/basis.hpp.

#include <array>
#include <span>

namespace keel {

// A rho_i(A) = gamma rho_{i+1}(A) + theta rho_i(A) + sigma rho_{i-1}(A), rho_0 = 1
struct Relation {
    double gamma = 1;
    double theta = 0;
    double sigma = 0;

    // rho_{i+1} = c[0] A rho_i + c[1] rho_i + c[2] rho_{i-1}
    constexpr std::array<double, 3> next() const {
        const double scale = 1 / gamma;
        return {scale, -scale * theta, -scale * sigma};
    }
};

// The relations of i = 0 .. degree-1.
using Recurrence = std::span<const Relation>;

}  // namespace keel
