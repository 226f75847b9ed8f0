#include "peers/structured_solver.hpp"

#include <HYPRE_config.h>
#include <HYPRE_struct_ls.h>
#include <HYPRE_utilities.h>

#include <stdexcept>

namespace keel {
namespace {

// hypre's default as a preconditioner; alone what Keel takes by default.
constexpr int sweeps_of_preconditioner = 1;
constexpr int sweeps_alone = 2;
// Red-black Gauss-Seidel, the second half in reverse order, as a preconditioner of conjugate gradients has to
// be; or not.
constexpr int relax_symmetric = 2;
constexpr int relax_alone = 3;
// A tolerance that is never met, whose square is a number yet.
constexpr double never = 1e-150;

// Not to have converged, which a limit on iterations brings about, is no error here.
void require_hypre(const char* what) {
    const HYPRE_Int code = HYPRE_GetError();
    HYPRE_ClearAllErrors();
    if ((code & ~HYPRE_ERROR_CONV) != 0)
        throw std::runtime_error(std::string("hypre: ") + what + ": error " + std::to_string(code));
}

// The bounds of a box, both inside.
struct Corners {
    Index low, high;

    Corners(const Layout& layout, int box)
        : low(layout.first_cell(box)), high(low + Index{-1, -1, -1} + cube(layout.width()).size) {}
};

HYPRE_StructSolver make_pfmg(int sweeps, int relax) {
    HYPRE_StructSolver pfmg = nullptr;
    HYPRE_StructPFMGCreate(MPI_COMM_WORLD, &pfmg);
    HYPRE_StructPFMGSetRelaxType(pfmg, relax);
    HYPRE_StructPFMGSetNumPreRelax(pfmg, sweeps);
    HYPRE_StructPFMGSetNumPostRelax(pfmg, sweeps);
    return pfmg;
}

}  // namespace

struct StructuredSolver::Parts {
    Layout layout;
    PeerMethod method;
    HYPRE_StructGrid grid = nullptr;
    HYPRE_StructStencil stencil = nullptr;
    HYPRE_StructMatrix A = nullptr;
    HYPRE_StructVector f = nullptr;
    HYPRE_StructVector u = nullptr;
    HYPRE_StructSolver pfmg = nullptr;
    HYPRE_StructSolver pcg = nullptr;  // null alone

    Parts(const Layout& boxes, PeerMethod chosen) : layout(boxes), method(chosen) {}
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;
    ~Parts() {
        if (pcg) HYPRE_StructPCGDestroy(pcg);
        if (pfmg) HYPRE_StructPFMGDestroy(pfmg);
        for (HYPRE_StructVector vector : {u, f})
            if (vector) HYPRE_StructVectorDestroy(vector);
        if (A) HYPRE_StructMatrixDestroy(A);
        if (stencil) HYPRE_StructStencilDestroy(stencil);
        if (grid) HYPRE_StructGridDestroy(grid);
        HYPRE_Finalize();
    }

    // The values of the n-th local box. hypre takes them by pointers that are not const.
    double* of_box(std::vector<double>& values, std::size_t n) const {
        return values.data() + n * cube(layout.width()).cells();
    }

    void make_grid() {
        HYPRE_StructGridCreate(MPI_COMM_WORLD, 3, &grid);
        for (const int box : layout.local()) {
            Corners corners(layout, box);
            HYPRE_StructGridSetExtents(grid, corners.low.data(), corners.high.data());
        }
        Index period{};
        for (std::size_t d = 0; d < 3; ++d)
            if (layout.boundaries()[d].low == Boundary::periodic) period[d] = layout.cells()[d];
        HYPRE_StructGridSetPeriodic(grid, period.data());
        HYPRE_StructGridAssemble(grid);
    }

    void make_matrix(const SevenPoints& matrix) {
        HYPRE_StructStencilCreate(3, 4, &stencil);
        for (int n = 0; n < 4; ++n) {
            Index offset{};
            if (n > 0) offset[static_cast<std::size_t>(n) - 1] = -1;
            HYPRE_StructStencilSetElement(stencil, n, offset.data());
        }
        HYPRE_StructMatrixCreate(MPI_COMM_WORLD, grid, stencil, &A);
        HYPRE_StructMatrixSetSymmetric(A, 1);
        HYPRE_StructMatrixInitialize(A);
        for (int n = 0; n < 4; ++n) {
            std::vector<double> values =
                n == 0 ? matrix.diagonal : matrix.lower[static_cast<std::size_t>(n) - 1];
            for (std::size_t q = 0; q < layout.local().size(); ++q) {
                Corners corners(layout, layout.local()[q]);
                HYPRE_StructMatrixSetBoxValues(A, corners.low.data(), corners.high.data(), 1, &n,
                                               of_box(values, q));
            }
        }
        HYPRE_StructMatrixAssemble(A);
    }

