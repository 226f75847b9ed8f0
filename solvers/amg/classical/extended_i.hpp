#pragma once

// Interpolation of classical algebraic multigrid, from C rows to F rows.

#include "solvers/amg/classical/splitting.hpp"

namespace keel {

// Extended+i interpolation (De Sterck, Falgout, Nolting, Yang, "Distance-two interpolation for parallel
// algebraic multigrid", NLA 2008): each F row from the C rows that it depends on and those of its strong F
// neighbours; what leads back to the row itself stays on its diagonal. F rows without such C rows are empty.
// Weights below `truncation` times the largest of their row are dropped, and the rest is scaled to the same
// sum. A's pattern is symmetric. Adds the work: entries of A, and of the rows of F neighbours, moved once for
// each row that is interpolated through them. Collective.
GlobalRows interpolate_extended_i(const PartRows& A, const Dependence& strong, const CoarseRows& coarse,
                                  GhostValues& ghosts, double truncation, Work& work);

}  // namespace keel
