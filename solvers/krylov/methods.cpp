#include "solvers/krylov/methods.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "solvers/krylov/krylov.hpp"

namespace keel {

// The rows, each at the end of its method's file.
Method bicgstab(), bicgstab_fused(), cg(), ca_bicgstab(), ca_cg(), pipelined_cg(), deep_pipelined_cg(),
    pipelined_bicgstab(), enlarged_cg(), enlarged_orthomin(), ecg(), sre_cg(), pr_cg(), pipelined_pr_cg(),
    pipelined_s_step_cg(), s_step_cg(), gmres(), ca_gmres(), chebyshev_iteration();

const std::vector<Method>& methods() {
    static const std::vector<Method> all{bicgstab(),
                                         bicgstab_fused(),
                                         cg(),
                                         ca_bicgstab(),
                                         ca_cg(),
                                         pipelined_cg(),
                                         deep_pipelined_cg(),
                                         pipelined_bicgstab(),
                                         enlarged_cg(),
                                         enlarged_orthomin(),
                                         ecg(),
                                         sre_cg(),
                                         pr_cg(),
                                         pipelined_pr_cg(),
                                         pipelined_s_step_cg(),
                                         s_step_cg(),
                                         gmres(),
                                         ca_gmres(),
                                         chebyshev_iteration(),
                                         relaxation(),
                                         algebraic_cycles()};
    return all;
}

std::string default_method() {
    return methods().front().name;
}

double Independent::most(double unknowns) const {
    return std::floor((unknowns - more) / per_unit);
}

bool Method::reads(std::string_view key) const {
    constexpr std::string_view of_all[] = {"tolerance", "max_iterations", "scaling", "max_restarts",
                                           "assumed_iterations"};
    if (key == "preconditioner") return is_krylov() && accepts_preconditioner();
    return key == "solver" || (is_krylov() && std::ranges::find(of_all, key) != std::end(of_all)) ||
           std::ranges::find(keys, key) != keys.end();
}

bool Method::tests(Norm norm) const {
    return std::ranges::find(norms, norm) != norms.end();
}

std::vector<std::string> method_names() {
    std::vector<std::string> names;
    for (const Method& method : methods()) names.push_back(method.name);
    return names;
}

const Method& method_named(std::string_view name) {
    for (const Method& method : methods())
        if (method.name == name) return method;
    throw std::invalid_argument("unknown bottom solver " + std::string(name));
}

bool uses_algebraic(const BottomOptions& options) {
    const Method& method = method_named(options.solver);
    return method.repeats_cycles() ||
           (method.reads("preconditioner") && options.preconditioner == PreconditionerKind::amg);
}

bool wants_symmetric_preconditioner(const BottomOptions& options) {
    const Method& method = method_named(options.solver);
    return method.preconditioning == Preconditioning::symmetric && !method.repeats_cycles();
}

DiagonalScaling scaling_of(const BottomOptions& options) {
    return options.scaling == Scaling::none ? DiagonalScaling::none : method_named(options.solver).scaling;
}

int vectors_at_once(const BottomOptions& options) {
    return static_cast<int>(method_named(options.solver).at_once.of(options));
}

PowersNeed powers_need(const BottomOptions& options, int width) {
    const double degree = method_named(options.solver).degree.of(options);
    if (!exchanges_for_several(options.powers) || degree == 0) return {};
    const double asked = options.powers_depth > 0 ? options.powers_depth : degree;
    const int layers = static_cast<int>(std::min({asked, degree, 1.0 * width}));
    // A recurrence of three terms goes on from two vectors of each basis.
    const bool two = options.basis == Basis::chebyshev && layers > 1 && degree > layers + 1;
    return {layers, two ? 4 : 2};
}

bool fit(BottomOptions& options, double unknowns) {
    const auto& independent = method_named(options.solver).independent;
    if (!independent || !independent->lowered) return false;
    const double most = independent->most(unknowns);
    if (most < 1 || options.*(independent->value) <= most) return false;
    options.*(independent->value) = static_cast<int>(most);
    return true;
}

std::unique_ptr<KrylovMethod> make_method(const MethodSetup& setup) {
    const Method& method = method_named(setup.options.solver);
    if (!method.is_krylov()) throw std::invalid_argument(method.name + " is no Krylov method");
    return method.make(setup);
}

}  // namespace keel
