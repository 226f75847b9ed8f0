#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "miniapp/modes/grids/checks.hpp"
#include "miniapp/modes/grids/fixed_point/fixed_point.hpp"
#include "miniapp/modes/grids/fixed_point/posed.hpp"
#include "miniapp/modes/grids/repeated_solves.hpp"

namespace keel {

void PreparedFixedPoint::measure(const Setting& setting, Findings& findings) const {
    const Communicator& comm = setting.context.comm;
    Level& top = setting.hierarchy.level(0);
    PosedFixedPoint posed(setting.hierarchy, grids_, equation_);
    Anderson anderson(posed.vectors(), acceleration_);
    const char* const norm = posed.norm_of(acceleration_);
    findings.facts.setup_seconds = setting.setup_seconds();

    std::vector<FixedPointRecord> solves;
    FixedPointRecord last;
    const auto one = [&](int) {
        posed.begin();
        last = {};
        const std::optional<long> cycles = posed.cycles();
        const std::optional<long> unsolved = posed.unsolved();
        last.cost = measured(comm, setting.context.backend, setting.hierarchy,
                             [&] { last.report = posed.solve(anderson); });
        if (cycles) {
            last.cycles = *posed.cycles() - *cycles;
            last.unsolved = *posed.unsolved() - *unsolved;
        }
        return timed(last.cost, fmt::format("{} iterations", last.report.iterations),
                     digits_of(last.report.history));
    };
    const auto keep = [&] {
        last.u_l2 = l2_norm(top, posed.u());
        setting.context.report.record(line_of(solve_record(solves.size(), acceleration_, last, norm)));
        solves.push_back(last);
    };
    const auto repeated = repeat_solves(setting, findings, {.solve = one, .keep = keep});
    if (!repeated) return;
    findings.parts = parts_of(repeated->timers, setting.hierarchy.levels() - 1);
    findings.merit =
        cells_per_second(findings.facts, findings.seconds, {acceleration_.tolerance, repeated->digits});
    report_solves(setting, findings, *repeated,
                  {.before = convergence_text(acceleration_, solves.back(), norm)});

    check(setting, solves, posed.u(), posed.f(), findings.checks);
}

void PreparedFixedPoint::check(const Setting& setting, const std::vector<FixedPointRecord>& solves, Field u,
                               Field f, std::vector<Check>& checks) const {
    Level& top = setting.hierarchy.level(0);
    const auto count = [&](const auto& holds) { return std::ranges::count_if(solves, holds); };
    if (!equation_.is_mixture()) {
        // By the plain kernels; over the greatest eigenvalue it is about the error of u that it stands for.
        GridSystem plain(*top.plain, *top.ghosts, *top.reduction, top.L, DiagonalScaling::none);
        top.ghosts->run(u);
        top.plain->residual(top.r, top.L, u, f);
        if (!equation_.is_linear()) top.plain->add_reaction(top.r, top.r, -1, equation_.phi(), u);
        const double residual = plain.max_norm(top.r);
        if (equation_.map == MapKind::cycle) {
            top.plain->fill(u, 0.0);
            top.plain->copy(top.u, f);
            if (!equation_.is_linear()) top.plain->add_reaction(top.u, f, -1, equation_.phi(), u);
            const double start = plain.max_norm(top.u);
            const double value = start > 0 ? residual / start : residual;
            checks.push_back({"residual_recomputed", value <= 1.001 * acceleration_.tolerance, value,
                              "<= anderson.tolerance, of max|f - N(u)| / max|f - N(0)|"});
        } else {
            const double value = residual / top.gershgorin_bound;
            checks.push_back(
                {"residual_recomputed", value <= Anderson::slack * acceleration_.tolerance, value,
                 fmt::format("<= {:g} anderson.tolerance, of max|f - N(u)| / |L|", Anderson::slack)});
            long unsolved = 0;
            long evaluations = 0;
            for (const FixedPointRecord& solve : solves) {
                unsolved += solve.unsolved.value_or(0);
                evaluations += solve.report.evaluations;
            }
            checks.push_back({"maps_evaluated", unsolved == 0, static_cast<double>(unsolved),
                              fmt::format("0 of {} evaluations missed multigrid.tolerance", evaluations)});
        }
        set_right_side(top, setting.problem);
        checks.push_back(problem_unchanged(setting.hierarchy, setting.problem));
        checks.push_back(operator_symmetry(setting.hierarchy));
    }
    checks.push_back(all_converged(count([](const auto& solve) { return solve.report.converged(); }),
                                   static_cast<long>(solves.size())));
    const bool normal =
        acceleration_.depth > 0 && acceleration_.composite == 0 && !resolved_.deterministic &&
        count([](const auto& solve) { return solve.report.dropped + solve.report.dependent > 0; }) == 0;
    if (normal) {
        long difference = 0;
        for (const FixedPointRecord& solve : solves) {
            const QRCost want = Anderson::predicted(acceleration_, solve.report.iterations);
            const QRCost got = solve.report.orthogonalisation;
            difference = std::max(difference, std::abs(want.reductions - got.reductions));
        }
        // A test on G(u) - u ends the last iteration before its step.
        const bool ends_early = acceleration_.test != AndersonTest::step;
        checks.push_back({"reductions_as_predicted", difference <= (ends_early ? 1 : 0),
                          static_cast<double>(difference),
                          "no difference of the orthogonalisation's all-reduces"});
    }
    if (resolved_.deterministic) checks.push_back(repeats_equal(norms_of(solves)));
}

}  // namespace keel
