#pragma once

// Interpolation of classical algebraic multigrid, from C rows to F rows.

#include "solvers/amg/classical/splitting.hpp"

namespace keel {

// Each F row from the C rows that it depends on: Stueben, "A review of algebraic multigrid", JCAM 2001, section 4. Rows that
// depend on none are empty. Weights that are smaller than `truncation` times the largest of their row are dropped, and what is left is
// scaled to the same sum.
GlobalRows interpolate_directly(const PartRows& A, const Dependence& strong, const CoarseRows& coarse,
                                double truncation);

// extended+i: from C rows of strong F neighbours, too, and what leads back to the row itself stays on its diagonal (De Sterck,
// Falgout, Nolting, Yang, "Distance-two interpolation for parallel algebraic multigrid", NLA 2008). Takes of the rows of F
// neighbours from other ranks what it reads; A's pattern is symmetric. Adds what was done: entries of A, and of the rows of F neighbours,
// moved once for each that is interpolated through them. Collective.
GlobalRows interpolate_extended_i(const PartRows& A, const Dependence& strong, const CoarseRows& coarse,
                                  GhostValues& ghosts, double truncation, Work& work);

// Ends the row whose entries were appended, without the small ones.
void end_truncated_row(GlobalRows& P, double truncation);

}  // namespace keel
