#pragma once

// Interpolation of classical algebraic multigrid, from C rows to F rows.

#include "solvers/amg/classical/splitting.hpp"

namespace keel {

// Each F row from the C rows that it depends on: Stueben, "A review of algebraic multigrid", JCAM 2001, section 4. Rows that
// depend on none are empty.
GlobalRows interpolate_directly(const PartRows& A, const Dependence& strong, const CoarseRows& coarse);

// extended+i: from C rows of strong F neighbours, too, and what leads back to the row itself stays on its diagonal (De Sterck,
// Falgout, Nolting, Yang, "Distance-two interpolation for parallel algebraic multigrid", NLA 2008). Takes the rows of F
// neighbours from other ranks. Collective.
GlobalRows interpolate_extended_i(const PartRows& A, const Dependence& strong, const CoarseRows& coarse,
                                  GhostValues& ghosts);

// Without weights that are smaller than `factor` times the largest of their row; what is left is scaled to the same sum.
GlobalRows truncated(const GlobalRows& P, double factor);

}  // namespace keel
