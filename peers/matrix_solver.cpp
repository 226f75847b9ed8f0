#include "peers/matrix_solver.hpp"

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <_hypre_parcsr_ls.h>
#include <fmt/format.h>
#include <mpi.h>

#include <stdexcept>

namespace keel {
namespace {

// Numbers of hypre's manual.
enum Coarsening { pmis = 8, hmis = 10 };
constexpr int extended_i = 6;  // interpolation
enum Relaxation {
    jacobi = 0,
    forward = 3,
    backward = 4,
    gaussian_elimination = 9,
    l1_forward = 13,
    l1_backward = 14
};
enum CyclePart { down = 1, up = 2, coarsest = 3 };

void succeed(HYPRE_Int code) {
    if (code == 0) return;
    char text[256] = "";
    HYPRE_DescribeError(code, text);
    throw std::runtime_error(fmt::format("hypre: {}", text));
}

// A vector of this rank's rows.
HYPRE_IJVector make_vector(std::int64_t first, std::span<const double> values) {
    const auto lower = static_cast<HYPRE_BigInt>(first);
    HYPRE_IJVector vector = nullptr;
    succeed(HYPRE_IJVectorCreate(MPI_COMM_WORLD, lower, lower + static_cast<HYPRE_BigInt>(values.size()) - 1,
                                 &vector));
    succeed(HYPRE_IJVectorSetObjectType(vector, HYPRE_PARCSR));
    succeed(HYPRE_IJVectorInitialize(vector));
    succeed(HYPRE_IJVectorSetValues(vector, static_cast<HYPRE_Int>(values.size()), nullptr, values.data()));
    succeed(HYPRE_IJVectorAssemble(vector));
    return vector;
}

HYPRE_ParVector object_of(HYPRE_IJVector vector) {
    void* object = nullptr;
    succeed(HYPRE_IJVectorGetObject(vector, &object));
    return static_cast<HYPRE_ParVector>(object);
}

void choose(HYPRE_Solver amg, BoomerMethod method, const AmgOptions& options) {
    succeed(HYPRE_BoomerAMGSetTol(amg, 0.0));
    succeed(HYPRE_BoomerAMGSetMaxIter(amg, 1));
    succeed(HYPRE_BoomerAMGSetStrongThreshold(amg, options.theta));
    succeed(HYPRE_BoomerAMGSetPrintLevel(amg, 0));
    int going_down = l1_forward;
    int going_up = l1_backward;
    if (method == BoomerMethod::defaults) {
        succeed(HYPRE_BoomerAMGSetCoarsenType(amg, hmis));
        succeed(HYPRE_BoomerAMGSetInterpType(amg, extended_i));
        succeed(HYPRE_BoomerAMGSetPMaxElmts(amg, 4));
    } else {
        succeed(HYPRE_BoomerAMGSetCoarsenType(amg, options.coarsening == CoarseningRule::hmis ? hmis : pmis));
        succeed(HYPRE_BoomerAMGSetInterpType(amg, extended_i));
        succeed(HYPRE_BoomerAMGSetPMaxElmts(amg, 0));
        succeed(HYPRE_BoomerAMGSetTruncFactor(amg, options.truncation));
        succeed(HYPRE_BoomerAMGSetMaxCoarseSize(amg, static_cast<HYPRE_Int>(options.max_coarse)));
        const bool turns = options.smoother == AmgSmoother::gauss_seidel;
        going_down = turns ? forward : jacobi;
        going_up = turns ? backward : going_down;
        succeed(HYPRE_BoomerAMGSetRelaxWt(amg, turns ? 1.0 : 2.0 / 3.0));
        succeed(HYPRE_BoomerAMGSetRelaxOrder(amg, 0));
    }
    succeed(HYPRE_BoomerAMGSetNumSweeps(amg, 1));
    succeed(HYPRE_BoomerAMGSetCycleRelaxType(amg, going_down, down));
    succeed(HYPRE_BoomerAMGSetCycleRelaxType(amg, going_up, up));
    succeed(HYPRE_BoomerAMGSetCycleRelaxType(amg, gaussian_elimination, coarsest));
}

}  // namespace

struct MatrixSolver::Handles {
    std::int64_t first = 0;
    std::vector<double> zero;  // one for each row of this rank
    HYPRE_IJMatrix matrix = nullptr;
    HYPRE_IJVector f = nullptr;
    HYPRE_IJVector u = nullptr;
    HYPRE_Solver amg = nullptr;
    HYPRE_Solver cg = nullptr;

