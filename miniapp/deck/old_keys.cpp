#include "miniapp/deck/keys.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace keel {

std::span<const OldKey> old_keys() {
    // By section and name.
    static constexpr OldKey all[] = {
        {"amg.aggregation", "", "MIS-2 aggregation is the only one"},
        {"amg.coarsening", "classical", "write amg.coarsening = \"pmis\" or \"hmis\""},
        {"amg.coarsest_iterations", "", "a visit takes at most 500 iterations"},
        {"amg.coarsest_solver", "", "amg.coarsest = \"krylov\" takes conjugate gradients"},
        {"amg.coarsest_tolerance", "", "a visit reduces the residual to 1e-3"},
        {"amg.degree", "", "amg.smoothing has no polynomial"},
        {"amg.interpolation", "", "classical coarsening takes extended+i"},
        {"amg.max_coarse", "", "a level of at most 50 rows is the coarsest"},
        {"amg.max_levels", "", "a hierarchy has at most 20 levels"},
        {"amg.omega", "", "the weight is 4/3"},
        {"amg.ownership", "even", "write amg.ownership = \"root\" or \"condensed\""},
        {"amg.rho", "", "the largest row sum bounds the spectral radius"},
        {"amg.seed", "", "the numbers that break ties are fixed"},
        {"amg.smoothing", "chebyshev", "write amg.smoothing = \"jacobi\" or \"gauss_seidel\""},
        {"amg.smoothing", "l1_jacobi", "write amg.smoothing = \"jacobi\" or \"gauss_seidel\""},
        {"amg.splitting", "", "write amg.coarsening = \"pmis\" or \"hmis\""},
        {"amg.strength", "", "aggregation takes symmetric strength, pmis and hmis classical strength"},
        {"amg.sweeps", "", "one Jacobi sweep smooths the prolongation; leave it out"},
        {"amg.truncation", "",
         "classical interpolation drops weights below 0.3 of the largest of a row, where the default was 0; "
         "leave it out"},
        {"anderson.composite", "", "write anderson.inner = DEPTH, or \"none\" for 0"},
        {"anderson.delay", "", "every iteration is accelerated from the second one on"},
        {"anderson.period", "",
         "leave it out for 1, write anderson.inner = \"picard\" for 2; there are no others"},
        {"bottom.given_iterations", "", "write bottom.assumed_iterations"},
        {"bottom.powers_passes", "",
         "write bottom.powers = \"fused_matrix_powers\" for passes that are fused"},
        {"bottom.preconditioner", "block_cholesky", "write \"block_ic0\""},
        {"bottom.replace_every", "", "residuals are replaced every 50 iterations"},
        {"bottom.solver", "richardson", "write \"chebyshev\""},
        {"bottom.spectrum", "interval", "write the interval itself, such as bottom.spectrum = [0.1, 2]"},
        {"bottom.spectrum_highest", "", "write bottom.spectrum = [LOWEST, HIGHEST]"},
        {"bottom.spectrum_lowest", "", "write bottom.spectrum = [LOWEST, HIGHEST]"},
        {"bottom.spectrum_steps", "", "the estimate takes ten steps"},
        {"bottom.variant", "",
         "leave it out for orthodir, write bottom.solver = \"enlarged_orthomin\" for orthomin"},
        {"comm.allreduce_model", "", "predictions take comm.allreduce, and for MPI's what MPICH does"},
        {"comm.cap_rule", "", "write comm.scheme = \"split/always\" for always"},
        {"comm.partner_rule", "", "write comm.scheme = \"two_step/max_need\" for max_need"},
        {"comm.persistent", "", "messages are posted anew in each exchange; leave it out"},
        {"comm.progress", "", "all-reduces in flight are progressed between operations; leave it out"},
        {"comm.sampled_nodes", "", "all nodes are planned where no pattern repeats; leave it out"},
        {"comm.scheme", "model", "write \"auto\""},
        {"multigrid.bottom_grid", "agglomerate", "write \"consolidate\""},
        {"multigrid.bottom_ranks", "", "write multigrid.bottom_grid = RANKS, or \"consolidate\" for 0"},
        {"multigrid.chebyshev_ratio", "",
         "the smoother damps [bound / 8, bound] of the spectrum of D^-1 L; leave it out"},
        {"multigrid.jacobi_weight", "", "the weight is 2/3; leave it out"},
        {"multigrid.smoother_passes", "",
         "half sweeps are fused by default; for plain write multigrid.reference_path = true, for fused "
         "multigrid.fused_box = 1"},
        {"multigrid.tau_extrapolation", "", "full multigrid is of second order; leave it out"},
        {"network.eager_from", "",
         "the lengths where protocols change are found from the times; leave it out"},
        {"network.largest", "", "the longest message has 4 MiB; leave it out"},
        {"network.limits", "", "the lengths where protocols change are found from the times; leave it out"},
        {"network.rendezvous_from", "",
         "the lengths where protocols change are found from the times; leave it out"},
        {"network.repeats", "", "write run.repeats, which is 5 by default where this was 100"},
        {"network.smallest", "", "the shortest message has one byte"},
        {"output.cycles", "", "write output.details = true"},
        {"output.goal", "", "nothing writes schedules of messages; leave it out"},
        {"output.goal_events", "", "nothing writes schedules of messages; leave it out"},
        {"output.ranks", "", "write output.details = true"},
        {"output.times", "", "write output.details = true"},
        {"problem.angle", "", "problem.matrix = \"rotated\" takes pi/8"},
        {"problem.boxes_list", "", "write the positions, or their file, as problem.shape"},
        {"problem.clumps", "", "problem.shape = \"tags\" has four random centres"},
        {"problem.epsilon", "", "problem.matrix = \"rotated\" takes 0.001"},
        {"problem.equation", "cubic", "write \"bratu\""},
        {"problem.equation", "exponential", "write \"bratu\" and problem.kappa of the other sign; f is 0"},
        {"problem.equation", "sinh", "write \"bratu\""},
        {"problem.samples", "", "the mixture has 100,000 samples; leave it out"},
        {"problem.shape", "list", "write the positions of boxes, or their file, as problem.shape"},
        {"run.amg", "", "write bottom.preconditioner = \"amg\" or bottom.solver = \"amg\""},
        {"run.baseline", "", "the first entry of run.survey is the baseline"},
        {"run.block_solver", "", "write bottom.preconditioner = \"block_ic0\""},
        {"run.launches", "", "write run.gpu_sync = per_operation, lazy or graphs"},
        {"run.min_seconds", "", "give run.repeats"},
        {"run.preconditioner", "", "write bottom.preconditioner = \"v_cycle\" or \"block_ic0\""},
        {"run.verbose", "", "give the option --verbose"},
        {"simulate.box", "", "a simulated run models the boxes of problem.box; leave it out"},
    };
    return all;
}

const OldKey* old_key(std::string_view key, std::string_view value) {
    const auto all = old_keys();
    const auto found =
        std::ranges::find_if(all, [&](const OldKey& old) { return old.key == key && old.value == value; });
    return found == all.end() ? nullptr : &*found;
}

bool old_section(std::string_view section) {
    return std::ranges::any_of(old_keys(), [&](const OldKey& old) {
        return old.key.starts_with(section) && old.key.substr(section.size()).starts_with('.');
    });
}

std::string old_key_text(const OldKey& old) {
    return fmt::format("is no longer a {}; {}", old.value.empty() ? "key" : "value", old.remedy);
}

}  // namespace keel
