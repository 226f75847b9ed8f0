#pragma once

#include "solvers/multigrid/hierarchy.hpp"
#include "solvers/options.hpp"

namespace keel {

// Relaxes L u = f on one level. Ghosts of u are exchanged before every pass; those left in u are not current.
// One sweep is
//   gsrb        a red and a black Gauss-Seidel half sweep (colour by global index): 2 exchanges
//   jacobi      u += weight D^-1 (f - L u): 1 exchange
//   chebyshev   one more degree of the polynomial in D^-1 L that is least on [bound / ratio, bound]
//               (Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., Alg. 12.1): 1 exchange
// jacobi and chebyshev overwrite the level's r. `operations` are the level's, as the caller wants them timed.
void smooth(Level& level, Operations& operations, int sweeps, const MultigridOptions& options);

// The same with black before red: the adjoint of smooth() in the inner product of L.
void smooth_reversed(Level& level, Operations& operations, int sweeps, const MultigridOptions& options);

// smooth(), and with gsrb another red half sweep: red, black, .. , red reads the same backwards, so that u, from u = 0, is
// a symmetric operator of f.
void smooth_symmetric(Level& level, Operations& operations, int sweeps, const MultigridOptions& options);

// Exchanges in that many sweeps.
constexpr int exchanges_of(Smoother smoother, int sweeps) {
    return smoother == Smoother::gsrb ? 2 * sweeps : sweeps;
}
constexpr int symmetric_exchanges_of(Smoother smoother, int sweeps) {
    return exchanges_of(smoother, sweeps) + (smoother == Smoother::gsrb ? 1 : 0);
}

}  // namespace keel