    HYPRE_StructVector make_vector(std::vector<double> values) const {
        HYPRE_StructVector vector = nullptr;
        HYPRE_StructVectorCreate(MPI_COMM_WORLD, grid, &vector);
        HYPRE_StructVectorInitialize(vector);
        for (std::size_t q = 0; q < layout.local().size(); ++q) {
            Corners corners(layout, layout.local()[q]);
            HYPRE_StructVectorSetBoxValues(vector, corners.low.data(), corners.high.data(),
                                           of_box(values, q));
        }
        HYPRE_StructVectorAssemble(vector);
        return vector;
    }

    void make_solver() {
        if (method == PeerMethod::pfmg) {
            pfmg = make_pfmg(sweeps_alone, relax_alone);
            HYPRE_StructPFMGSetTol(pfmg, never);
            HYPRE_StructPFMGSetMaxIter(pfmg, most_iterations);
            HYPRE_StructPFMGSetup(pfmg, A, f, u);
            return;
        }
        pfmg = make_pfmg(sweeps_of_preconditioner, relax_symmetric);
        HYPRE_StructPFMGSetMaxIter(pfmg, 1);
        HYPRE_StructPFMGSetTol(pfmg, 0.0);
        HYPRE_StructPFMGSetZeroGuess(pfmg);
        HYPRE_StructPCGCreate(MPI_COMM_WORLD, &pcg);
        HYPRE_StructPCGSetTwoNorm(pcg, 1);
        HYPRE_StructPCGSetPrecond(pcg, HYPRE_StructPFMGSolve, HYPRE_StructPFMGSetup, pfmg);
        HYPRE_StructPCGSetTol(pcg, never);
        HYPRE_StructPCGSetMaxIter(pcg, most_iterations);
        HYPRE_StructPCGSetup(pcg, A, f, u);
    }
};

StructuredSolver::StructuredSolver(const Layout& layout, const SevenPoints& matrix, std::span<const double> f,
                                   PeerMethod method) {
    HYPRE_Init();
    parts_ = std::make_unique<Parts>(layout, method);
    parts_->make_grid();
    parts_->make_matrix(matrix);
    parts_->f = parts_->make_vector({f.begin(), f.end()});
    parts_->u = parts_->make_vector(std::vector<double>(f.size()));
    require_hypre("matrix and vectors");
    parts_->make_solver();
    require_hypre("set-up");
}

StructuredSolver::~StructuredSolver() = default;

int StructuredSolver::solve(int iterations, std::optional<double> tolerance) {
    Parts& p = *parts_;
    int done = 0;
    HYPRE_StructVectorSetConstantValues(p.u, 0.0);
    if (p.pcg) {
        HYPRE_StructPCGSetMaxIter(p.pcg, iterations);
        HYPRE_StructPCGSetTol(p.pcg, tolerance.value_or(never));
        HYPRE_StructPCGSolve(p.pcg, p.A, p.f, p.u);
        HYPRE_StructPCGGetNumIterations(p.pcg, &done);
    } else {
        HYPRE_StructPFMGSetMaxIter(p.pfmg, iterations);
        HYPRE_StructPFMGSetTol(p.pfmg, tolerance.value_or(never));
        HYPRE_StructPFMGSolve(p.pfmg, p.A, p.f, p.u);
        HYPRE_StructPFMGGetNumIterations(p.pfmg, &done);
    }
    require_hypre("solve");
    return done;
}

std::vector<double> StructuredSolver::solution() const {
    const Parts& p = *parts_;
    std::vector<double> values(p.layout.local().size() * cube(p.layout.width()).cells());
    for (std::size_t q = 0; q < p.layout.local().size(); ++q) {
        Corners corners(p.layout, p.layout.local()[q]);
        HYPRE_StructVectorGetBoxValues(p.u, corners.low.data(), corners.high.data(), p.of_box(values, q));
    }
    require_hypre("solution");
    return values;
}

std::string StructuredSolver::version() {
    return std::string("hypre ") + HYPRE_RELEASE_VERSION;
}

std::string StructuredSolver::describe(PeerMethod method) {
    const auto cycle = [](int sweeps) {
        return "V(" + std::to_string(sweeps) + "," + std::to_string(sweeps) + ") of PFMG";
    };
    return (method == PeerMethod::pfmg
                ? cycle(sweeps_alone)
                : "conjugate gradients around one " + cycle(sweeps_of_preconditioner)) +
           ", red-black Gauss-Seidel";
}

}  // namespace keel
