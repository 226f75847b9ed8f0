#pragma once

// Polynomial bases rho_0, rho_1, ... of Krylov spaces, by their recurrences. The powers of A are the simplest
// basis and nearly dependent from degree 8 on: condition numbers 4e5 at degree 8 and 3e11 at degree 16 for a
// constant coefficient, against 50 and 200 for Newton's, 10 and 20 for Chebyshev's. An s-step method squares
// them in its Gram matrix and works up to about 1e7. Where the coefficient varies by 1000, no basis helps
// unless the system is scaled by its diagonal: the residuals then live in a corner of the spectrum.

#include <vector>

#include "solvers/krylov/options.hpp"
#include "solvers/systems/recurrence.hpp"
#include "solvers/systems/spectrum.hpp"

namespace keel {

// monomial: powers of A. newton: products of A - theta_i, theta_i the zeros of the Chebyshev polynomial of
// the degree, in Leja's order, scaled by the capacity of the interval. chebyshev: Chebyshev polynomials of
// the interval. (Philippe and Reichel 2012; Hoemmen 2010.) `spectrum` plays no part for monomial.
std::vector<Relation> recurrence(Basis basis, int degree, const Spectrum& spectrum);

// Leja's order: first the largest |z|, then always the point with the largest product of distances to those
// before.
std::vector<double> leja_order(std::vector<double> points);

}  // namespace keel
