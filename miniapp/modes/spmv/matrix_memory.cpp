#include "miniapp/modes/spmv/matrix_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "comm/carry/transport.hpp"
#include "comm/plans/rank_schedule.hpp"
#include "kernels/bodies/pack.hpp"
#include "kernels/bodies/sparse.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/spmv/matrix/file/file_rows.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/krylov/sparse_krylov.hpp"
#include "solvers/krylov/stationary/spectrum_estimate.hpp"

namespace keel {
namespace {

constexpr std::size_t csr_entry = sizeof(double) + sizeof(std::int32_t);
constexpr std::size_t global_entry = sizeof(double) + sizeof(std::int64_t);
constexpr std::size_t allocated = 16;  // bytes that the allocator adds to a list
constexpr std::size_t map_node = 80;   // an item's, with what the allocator adds
// Entries of a file that rank 0 sends and others receive, each in a list that has grown.
constexpr std::size_t reading = 2 * 2 * entries_at_once * sizeof(FileEntry);
// How often a request that concerns a rank's node is held while it is negotiated and planned for: measured.
constexpr std::size_t copies_of_requests = 6;
// Bytes a row of the levels of algebraic multigrid below the finest. Measured by the least `ulimit -v` under
// which two ranks of 64^3 rows each solved: 330 of a 7-point stencil, 275 of a 27-point one.
constexpr std::size_t amg_row = 350;

std::size_t columns(const MatrixUse& use) {
    return static_cast<std::size_t>(use.columns);
}

// The solver's, the solution and f from a file.
std::size_t vectors_of_solve(const MatrixUse& use) {
    if (!use.solver) return 0;
    const BottomOptions& options = use.solver->options;
    const Method& method = method_named(options.solver);
    double with_M = 0;
    if (method.reads("preconditioner") && (use.factors_blocks() || use.uses_amg())) {
        with_M = method.preconditioned_vectors.of(options) + (options.norm == Norm::natural ? 1 : 0);
        if (estimates(options, true)) with_M += estimates(options, false) ? 1 : 1 + SpectrumEstimate::vectors;
    }
    // GMRES keeps what a preconditioner that varies made of each vector.
    if (use.uses_amg() && use.amg.coarsest == CoarsestRule::krylov && method.reads("restart"))
        with_M += options.restart;
    return static_cast<std::size_t>(krylov_vectors(options)) + static_cast<std::size_t>(with_M) + 1 +
           (use.rhs_file.empty() ? 0 : 1);
}

// The number of BlockCopies that the values of a message take.
std::size_t copies_of(const MessageEnd& message) {
    if (message.relayed) return message.items.size();
    std::size_t copies = 0;
    for (std::size_t n = 0, first = 0; n < message.items.size(); ++n) {
        const bool follows =
            n > 0 && message.items[n].name == message.items[n - 1].name + 1 && n - first < block_width;
        if (follows) continue;
        ++copies;
        first = n;
    }
    return copies;
}

// A rank's peak before the matrix is there: as if entries were spread evenly.
double expected_bytes(const MatrixUse& use, const MatrixSize& size, int ranks, int on_node) {
    const auto share = [&](double all) { return static_cast<std::size_t>(std::ceil(all / ranks)); };
    MatrixPart part{share(static_cast<double>(size.rows)), share(size.entries)};
    part.ghosts = std::min({static_cast<std::size_t>(requests_of(use, size, ranks)), part.entries,
                            static_cast<std::size_t>(size.rows) - part.rows});
    // As many are sent as received, each value in a copy of its own.
    part.buffer_values = 2 * part.ghosts;
    part.list_bytes = 2 * part.ghosts * (2 * sizeof(Item) + sizeof(BlockCopy));
    part.making_lists =
        part.ghosts * (copies_of_requests * static_cast<std::size_t>(on_node) * sizeof(Request) + map_node +
                       4 * sizeof(BlockCopy));
    double bytes = static_cast<double>(predicted_bytes(use, part));
    if (use.uses_amg()) bytes += static_cast<double>(amg_row * part.rows);
    if (use.matrix.options.ordering != Ordering::rcm) return bytes;
    // One rank reads the matrix and makes lists of neighbours, which grow by doubling.
    const double graph = size.entries * 3 * sizeof(std::int64_t) +
                         static_cast<double>(size.rows) * (sizeof(std::vector<std::int64_t>) + allocated);
    return std::max(bytes, bytes_to_read(use, size) + graph);
}

}  // namespace

double requests_of(const MatrixUse& use, const MatrixSize& size, double ranks) {
    const MatrixOptions& options = use.matrix.options;
    const auto rows = static_cast<double>(size.rows);
    const double off_diagonal = ranks > 1 && !is_matrix_file(options.matrix) ? size.entries - rows : 0;
    if (options.matrix == "arrow") return std::min(off_diagonal, rows + ranks);
    return options.matrix == "random" || options.ordering == Ordering::random ? off_diagonal : 0;
}

std::span<const std::int64_t> columns_of(const GlobalRows& rows, std::int64_t first, std::size_t count) {
    const auto begin = static_cast<std::size_t>(rows.first[static_cast<std::size_t>(first)]);
    const auto end = static_cast<std::size_t>(rows.first[static_cast<std::size_t>(first) + count]);
    return std::span(rows.columns).subspan(begin, end - begin);
}

MatrixPart part_of(std::size_t rows, std::size_t entries, std::span<const std::int64_t> ghosts_by_rank,
                   const Plan& plan, int rank, const Topology& topology, int vectors) {
    const auto ghosts_of_rank = [&](int r) {
        return static_cast<std::size_t>(ghosts_by_rank[static_cast<std::size_t>(r)]);
    };
    const std::size_t ghosts = ghosts_of_rank(rank);
    const RankSchedule schedule(plan, rank);
    MatrixPart part{rows, entries, ghosts, schedule.send_values() + schedule.receive_values()};
    std::size_t requests = 0;
    for (const int colleague : topology.ranks_on(topology.node(rank))) requests += ghosts_of_rank(colleague);
    part.making_lists = copies_of_requests * requests * sizeof(Request);
    const auto add = [&](const MessageEnd& message) {
        const std::size_t copies = copies_of(message) * sizeof(BlockCopy);
        part.list_bytes +=
            2 * message.items.size() * sizeof(Item) + copies;  // in the plan and in the schedule
        part.making_lists += 2 * copies;                       // a list that grows, before it is copied
    };
    for (const MessageEnd& message : schedule.receives) {
        add(message);
        part.making_lists += message.items.size() * map_node;  // by which needed items are found in it
    }
    for (const SendStage& stage : schedule.stages)
        for (const MessageEnd& message : stage.sends) add(message);
    KeptMessages kept;
    const Communicator counted = Communicator::virtual_rank(rank, topology.ranks(), &kept);
    make_transport(plan.carrier, {counted, topology}, schedule)->reserve(static_cast<std::size_t>(vectors));
    part.window_bytes = kept.window_bytes;
    return part;
}

std::size_t predicted_bytes(const MatrixUse& use, const MatrixPart& part) {
    const std::size_t own = blocks_of(part.rows) * block_rows;
    const std::size_t vector = (own + blocks_of(part.ghosts) * block_rows) * sizeof(double);
    const std::size_t first = part.rows * sizeof(std::int64_t);
    const std::size_t csr = part.entries * csr_entry + first;

    const std::size_t read = part.entries * global_entry + first;
    const std::size_t sorting = part.entries * (sizeof(FileEntry) + global_entry) + first + reading;
    const std::size_t matrix =
        read + 2 * csr + part.rows * sizeof(double) + 2 * part.ghosts * sizeof(Item) + part.list_bytes;
    const std::size_t at_once =
        1 + (columns(use) > 1 ? columns(use) : 0);  // buffers for one vector are made before those for all
    std::size_t later = 0;
    if (use.solver) {
        const DiagonalScaling scaling = scaling_of(use.solver->options);
        // Vectors that the check of the residual makes.
        const std::size_t checking = scaling == DiagonalScaling::symmetric ? 4 : 3;
        later = (vectors_of_solve(use) + checking) * vector;
        // Triangles are made of copies.
        const std::size_t triangles = (part.entries + part.rows) * csr_entry + 2 * first;
        if (use.factors_blocks()) later = triangles + std::max(later, triangles);
        // The scaled matrix is made of a copy.
        if (scaling != DiagonalScaling::none) later = csr + std::max(later, csr + vector);
    }
    const std::size_t multiplying =
        2 * columns(use) * vector + at_once * part.buffer_values * sizeof(double) + part.window_bytes + later;
    const std::size_t given = use.rhs_file.empty() ? 0 : part.rows * sizeof(double);
    const std::size_t peak = matrix + std::max(part.making_lists + given, multiplying);
    return is_matrix_file(use.matrix.options.matrix) ? std::max(peak, sorting) : peak;
}

std::optional<std::string> exceeds_memory(const MatrixUse& use, int ranks, const SharedMemory& memory) {
    const MatrixSize size = matrix_size(use.matrix);
    const double least = array_bytes(use, size) / ranks * memory.sharing;
    double needed = least;
    // A process at its limit ends. Predictions are right to a tenth, but for what MPI and libraries take.
    if (least <= memory.bytes && memory.process.given())
        needed = memory.sharing * (1.1 * expected_bytes(use, size, ranks, memory.sharing) + 16e6);
    if (needed <= memory.bytes) return {};
    return fmt::format(
        "problem.matrix = \"{}\" of {} rows and {:.0f} entries on {}: {} {} on a {} of "
        "{}; choose fewer rows, or more {}s",
        use.matrix.options.matrix, size.rows, size.entries, counted(ranks, "rank"),
        needed > least ? "about" : "at least", bytes_text(needed), memory.where, bytes_text(memory.bytes),
        memory.where);
}

double bytes_to_read(const MatrixUse& use, const MatrixSize& size) {
    const auto entry = global_entry + (is_matrix_file(use.matrix.options.matrix) ? sizeof(FileEntry) : 0);
    return size.entries * static_cast<double>(entry) + static_cast<double>(size.rows) * sizeof(std::int64_t);
}

double array_bytes(const MatrixUse& use, const MatrixSize& size) {
    const auto vectors = static_cast<double>(2 * columns(use) + vectors_of_solve(use));
    return size.entries * csr_entry +
           static_cast<double>(size.rows) * (sizeof(std::int64_t) + vectors * sizeof(double));
}

}  // namespace keel
