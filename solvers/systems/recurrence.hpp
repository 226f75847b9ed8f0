#pragma once

// Polynomial bases of Krylov spaces as a system is asked for them; which there are: krylov/s_step/basis.hpp.

#include <array>
#include <cstddef>
#include <vector>

namespace keel {

// rho_0 = 1, A rho_i(A) = gamma_i rho_{i+1}(A) + theta_i rho_i(A) + sigma_i rho_{i-1}(A) for i = 0 ..
// degree-1
struct Recurrence {
    std::vector<double> gamma, theta, sigma;

    // rho_{i+1} = c[0] A rho_i + c[1] rho_i + c[2] rho_{i-1}
    std::array<double, 3> next(std::size_t i) const {
        const double scale = 1 / gamma[i];
        return {scale, -scale * theta[i], -scale * sigma[i]};
    }
};

}  // namespace keel
