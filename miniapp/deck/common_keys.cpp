// The keys that modes share, section by section.

#include <algorithm>
#include <limits>

#include "comm/patterns/row_partition.hpp"
#include "comm/plans/schemes.hpp"
#include "miniapp/deck/section.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/smoothers/smoother.hpp"

namespace keel {
namespace {

void add_problem(Table& table) {
    using Problem = ProblemOptions;
    Section s(table, "problem", &Parameters::problem);
    s.integer(
        "dimensions", &Problem::dimensions, between(2, 3),
        "number of dimensions; in two, boxes are squares of problem.box^2 cells, one layer of them, and the "
        "third of what is given for x, y and z says nothing");
    s.integer("box", &Problem::box, between(1, 16384), "width of a box, in three dimensions at most 1024",
              "cells");
    s.integer("boxes_per_rank", &Problem::boxes_per_rank, at_least(1),
              "number of boxes for each rank, where problem.boxes is not given", "boxes");
    s.integer("ranks", &Problem::ranks, between(0, 1 << 20),
              "number of ranks that --dry-run and --print-plan imagine; 0 = those that were started",
              "ranks");
    s.triple("boxes", &Problem::boxes, 0,
             "size of the domain, or of the box around it, in each direction; [0,0,0] = as cubic as ranks x "
             "boxes_per_rank allow",
             "boxes");
    s.choice(
        "shape", &Problem::shape,
        "shape of the domain, a union of the boxes of problem.boxes: all; those outside one quarter in x "
        "and y; those on the surface; each by a throw of dice; those nearest to random centres; or a "
        "list");
    s.positions("boxes_list", &Problem::boxes_list,
                "positions of the boxes, each three integers from 0 on, or a file with one a line")
        .expert()
        .needs("problem.shape", {name(DomainShape::list)});
    s.real("fill", &Problem::fill, {.lowest = 0, .highest = 1, .highest_open = false},
           "part of the boxes that is present")
        .expert()
        .needs("problem.shape", {name(DomainShape::scattered), name(DomainShape::tags)});
    s.choice("outside", &Problem::outside,
             "boundary condition where a neighbour is missing inside the box around the domain")
        .expert()
        .needs("problem.shape", {"L", "shell", "scattered", "tags", "list"});
    s.real("a", &Problem::a, from(0), "factor a of the equation; 0 makes it Poisson's");
    s.real("b", &Problem::b, above(0), "factor b of the equation");
    s.choice("coefficients", &Problem::coefficients,
             "coefficient beta: 1; K^(0.5 sin sin sin); K inside a ball of radius 1/4 and 1 outside; or from "
             "1 to K "
             "across a wavy front");
    s.real("contrast", &Problem::contrast, above(0), "contrast K of the coefficient beta")
        .needs("problem.coefficients", {"smooth", "ball", "front"});
    s.reals("anisotropy", &Problem::anisotropy, above(0), "factors of the coefficient beta along x, y and z",
            "")
        .expert();
    s.reals("drift", &Problem::drift, {},
            "way of coefficients and triangle wave through the domain in a step", "lengths of the domain")
        .expert();
    s.choice("alpha", &Problem::alpha, "coefficient alpha: 1, or 1 + cos cos cos / 2").expert();
    s.choice("rhs", &Problem::rhs,
             "right-hand side f: a triangle wave; sines of the cell's number; 1 in the first cell; "
             "manufactured from a known solution; random; zero; or that of a linear u");
    s.choice("data", &Problem::data,
             "values of u on Dirichlet faces: 0; 1 + x - 2 y + z/2; or 1/2 + cos cos cos")
        .expert();
    s.integer("seed", &Problem::seed, at_least(0),
              "seed of what is random: right-hand side, shape, matrix, order")
        .expert()
        .needs("problem.rhs", {"random"});
    s.choice("placement", &Problem::placement,
             "rule that says which rank owns which box; curve = space-filling")
        .expert();
    s.choice("storage", &Problem::storage,
             "memory of a rank's boxes: apart, or a cuboid of them without ghosts inside")
        .expert();
    s.boundaries(
        "boundary", &Problem::boundary,
        "boundary condition: one word for all directions, or an array of three; other words for the two "
        "sides of a direction as \"neumann/dirichlet\"");
    s.integer("columns", &Problem::columns, between(1, 1000),
              "number of vectors that are multiplied by, or of fields that are exchanged, at a time",
              "columns")
        .expert();
}

void add_multigrid(Table& table) {
    using Multigrid = MultigridOptions;
    Section s(table, "multigrid", &Parameters::multigrid);
    s.choice("cycle", &Multigrid::cycle, "kind of cycle: V-cycles, or full multigrid first (F)");
    s.choice("accelerator", &Multigrid::accelerator,
             "iteration around the cycles: none, or conjugate gradients that they precondition");
    s.integer("pre", &Multigrid::pre, between(0, 1000), "smoothing before the coarse correction", "sweeps");
    s.integer("post", &Multigrid::post, between(0, 1000), "smoothing after the coarse correction", "sweeps");
    s.choice("interpolation", &Multigrid::interpolation,
             "interpolation of the correction: piecewise constant or trilinear");
    s.flag("tau_extrapolation", &Multigrid::tau_extrapolation,
           "extrapolation of what the operators of two levels make of one solution, for an error of fourth "
           "order of run.mode = full_multigrid")
        .expert();
    s.integer("bottom_box", &Multigrid::bottom_box, at_least(1),
              "width of the coarsest boxes: problem.box halved any number of times", "cells");
    s.integer_or("never", "agglomerate", &Multigrid::agglomerate, at_least(1),
                 "cells per rank below which boxes of coarse levels are merged, 8 or in two dimensions 4 to "
                 "one, on fewer ranks; also merged are those of multigrid.bottom_box, so that coarsening "
                 "goes on",
                 "cells");
    s.choice("bottom_grid", &Multigrid::bottom_grid,
             "ranks that solve on the coarsest level: those that own its boxes, fewer, one, or every one all "
             "of it")
        .expert();
    s.integer("bottom_ranks", &Multigrid::bottom_ranks, at_least(0),
              "number of ranks that solve on a consolidated coarsest level; 0 = one in eight", "ranks")
        .expert()
        .needs("multigrid.bottom_grid", {name(Consolidation::consolidate)});
    s.real("tolerance", &Multigrid::tolerance, inside(0, 1),
           "largest max|f - L u| / max|f| of a converged solve");
    s.integer("max_cycles", &Multigrid::max_cycles, at_least(1), "limit on the cycles of a solve", "cycles");
    s.choice(
        "precision", &Multigrid::precision,
        "arithmetic, storage and messages of the cycles: double, or single above the coarsest level, several "
        "cycles for each residual and update in double (mixed)");
    s.flag("reference_path", &Multigrid::reference_path,
           "a pass for each half sweep, boxes apart, messages of both colours")
        .expert();
    std::string meanings = "smoother: ";
    for (const Smoother& smoother : smoothers())
        meanings += (&smoother == &smoothers().front() ? "" : "; ") + smoother.meaning;
    s.choice("smoother", &Multigrid::smoother, smoother_names(), meanings);
    s.each_needs_reader(smoothers(), [](const Smoother& smoother, const std::string& key) {
        return std::ranges::find(smoother.keys, key) != smoother.keys.end();
    });
    s.integer_or("auto", "fused_box", &Multigrid::fused_box, at_least(1),
                 "narrowest boxes whose half sweeps are one pass; auto = 32 with OpenMP, else none", "cells")
        .expert()
        .needs("multigrid.reference_path", {"false"});
    s.integer_or("all", "fused_half_sweeps", &Multigrid::fused_half_sweeps, at_least(1),
                 "most half sweeps in one pass; all = those before or after a correction", "half sweeps")
        .expert()
        .needs("multigrid.reference_path", {"false"});
    s.real("relaxation", &Multigrid::relaxation, inside(0, 2),
           "relaxation factor of the Gauss-Seidel smoother; above 1: over-relaxed")
        .expert();
    s.choice("ghost_colours", &Multigrid::ghost_colours,
             "colours in messages of half sweeps: both, or the one that is read, if they alternate")
        .expert();
    s.real("jacobi_weight", &Multigrid::jacobi_weight, inside(0, 2), "weight of the Jacobi smoother")
        .expert();
    s.real("chebyshev_ratio", &Multigrid::chebyshev_ratio, above(1),
           "width of the part [bound / ratio, bound] of D^-1 L's spectrum that the Chebyshev smoother damps")
        .expert();
}

void add_bottom(Table& table) {
    using Bottom = BottomOptions;
    Section s(table, "bottom", &Parameters::bottom);
    s.choice(
        "solver", &Bottom::solver, method_names(),
        "solver on the coarsest level, or of the whole problem; smooth = relaxation alone, amg = cycles of "
        "algebraic multigrid by [amg]");
    s.each_needs_reader(methods(),
                        [](const Method& method, const std::string& key) { return method.reads(key); });
    s.real("tolerance", &Bottom::tolerance, inside(0, 1),
           "reduction of the residual's 2-norm, per visit or solve");
    s.integer("max_iterations", &Bottom::max_iterations, at_least(1),
              "limit on the iterations of a visit or solve", "iterations");
    s.choice("scaling", &Bottom::scaling,
             "scaling of the system by its diagonal: from the right for BiCGStab's family, on both sides for "
             "CG's");
    s.choice("preconditioner", &Bottom::preconditioner,
             "preconditioner on the coarsest level or of a matrix: none, or a cycle by [amg]");
    s.integer(
         "max_restarts", &Bottom::max_restarts, at_least(0),
         "limit on the restarts of a visit or solve whose true residual has not followed the recursive one",
         "restarts")
        .expert();
    s.integer(
         "given_iterations", &Bottom::given_iterations, at_least(0),
         "number of iterations, in all visits, that a predicted solve takes for granted; 0 = it finds out "
         "by solving",
         "iterations")
        .expert();
    s.integer("sweeps", &Bottom::sweeps, between(1, 1'000'000), "relaxation of the coarsest level", "sweeps")
        .expert();
    s.integer("depth", &Bottom::depth, between(1, 1000), "number of all-reduces in flight (p(l)-CG)",
              "all-reduces");
    s.choice("spectrum", &Bottom::spectrum,
             "interval of eigenvalues that polynomials are for: bounds by rows, with a preconditioner 0 to "
             "2; the "
             "extreme Ritz values of some steps of CG, once; or bottom.spectrum_lowest to spectrum_highest")
        .expert();
    s.integer("spectrum_steps", &Bottom::spectrum_steps, between(2, 1000), "steps of CG for the estimate",
              "steps")
        .expert()
        .needs("bottom.spectrum", {name(SpectrumFrom::estimate)});
    s.real("spectrum_lowest", &Bottom::spectrum_lowest, from(0),
           "lower end of the interval, of the scaled system")
        .expert()
        .needs("bottom.spectrum", {name(SpectrumFrom::given)});
    s.real("spectrum_highest", &Bottom::spectrum_highest, above(0), "upper end of the interval")
        .expert()
        .needs("bottom.spectrum", {name(SpectrumFrom::given)});
    s.choice("norm", &Bottom::norm,
             "norm that a preconditioned method of CG's family tests: |r|, or sqrt(r . M r), in which it "
             "minimises")
        .expert();
    s.integer("replace_every", &Bottom::replace_every, at_least(0),
              "distance of the replacements of recursive residuals by true ones; 0 = never", "iterations")
        .expert();
    s.integer("s", &Bottom::s, at_least(1), "number of iterations per all-reduce (s-step methods)",
              "iterations");
    s.choice(
        "basis", &Bottom::basis,
        "basis of the Krylov spaces of an s-step method; beyond s = 4 newton or chebyshev, with scaling = "
        "jacobi");
    s.flag("telescoping", &Bottom::telescoping,
           "growth of s: 1, 2, 4, ... up to bottom.s, not bottom.s at once")
        .expert();
    s.choice("gram_precision", &Bottom::gram_precision,
             "precision of the Gram matrices of an s-step method and of what follows from them; "
             "double_double for "
             "monomial bases beyond s = 4, where nothing is scaled")
        .expert();
    s.choice(
         "powers", &Bottom::powers,
         "exchanges of an s-step method: for both Krylov spaces at once; one space after the other; or of "
         "several ghost layers, for several powers of the operator")
        .expert();
    s.integer(
         "powers_depth", &Bottom::powers_depth, at_least(0),
         "number of ghost layers of matrix powers, at most the box's width; 0 = as many as powers, if the "
         "box has them",
         "ghost layers")
        .expert()
        .needs("bottom.powers", {name(Powers::matrix_powers)});
    s.choice("powers_passes", &Bottom::powers_passes,
             "passes of matrix powers over memory: one for each power, or one for all between two exchanges, "
             "which reads the "
             "operator once")
        .expert()
        .needs("bottom.powers", {name(Powers::matrix_powers)});
    s.integer("block", &Bottom::block, between(1, 1000), "number of directions at a time (enlarged methods)",
              "columns")
        .expert();
    s.choice("splitting", &Bottom::splitting,
             "cut of an enlarged method's residual: box or cell n to column n mod bottom.block, or slabs "
             "across x")
        .expert();
    s.choice("variant", &Bottom::variant,
             "form of enlarged CG: one all-reduce per iteration, or two that stand scaling = none")
        .expert();
}

void add_comm(Table& table) {
    using Comm = CommOptions;
    Section s(table, "comm", &Parameters::comm);
    // Schemes under each of their rules, and who else may choose one.
    std::vector<std::string> schemes;
    for (const SchemeOptions& scheme : candidates({})) schemes.push_back(keel::name(scheme));
    schemes.insert(schemes.end(), {"auto", "tuned"});
    s.choice("scheme", &Comm::scheme, schemes,
             "how ghosts travel; on each level: auto = least predicted time, tuned = fastest when tried");
    s.integer("message_cap", &Comm::message_cap, at_least(0),
              "longest message of split between nodes; 0 = where comm.machine's rendezvous begins", "bytes")
        .expert();
    s.integer("ranks_per_node", &Comm::ranks_per_node, at_least(0),
              "number of ranks on each pretended node; 0 = nodes as detected", "ranks");
    s.integer("ranks_per_socket", &Comm::ranks_per_socket, at_least(0),
              "number of consecutive ranks of a node that share a socket, for predictions and the messages "
              "of three_step and split; 0 = as detected, on pretended nodes as comm.machine has them",
              "ranks")
        .expert();
    s.text("machine", &Comm::machine,
           "machine to predict times on: NAME of machines/NAME.toml, or a path; \"\" = none", "path");
    s.text("node_map", &Comm::node_map,
           "file of pretended nodes, with a label a line for each rank, NODE or NODE:SOCKET; \"\" = none",
           "path")
        .expert();
    s.integer("ghost_depth", &Comm::ghost_depth, between(1, 8), "number of ghost layers", "cells").expert();
    s.choice(
         "neighbours", &Comm::neighbours,
         "boxes that ghosts come from: the 6 across the faces, or all 26 around; 4 and 8 in two dimensions")
        .expert();
    s.flag("overlap", &Comm::overlap, "work on the interior of boxes while their messages are under way");
    s.choice("device", &Comm::device,
             "way of a GPU's messages: through host memory, or from the device if the MPI takes that");
    s.choice(
        "allreduce", &Comm::allreduce,
        "sums over ranks: by MPI_(I)allreduce, or our own of point-to-point messages: by recursive doubling, "
        "by Rabenseifner's algorithm where longer than 2 KiB, within nodes first, or as is quickest on "
        "comm.machine");
    s.choice("allreduce_model", &Comm::allreduce_model,
             "all-reduces of predicted solves, if MPI makes them: as MPICH chooses between the next two; by "
             "doubling; by halving; by each node's first rank; by slices, one for each rank of a node; or "
             "the quickest")
        .expert()
        .needs("comm.allreduce", {"mpi"});
    s.flag("progress", &Comm::progress,
           "pushing on of all-reduces in flight, between operations of the bottom solver and while it waits")
        .expert();
    s.integer("sampled_nodes", &Comm::sampled_nodes, at_least(0),
              "number of nodes that a dry run draws to plan for, of more than 4096 ranks whose nodes do not "
              "tile the boxes; "
              "0 = all",
              "nodes")
        .expert();
}

void add_run(Table& table, std::span<const ModeWord> modes) {
    using Run = RunOptions;
    Section s(table, "run", &Parameters::run);
    std::vector<std::string> names;
    std::string meanings = "mode: ";
    for (const ModeWord& mode : modes) {
        meanings += (names.empty() ? "" : "; ") + mode.meaning;
        names.push_back(mode.name);
    }
    s.choice("mode", &Run::mode, names, meanings);
    std::vector<std::string> backends;
    for (const BackendInfo& info : all_backends()) backends.push_back(info.name);
    s.choice("backend", &Run::backend, backends, "programming model that runs the kernels");
    s.choice("gpu_sync", &Run::gpu_sync,
             "when the host waits for a GPU: after each operation, for results, or also replays graphs");
    s.flag("deterministic", &Run::deterministic, "sums in a fixed order, whatever the threads and ranks");
    s.integer("warmup", &Run::warmup, at_least(0), "number of solves thrown away first", "solves");
    s.integer("repeats", &Run::repeats, at_least(1), "number of measured solves", "solves");
    s.real("min_seconds", &Run::min_seconds, from(0),
           "time that the measured solves take together at least, by more of them than run.repeats", "s")
        .expert();
    s.real(
         "time_limit", &Run::time_limit, from(0),
         "time from the start of the program on, before which a run ends, like one that is interrupted, when "
         "another solve might not; 0 = none",
         "s")
        .expert();
    s.real("dry_run_limit", &Run::dry_run_limit, above(0),
           "bound on what a dry run takes by estimate, in minutes of one processor and in 2 GB", "")
        .expert();
    s.integer(
         "triad_mb", &Run::triad_mb, between(0, 25'000),
         "memory of the triad's arrays on each node; 0 = four times the last-level cache, at most 128, or 32 "
         "times a device's",
         "MB")
        .expert();
    s.text("label", &Run::label, "name of the run for its records", "").expert();
    s.flag("verbose", &Run::verbose, "progress on stderr even where it is no terminal").expert();
}

void add_output(Table& table) {
    Section s(table, "output", &Parameters::output);
    s.text("json", &OutputOptions::json, "file of JSON lines, one record a line; \"\" = none", "path");
    s.text("goal", &OutputOptions::goal,
           "file to which a predicted solve writes the schedule of its first V-cycle, in GOAL, for "
           "simulators of networks; "
           "\"\" = none",
           "path")
        .expert();
    s.integer("goal_events", &OutputOptions::goal_events, at_least(1),
              "most exchanges and all-reduces in output.goal, of the visit to the bottom")
        .expert();
    s.choice("times", &OutputOptions::times,
             "times in the report: of each operation the mean over ranks and the slowest rank; or also the "
             "fastest, which the slowest is, and calls")
        .expert()
        .needs("run.mode", {"solve", "krylov", "full_multigrid", "fixed_point", "orthogonalise"});
    s.flag("ranks", &OutputOptions::ranks, "a record also of each rank's time for each operation")
        .expert()
        .needs("output.json", {}, {""})
        .needs("run.mode",
               {"solve", "krylov", "survey", "full_multigrid", "spmv", "fixed_point", "orthogonalise"});
    s.flag("cycles", &OutputOptions::cycles, "a record also of each multigrid cycle")
        .expert()
        .needs("output.json", {}, {""})
        .needs("run.mode", {"solve", "survey"});
}

void add_amg(Table& table) {
    using Amg = AmgOptions;
    Section amg(table, "amg", &Parameters::amg);
    const std::vector<std::string> classical{keel::name(CoarseningRule::pmis),
                                             keel::name(CoarseningRule::hmis)};
    amg.choice("coarsening", &Amg::coarsening,
               "smoothed aggregation (MIS-2), or classical coarsening by PMIS or HMIS");
    amg.real("theta", &Amg::theta, {.lowest = 0, .highest = 1, .lowest_open = false},
             "strength threshold: of the diagonal, or (pmis, hmis) of a row's largest entry");
    amg.integer("sweeps", &Amg::sweeps, between(1, 4), "Jacobi sweeps that smooth the prolongation", "sweeps")
        .expert()
        .needs("amg.coarsening", {keel::name(CoarseningRule::aggregation)});
    amg.real("truncation", &Amg::truncation, {.lowest = 0, .highest = 1, .lowest_open = false},
             "drops interpolation weights below this part of the largest of a row")
        .expert()
        .needs("amg.coarsening", classical);
    amg.choice("smoothing", &Amg::smoother, "smoother: Jacobi of weight 2/3, or hybrid Gauss-Seidel");
    amg.choice("ownership", &Amg::ownership,
               "rank of a coarse row: that of its root, or levels condensed to fewer ranks")
        .expert();
    std::vector<std::string> rows_by{as_all_else};
    for (const SchemeOptions& one : candidates_without_axes({})) rows_by.push_back(keel::name(one));
    amg.choice("rows_scheme", &Amg::rows_scheme, rows_by,
               "scheme for rows of matrices in set-up: that of comm.scheme, or this one")
        .expert();
    amg.choice("coarsest", &Amg::coarsest,
               "coarsest level: factorised on each rank with rows or on one, or solved by cg")
        .expert();
    amg.integer("max_dense", &Amg::max_dense, between(1, 20000),
                "most rows of a coarsest level that is factorised", "rows")
        .expert()
        .needs("amg.coarsest", {keel::name(CoarsestRule::replicated), keel::name(CoarsestRule::gathered)});
}

void add_simulate(Table& table) {
    Section s(table, "simulate", &Parameters::simulate);
    s.integer("box", &SimulateOptions::box, between(0, 16384),
              "width of the boxes that a simulated run is charged for while it computes with those of "
              "problem.box, "
              "which have to be these halved some times: a surrogate; 0 = problem.box",
              "cells")
        .expert();
}

}  // namespace

void add_common_keys(Table& table, std::span<const ModeWord> modes) {
    add_problem(table);
    add_multigrid(table);
    add_bottom(table);
    add_comm(table);
    add_run(table, modes);
    add_output(table);
    add_amg(table);
    add_simulate(table);
}

Index resolved_boxes(const ProblemOptions& problem, int ranks) {
    if (problem.boxes != Index{}) return problem.boxes;
    if (problem.shape == DomainShape::tags) {
        const double wanted = 1.0 * ranks * problem.boxes_per_rank / problem.fill;
        const bool plane = problem.dimensions == 2;
        int edge = 1;
        while (edge < 2048 && 1.0 * edge * edge * (plane ? 1 : edge) < wanted)
            ++edge;  // more cannot be numbered
        return {edge, edge, plane ? 1 : edge};
    }
    if (problem.shape == DomainShape::list) {
        Index around{};
        for (const Index& position : problem.boxes_list.positions)
            for (std::size_t d = 0; d < 3; ++d)
                if (position[d] < std::numeric_limits<int>::max())
                    around[d] = std::max(around[d], position[d] + 1);
        return around;
    }
    return most_cubic(ranks * problem.boxes_per_rank, static_cast<std::size_t>(problem.dimensions));
}

}  // namespace keel
