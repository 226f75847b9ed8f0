#include "peers/kinsol_solver.hpp"

#include <kinsol/kinsol.h>
#include <mpi.h>
#include <nvector/nvector_parallel.h>
#include <sundials/sundials_config.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace keel {
namespace {

int orthogonalisation_of(KinsolMethod method) {
    switch (method) {
        case KinsolMethod::mgs:
            return KIN_ORTH_MGS;
        case KinsolMethod::icwy:
            return KIN_ORTH_ICWY;
        case KinsolMethod::cgs2:
            return KIN_ORTH_CGS2;
        case KinsolMethod::dcgs2:
            return KIN_ORTH_DCGS2;
    }
    return KIN_ORTH_MGS;
}

void require(int code, const char* what) {
    if (code != 0) throw std::runtime_error(std::string("KINSOL: ") + what + ": " + std::to_string(code));
}

// KINSOL's complaints are in the status that it returns.
void say_nothing(int, const char*, const char*, char*, void*) {}

}  // namespace

struct KinsolSolver::Parts {
    Map map;
    std::size_t values = 0;
    SUNContext context = nullptr;
    N_Vector u = nullptr;
    N_Vector ones = nullptr;
    void* kinsol = nullptr;

    static int evaluate(N_Vector u, N_Vector g, void* parts) {
        const auto& self = *static_cast<Parts*>(parts);
        self.map(N_VGetArrayPointer(g), N_VGetArrayPointer(u), self.values);
        return 0;
    }
    ~Parts() {
        KINFree(&kinsol);
        N_VDestroy(u);
        N_VDestroy(ones);
        SUNContext_Free(&context);
    }
};

KinsolSolver::KinsolSolver(std::size_t values, std::size_t values_of_all, const KinsolOptions& options,
                           Map map)
    : parts_(std::make_unique<Parts>()) {
    Parts& parts = *parts_;
    parts.map = std::move(map);
    parts.values = values;
    MPI_Comm comm = MPI_COMM_WORLD;
    require(SUNContext_Create(&comm, &parts.context), "its context");
    parts.u = N_VNew_Parallel(comm, static_cast<sunindextype>(values),
                              static_cast<sunindextype>(values_of_all), parts.context);
    parts.ones = N_VClone(parts.u);
    N_VConst(1.0, parts.ones);
    parts.kinsol = KINCreate(parts.context);
    if (parts.kinsol == nullptr) throw std::runtime_error("KINSOL: could not be made");
    // Before KINInit, which makes room for the differences.
    require(KINSetErrHandlerFn(parts.kinsol, say_nothing, nullptr), "its messages");
    require(KINSetMAA(parts.kinsol, options.depth), "anderson.depth");
    require(KINSetOrthAA(parts.kinsol, orthogonalisation_of(options.method)), "anderson.orthogonalisation");
    require(KINInit(parts.kinsol, Parts::evaluate, parts.u), "its vectors");
    require(KINSetUserData(parts.kinsol, &parts), "its map");
    if (options.damping < 1) {
        require(KINSetDamping(parts.kinsol, options.damping), "anderson.damping");
        require(KINSetDampingAA(parts.kinsol, options.damping), "anderson.damping");
    }
    require(KINSetFuncNormTol(parts.kinsol, options.tolerance), "anderson.tolerance");
    require(KINSetNumMaxIters(parts.kinsol, options.max_iterations), "anderson.max_iterations");
}

KinsolSolver::~KinsolSolver() = default;

KinsolSolver::Report KinsolSolver::solve(std::vector<double>& u) {
    double* const values = N_VGetArrayPointer(parts_->u);
    std::ranges::copy(u, values);
    const int code = KINSol(parts_->kinsol, parts_->u, KIN_FP, parts_->ones, parts_->ones);
    std::copy_n(values, u.size(), u.begin());
    Report report;
    report.converged = code == KIN_SUCCESS;
    char* const name = KINGetReturnFlagName(code);
    report.outcome = name;
    std::free(name);  // NOLINT: it comes from malloc
    KINGetNumNonlinSolvIters(parts_->kinsol, &report.iterations);
    KINGetNumFuncEvals(parts_->kinsol, &report.evaluations);
    return report;
}

std::string KinsolSolver::version() {
    return std::string("KINSOL ") + SUNDIALS_VERSION;
}

}  // namespace keel
