#pragma once

// Half sweeps that keep ghosts current themselves (Ghosts::kept): the thread that relaxes a cell on a face of
// its block also writes the ghost of it, so that no launch copies ghosts; so does the thread that adds a
// correction to it. No thread reads that ghost in the same half sweep, for its neighbours have the other
// colour.

#include <optional>
#include <span>
#include <vector>

#include "kernels/backends/gpu/block_system.hpp"
#include "kernels/backends/gpu/kernels.hpp"

namespace keel {
namespace {

// The ghost of a cell on a face of a block: in a block of this rank, at the cell's indices plus a shift.
struct GhostOfFace {
    int block = -1;  // below 0: the face has no ghosts on this rank
    Index shift{};

    friend bool operator==(const GhostOfFace&, const GhostOfFace&) = default;
};
struct GhostsOfBlock {
    GhostOfFace side[3][2];
};

// These copies as ghosts of whole faces; nothing where they are not: deeper layers, edges, or a face whose
// neighbours are shifted differently.
inline std::optional<std::vector<GhostsOfBlock>> ghosts_of_faces(const Shape& shape,
                                                                 std::span<const BlockCopy> copies) {
    std::vector<GhostsOfBlock> ghosts(static_cast<std::size_t>(shape.blocks));
    std::size_t wanted = 0;
    std::size_t copied = 0;
    for (const BlockCopy& copy : copies) {
        const auto outside = [&](std::size_t d) {
            return copy.to.at[d] < 0 || copy.to.at[d] + copy.extent[d] > shape.extent[d];
        };
        if (outside(0) + outside(1) + outside(2) != 1) return std::nullopt;
        const std::size_t d = outside(0) ? 0 : outside(1) ? 1 : 2;
        const std::size_t side = copy.to.at[d] < 0 ? 1 : 0;  // a low ghost is of a high face
        if (copy.extent[d] != 1 || copy.from.at[d] != (side == 1 ? shape.extent[d] - 1 : 0))
            return std::nullopt;
        GhostOfFace& ghost = ghosts[static_cast<std::size_t>(copy.from.box)].side[d][side];
        const GhostOfFace found{copy.to.box, copy.to.at + -copy.from.at};
        if (ghost.block < 0) {
            ghost = found;
            wanted += product(shape.extent) / static_cast<std::size_t>(shape.extent[d]);
        }
        if (!(ghost == found)) return std::nullopt;
        copied += product(copy.extent);
    }
    if (copied != wanted) return std::nullopt;
    return ghosts;
}

// A level as one block of threads walks over it.
inline std::vector<CellPlace> cells_of(const Shape& shape) {
    std::vector<CellPlace> cells;
    const auto as = [](int n) { return static_cast<std::int16_t>(n); };
    for (int q = 0; q < shape.blocks; ++q)
        for (int k = 0; k < shape.extent[2]; ++k)
            for (int j = 0; j < shape.extent[1]; ++j)
                for (int i = 0; i < shape.extent[0]; ++i) cells.push_back({as(q), as(i), as(j), as(k)});
    return cells;
}

inline std::vector<GhostCopy> ghosts_of(std::span<const BlockCopy> copies) {
    std::vector<GhostCopy> ghosts;
    const auto place = [](const BlockEnd& end, int i, int j, int k) -> CellPlace {
        const Index at = end.at + Index{i, j, k};
        return {static_cast<std::int16_t>(end.box), static_cast<std::int16_t>(at[0]),
                static_cast<std::int16_t>(at[1]), static_cast<std::int16_t>(at[2])};
    };
    for (const BlockCopy& copy : copies)
        for (int k = 0; k < copy.extent[2]; ++k)
            for (int j = 0; j < copy.extent[1]; ++j)
                for (int i = 0; i < copy.extent[0]; ++i)
                    ghosts.push_back({place(copy.to, i, j, k), place(copy.from, i, j, k)});
    return ghosts;
}

// The body of a half sweep or an interpolation, and behind it the ghosts of the cell.
template <class Body>
struct KeepGhosts {
    Body body;
    const GhostsOfBlock* ghosts;
    Index extent;
    int unused = 0;  // no padding: launches are compared by bytes (device.hpp)

    constexpr void operator()(int q, int i, int j, int k) const {
        body(q, i, j, k);
        copy(q, 0, i, i, j, k);
        copy(q, 1, j, i, j, k);
        copy(q, 2, k, i, j, k);
    }

  private:
    constexpr void copy(int q, std::size_t d, int at, int i, int j, int k) const {
        if (at == 0) copy_to(ghosts[q].side[d][0], q, i, j, k);
        if (at == extent[d] - 1) copy_to(ghosts[q].side[d][1], q, i, j, k);
    }
    constexpr void copy_to(const GhostOfFace& ghost, int q, int i, int j, int k) const {
        if (ghost.block < 0) return;
        body.cell(ghost.block, i + ghost.shift[0], j + ghost.shift[1], k + ghost.shift[2]) =
            body.cell(q, i, j, k);
    }
};

// One block of threads takes about as long for a half sweep of this number of cells as a launch does: a
// V-cycle on 16^3 cells of an H100 took 25 us in one block, 37 us by launches (measured with a prototype).
constexpr std::size_t most_relaxed_in_block = 4096;

// All half sweeps in one launch of one block.
template <int D, class Real, class Face>
struct RelaxInBlock {
    static constexpr bool barriers = true;
    static constexpr int most_threads = most_block_threads;

    LevelOfBlock level;
    StencilView<D, Real, Face> L;
    Real* u;
    Real* f;
    const int* parity;
    double relaxation;
    int half_sweeps, first;
    int from_zero, threads;

    Grid grid() const { return {dim3(1), dim3(static_cast<unsigned>(threads))}; }
    __device__ void operator()() const {
        BlockSystem<D, Real, Face> A(level, L, DiagonalScaling::none, nullptr, 1.0, nullptr, nullptr,
                                     static_cast<int>(threadIdx.x), threads);
        if (from_zero != 0) A.fill(u, 0.0);
        for (int n = 0; n < half_sweeps; ++n) A.relax(u, f, (first + n) % 2, parity, relaxation);
        A.fill_ghosts(u);
    }
};

}  // namespace
}  // namespace keel
