#pragma once

// The splitting of classical algebraic multigrid: which rows stay on the next level (C), and which are
// interpolated to (F).

#include <cstdint>
#include <vector>

#include "solvers/amg/setup/strength.hpp"

namespace keel {

inline constexpr double is_fine = -1;  // the "number" of an F row in the next level

struct RowRange {
    std::size_t begin, end;

    bool holds(std::size_t row) const { return row >= begin && row < end; }
};

struct CoarseRows : Roots {
    std::vector<double> numbers;  // in the next level, of own rows and of ghosts
};

// The first pass of classical coarsening: Ruge, Stueben, "Algebraic multigrid", in: McCormick (ed.),
// Multigrid methods, SIAM 1987.
// The C rows that a rank finds among its rows, `mine` of those of A, ascending, blind to others. Row by row
// that becomes C on which most undecided and, twice over, F rows depend, of equal ones that which has been
// worth so much for longest, at first the lower; all that depend on it become F. It ends when no such row
// depends on any undecided one.
std::vector<std::size_t> first_pass(const PartRows& A, const Dependence& strong, RowRange mine);

// PMIS: De Sterck, Yang, Heys, "Reducing complexity in parallel algebraic multigrid preconditioners", SIMAX
// 2006. The greedy independent set of the graph of S and S^T in descending order of (the number of rows that
// depend on a row, random_bits(row), -row), which is the same on any number of ranks. Rows without strong
// connections are F. A round takes two exchanges of values and an all-reduce.
//
// HMIS, of the same paper: each rank makes the first pass of Ruge and Stueben over its rows, as if there were
// no others. The C rows of that pass that have no strong connection to another rank stay C, and PMIS decides
// on all other rows. On one rank HMIS is the first pass. `shares` are the ranks' rows: those of A, or of
// virtual ranks, whose rows one rank has. Collective.
CoarseRows split(const Communicator& comm, const PartRows& A, const Dependence& strong, GhostValues& ghosts,
                 CoarseningRule rule, const RowPartition& shares);

}  // namespace keel
