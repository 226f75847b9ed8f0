#pragma once

namespace keel {

// How a system is scaled by the diagonal D of the problem's operator L:
//   none       A = L
//   right      A = L D^-1,             solution = D^-1 y            (for BiCGStab and its family)
//   symmetric  A = D^-1/2 L D^-1/2,    solution = D^-1/2 y, right-hand side D^-1/2 b  (for the CG family)
enum class DiagonalScaling { none, right, symmetric };

}  // namespace keel
