#pragma once

// The memory of run.mode = spmv.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "comm/plans/plan.hpp"
#include "miniapp/modes/spmv/matrix/matrix_source.hpp"
#include "miniapp/setup/machine/memory.hpp"
#include "miniapp/setup/resolved.hpp"
#include "solvers/amg/options.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {

// The use that a run makes of the matrix.
struct MatrixUse {
    MatrixChoice matrix;
    int columns = 1;                    // vectors that are multiplied at a time
    std::optional<NamedSolver> solver;  // none: it is only multiplied by
    AmgOptions amg = {};
    std::string rhs_file = {};  // f of solves; empty: f = A x

    // Whether the solver is algebraic multigrid or has it as preconditioner.
    bool uses_amg() const { return solver && uses_algebraic(solver->options); }
    bool factors_blocks() const {
        return solver && solver->options.preconditioner == PreconditionerKind::block_ic0;
    }
};

// The part of the matrix that one rank has.
struct MatrixPart {
    std::size_t rows = 0;
    std::size_t entries = 0;
    std::size_t ghosts = 0;
    std::size_t buffer_values = 0;  // sent and received by an exchange of one vector
    std::size_t list_bytes = 0;     // lists of what is sent and received, and where it lies
    std::size_t making_lists = 0;   // bytes beside them while they are made, about
    std::size_t window_bytes = 0;   // of the transport
};
// The columns of `count` rows from `first` on.
std::span<const std::int64_t> columns_of(const GlobalRows& rows, std::int64_t first, std::size_t count);

// The part of a rank that has these rows and entries; ghosts of all ranks; `vectors` travel at a time.
MatrixPart part_of(std::size_t rows, std::size_t entries, std::span<const std::int64_t> ghosts_by_rank,
                   const Plan& plan, int rank, const Topology& topology, int vectors);

// Bytes that the run adds to the memory of such a rank at its peak, on host and device together. The graph
// that problem.ordering = rcm passes over is not counted.
std::size_t predicted_bytes(const MatrixUse& use, const MatrixPart& part);

// The bytes of a matrix of this size and the vectors, without ghosts and padding: of all ranks, or of a part.
double array_bytes(const MatrixUse& use, const MatrixSize& size);

// Rows that ranks need of each other, at most, where entries are all over the matrix; otherwise they are few,
// and counted when the matrix is there.
double requests_of(const MatrixUse& use, const MatrixSize& size, double ranks);

// Why the matrix cannot fit on these ranks; nothing if it may. Of processes with a limit of their own the
// expected peak must fit.
std::optional<std::string> exceeds_memory(const MatrixUse& use, int ranks, const SharedMemory& memory);

// Bytes that one rank takes at most to read the whole matrix.
double bytes_to_read(const MatrixUse& use, const MatrixSize& size);

}  // namespace keel