    HYPRE_ParCSRMatrix A() const {
        void* object = nullptr;
        succeed(HYPRE_IJMatrixGetObject(matrix, &object));
        return static_cast<HYPRE_ParCSRMatrix>(object);
    }
};

MatrixSolver::MatrixSolver(std::int64_t first, const GlobalRows& rows, std::span<const double> f,
                           BoomerMethod method, const AmgOptions& options)
    : handles_(std::make_unique<Handles>()) {
    HYPRE_Init();
    Handles& h = *handles_;
    h.first = first;
    h.zero.assign(rows.rows(), 0.0);
    const auto lower = static_cast<HYPRE_BigInt>(first);
    const HYPRE_BigInt upper = lower + static_cast<HYPRE_BigInt>(rows.rows()) - 1;
    succeed(HYPRE_IJMatrixCreate(MPI_COMM_WORLD, lower, upper, lower, upper, &h.matrix));
    succeed(HYPRE_IJMatrixSetObjectType(h.matrix, HYPRE_PARCSR));
    std::vector<HYPRE_Int> lengths;
    for (std::size_t r = 0; r < rows.rows(); ++r)
        lengths.push_back(static_cast<HYPRE_Int>(rows.first[r + 1] - rows.first[r]));
    succeed(HYPRE_IJMatrixSetRowSizes(h.matrix, lengths.data()));
    succeed(HYPRE_IJMatrixInitialize(h.matrix));
    const std::vector<HYPRE_BigInt> columns(rows.columns.begin(), rows.columns.end());
    for (std::size_t r = 0; r < rows.rows(); ++r) {
        const auto row = lower + static_cast<HYPRE_BigInt>(r);
        const auto begin = static_cast<std::size_t>(rows.first[r]);
        succeed(HYPRE_IJMatrixSetValues(h.matrix, 1, &lengths[r], &row, columns.data() + begin,
                                        rows.values.data() + begin));
    }
    succeed(HYPRE_IJMatrixAssemble(h.matrix));
    h.f = make_vector(first, f);
    h.u = make_vector(first, h.zero);

    succeed(HYPRE_BoomerAMGCreate(&h.amg));
    choose(h.amg, method, options);
    succeed(HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &h.cg));
    succeed(HYPRE_PCGSetTwoNorm(h.cg, 1));
    succeed(HYPRE_PCGSetPrecond(h.cg, reinterpret_cast<HYPRE_PtrToSolverFcn>(HYPRE_BoomerAMGSolve),
                                reinterpret_cast<HYPRE_PtrToSolverFcn>(HYPRE_BoomerAMGSetup), h.amg));
    succeed(HYPRE_ParCSRPCGSetup(h.cg, h.A(), object_of(h.f), object_of(h.u)));
}

MatrixSolver::~MatrixSolver() {
    const Handles& h = *handles_;
    HYPRE_ParCSRPCGDestroy(h.cg);
    HYPRE_BoomerAMGDestroy(h.amg);
    HYPRE_IJVectorDestroy(h.u);
    HYPRE_IJVectorDestroy(h.f);
    HYPRE_IJMatrixDestroy(h.matrix);
    HYPRE_Finalize();
}

int MatrixSolver::solve(double tolerance, int most) {
    const Handles& h = *handles_;
    succeed(HYPRE_IJVectorSetValues(h.u, static_cast<HYPRE_Int>(h.zero.size()), nullptr, h.zero.data()));
    succeed(HYPRE_PCGSetTol(h.cg, tolerance));
    succeed(HYPRE_PCGSetMaxIter(h.cg, most));
    HYPRE_ParCSRPCGSolve(h.cg, h.A(), object_of(h.f), object_of(h.u));
    HYPRE_ClearAllErrors();  // not to converge is one; the residual tells
    HYPRE_Int iterations = 0;
    succeed(HYPRE_PCGGetNumIterations(h.cg, &iterations));
    return iterations;
}

std::vector<double> MatrixSolver::solution() const {
    std::vector<double> values(handles_->zero.size());
    succeed(
        HYPRE_IJVectorGetValues(handles_->u, static_cast<HYPRE_Int>(values.size()), nullptr, values.data()));
    return values;
}

int MatrixSolver::levels() const {
    return hypre_ParAMGDataNumLevels(reinterpret_cast<hypre_ParAMGData*>(handles_->amg));
}

double MatrixSolver::operator_complexity() const {
    auto* const data = reinterpret_cast<hypre_ParAMGData*>(handles_->amg);
    hypre_ParCSRMatrix** const matrices = hypre_ParAMGDataAArray(data);
    double all = 0;
    double finest = 0;
    for (int l = 0; l < hypre_ParAMGDataNumLevels(data); ++l) {
        hypre_ParCSRMatrixSetDNumNonzeros(matrices[l]);
        const double entries = hypre_ParCSRMatrixDNumNonzeros(matrices[l]);
        if (l == 0) finest = entries;
        all += entries;
    }
    return all / finest;
}

std::string MatrixSolver::version() {
    return fmt::format("hypre {} BoomerAMG", HYPRE_RELEASE_VERSION);
}

}  // namespace keel
