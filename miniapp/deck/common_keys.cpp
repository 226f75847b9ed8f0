// The keys that modes share, section by section.

#include <algorithm>
#include <limits>
#include <tuple>

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
    Section expert = s.experts();
    s.integer("dimensions", &Problem::dimensions, between(2, 3),
              "number of dimensions; in two, boxes are squares in one layer");
    s.integer("box", &Problem::box, between(1, 16384), "width of a box, in three dimensions at most 1024",
              "cells");
    s.integer("boxes_per_rank", &Problem::boxes_per_rank, at_least(1),
              "boxes of each rank where problem.boxes is not given", "boxes");
    s.integer("ranks", &Problem::ranks, between(0, 1 << 20),
              "virtual ranks of --dry-run; 0 = those that were started", "ranks");
    s.add("boxes", triple_kind(0), &Problem::boxes,
          "boxes in each direction; [0,0,0] = as cubic as ranks x boxes_per_rank allow", "boxes");
    s.add("shape", shape_kind("shape"), std::tuple(&Problem::shape, &Problem::boxes_list),
          "boxes present: by a rule, a list of positions, or a file with one a line");
    expert
        .real("fill", &Problem::fill, {.lowest = 0, .highest = 1, .highest_open = false},
              "fraction of the boxes that is present")
        .needs("problem.shape", {name(DomainShape::scattered), name(DomainShape::tags)});
    expert.choice("outside", &Problem::outside, "boundary condition where a box is missing inside the domain")
        .needs("problem.shape", {}, {name(DomainShape::cube)});
    s.real("a", &Problem::a, from(0), "factor a of the equation; 0 makes it Poisson's");
    s.real("b", &Problem::b, above(0), "factor b of the equation");
    s.choice("coefficients", &Problem::coefficients,
             "coefficient beta: 1, K^(sin sin sin / 2), K inside a ball, or a wavy front");
    s.real("contrast", &Problem::contrast, above(0), "contrast K of the coefficient beta")
        .needs("problem.coefficients", {"smooth", "ball", "front"});
    expert.add("anisotropy", real_triple_kind(above(0)), &Problem::anisotropy,
               "factors of the coefficient beta along x, y and z", "");
    expert.add("drift", real_triple_kind({}), &Problem::drift,
               "distance that coefficients and source move in a step", "lengths of the domain");
    expert.choice("alpha", &Problem::alpha, "coefficient alpha: 1, or 1 + cos cos cos / 2");
    s.add("rhs", word_or_file_kind<Rhs>("rhs", {".npy", ".mtx", ".mtx.gz"}),
          std::tuple(&Problem::rhs, &Problem::rhs_file),
          "right-hand side f; manufactured and linear: of a known u; point: one cell");
    expert.add("data", word_or_file_kind<BoundaryData>("data", {".npy"}),
               std::tuple(&Problem::data, &Problem::data_file),
               "values of u on Dirichlet faces: 0; 1 + x - 2 y + z/2; 1/2 + cos cos cos");
    expert
        .integer("seed", &Problem::seed, at_least(0),
                 "seed of random right-hand sides, shapes, matrices and orderings")
        .needs("problem.rhs", {"random"});
    expert.choice("placement", &Problem::placement,
                  "rule by which ranks own boxes; curve = along a space-filling curve");
    expert.choice("storage", &Problem::storage,
                  "memory of a rank's boxes: apart, or a cuboid of them without ghosts inside");
    s.add("boundary", boundaries_kind("boundary"), &Problem::boundary,
          "boundary condition: one word, or three; two sides as \"neumann/dirichlet\"");
    expert.integer("columns", &Problem::columns, between(1, 1000),
                   "vectors that are multiplied, or fields that are exchanged, at a time", "columns");
}

void add_multigrid(Table& table) {
    using Multigrid = MultigridOptions;
    Section s(table, "multigrid", &Parameters::multigrid);
    Section expert = s.experts();
    s.choice("cycle", &Multigrid::cycle, "kind of cycle: V-cycles, or full multigrid first (F)");
    s.choice("accelerator", &Multigrid::accelerator,
             "iteration around the cycles: none, or conjugate gradients that they precondition");
    s.integer("pre", &Multigrid::pre, between(0, 1000), "smoothing before the coarse correction", "sweeps");
    s.integer("post", &Multigrid::post, between(0, 1000), "smoothing after the coarse correction", "sweeps");
    s.choice("interpolation", &Multigrid::interpolation,
             "interpolation of the correction: piecewise constant or trilinear");
    s.integer("bottom_box", &Multigrid::bottom_box, at_least(1),
              "width of the coarsest boxes: problem.box halved any number of times", "cells");
    s.integer_or({{"never", 0}}, "agglomerate", &Multigrid::agglomerate, at_least(1),
                 "cells per rank below which coarse boxes are merged, on fewer ranks", "cells");
    expert.integer_or({{"distributed", BottomRanks::owners},
                       {"consolidate", BottomRanks::one_in_eight},
                       {"gather", BottomRanks::one},
                       {"replicate", BottomRanks::all}},
                      "bottom_grid", &Multigrid::bottom_grid, at_least(1),
                      "ranks of the coarsest level: owners of boxes, one in eight, one, all or a number",
                      "ranks");
    s.real("tolerance", &Multigrid::tolerance, inside(0, 1),
           "largest max|f - L u| / max|f| of a converged solve");
    s.integer("max_cycles", &Multigrid::max_cycles, at_least(1), "limit on the cycles of a solve", "cycles");
    s.choice("precision", &Multigrid::precision,
             "precision of cycles: double, or single (mixed), faces in 16 bits (mixed_half)");
    expert.flag("reference_path", &Multigrid::reference_path,
                "reference path: one pass per half sweep, boxes apart, ghosts of both colours");
    std::vector<Word> words;
    for (const Smoother& smoother : smoothers()) words.push_back({smoother.name, smoother.meaning});
    s.choice("smoother", &Multigrid::smoother, words, "smoother");
    s.each_needs_reader(smoothers(), [](const Smoother& smoother, const std::string& key) {
        return std::ranges::find(smoother.keys, key) != smoother.keys.end();
    });
    expert = s.experts();
    expert
        .integer_or({{"auto", 0}}, "fused_box", &Multigrid::fused_box, at_least(1),
                    "narrowest boxes whose half sweeps are one pass; auto = 32 with OpenMP, else none",
                    "cells")
        .needs("multigrid.reference_path", {"false"});
    expert
        .integer_or({{"all", 0}}, "fused_half_sweeps", &Multigrid::fused_half_sweeps, at_least(1),
                    "most half sweeps in one pass; all = those before or after a correction", "half sweeps")
        .needs("multigrid.reference_path", {"false"});
    expert.real("relaxation", &Multigrid::relaxation, inside(0, 2),
                "relaxation factor of the Gauss-Seidel smoother; above 1: over-relaxed");
    expert.choice("ghost_colours", &Multigrid::ghost_colours,
                  "colours in messages of half sweeps: both, or needed: the one that is read");
}

void add_bottom(Table& table) {
    using Bottom = BottomOptions;
    Section s(table, "bottom", &Parameters::bottom);
    s.choice("solver", &Bottom::solver, method_names(),
             "solver on the coarsest level, or of the whole problem; smooth = relaxation");
    s.each_needs_reader(methods(),
                        [](const Method& method, const std::string& key) { return method.reads(key); });
    Section expert = s.experts();
    s.real("tolerance", &Bottom::tolerance, inside(0, 1),
           "reduction of the residual's 2-norm in a visit or solve");
    s.integer("max_iterations", &Bottom::max_iterations, at_least(1),
              "limit on the iterations of a visit or solve", "iterations");
    s.choice("scaling", &Bottom::scaling,
             "diagonal scaling: from the right for BiCGStab, on both sides for CG");
    s.choice("preconditioner", &Bottom::preconditioner,
             "AMG for coarsest levels, matrices; block_ic0 for matrices; all but AMG in krylov");
    expert.integer("max_restarts", &Bottom::max_restarts, at_least(0),
                   "limit on restarts after a true residual that misses the tolerance", "restarts");
    expert.integer("assumed_iterations", &Bottom::assumed_iterations, at_least(0),
                   "iterations that a predicted solve assumes; 0 = counted by a proxy solve", "iterations");
    expert.integer("sweeps", &Bottom::sweeps, between(1, 1'000'000), "relaxation of the coarsest level",
                   "sweeps");
    s.integer("depth", &Bottom::depth, between(1, 1000), "number of all-reduces in flight (p(l)-CG)",
              "all-reduces");
    expert.add("spectrum", spectrum_kind("spectrum"),
               std::tuple(&Bottom::spectrum, &Bottom::spectrum_lowest, &Bottom::spectrum_highest),
               "eigenvalues of the scaled system: bounds by rows, Ritz values of CG, or given");
    expert.choice("norm", &Bottom::norm,
                  "norm that is tested: |r|, or sqrt(r . M r) with a preconditioner M, or max|r|");
    s.integer("s", &Bottom::s, at_least(1), "number of iterations per all-reduce (s-step methods)",
              "iterations");
    s.choice("basis", &Bottom::basis, "basis of s-step Krylov spaces; beyond s = 4 newton or chebyshev");
    expert.flag("telescoping", &Bottom::telescoping, "s grows as 1, 2, 4, ... up to bottom.s");
    expert.choice("gram_precision", &Bottom::gram_precision,
                  "precision of Gram matrices; double_double for monomial bases beyond s = 4");
    expert.choice("small_system", &Bottom::small_system,
                  "solves of small systems: by Cholesky, or 20 Gauss-Seidel sweeps");
    expert.choice("powers", &Bottom::powers,
                  "how s-step bases are exchanged: paired (both bases), sequential, matrix powers");
    expert
        .integer("powers_depth", &Bottom::powers_depth, at_least(0),
                 "ghost layers of matrix powers; 0 = one for each power, if boxes have them", "ghost layers")
        .needs("bottom.powers", {name(Powers::matrix_powers), name(Powers::fused_matrix_powers)});
    expert.integer("block", &Bottom::block, between(1, 1000),
                   "number of directions at a time (enlarged methods)", "columns");
    expert.choice("splitting", &Bottom::splitting,
                  "split of an enlarged method's residual: boxes, cells in turns, or slabs");
    expert.integer("restart", &Bottom::restart, between(1, 1000), "iterations between restarts (GMRES)",
                   "iterations");
    expert.choice("orthogonalisation", &Bottom::orthogonalisation,
                  "how GMRES makes its basis orthogonal; delayed: by one all-reduce an iteration");
}

void add_comm(Table& table) {
    using Comm = CommOptions;
    Section s(table, "comm", &Parameters::comm);
    Section expert = s.experts();
    // Schemes under each of their rules, and who else may choose one.
    std::vector<std::string> schemes;
    for (const SchemeOptions& one : candidates({.ranks_per_device = 2})) schemes.push_back(keel::name(one));
    schemes.insert(schemes.end(), {"auto", "tuned"});
    s.choice("scheme", &Comm::scheme, schemes,
             "scheme of ghosts; auto = least predicted time, tuned = fastest when tried");
    expert.integer("message_cap", &Comm::message_cap, at_least(0),
                   "longest message of split between nodes; 0 = where rendezvous begins", "bytes");
    s.integer("ranks_per_node", &Comm::ranks_per_node, at_least(0),
              "ranks on each virtual node; 0 = nodes as detected", "ranks");
    expert.integer("ranks_per_socket", &Comm::ranks_per_socket, at_least(0),
                   "consecutive ranks of a node that share a socket; 0 = as detected", "ranks");
    s.text("machine", &Comm::machine,
           "machine to predict times on: a name in machines/, or a path; \"\" = none", "path");
    expert.text("node_map", &Comm::node_map,
                "file with NODE or NODE:SOCKET a line for each rank; \"\" = none", "path");
    expert.integer("ghost_depth", &Comm::ghost_depth, between(1, 8), "number of ghost layers", "cells");
    expert.choice("neighbours", &Comm::neighbours,
                  "boxes that ghosts come from: across the faces, or all around");
    std::vector<std::string> transports = words_of<Carrier>();
    transports.push_back("auto");
    s.choice("transport", &Comm::transport, transports,
             "calls that carry messages; auto = fastest when tried, by level and purpose");
    s.flag("overlap", &Comm::overlap, "compute what needs no ghosts while messages are in flight");
    expert.choice("precision", &Comm::precision,
                  "precision of ghosts that cycles send; of residuals it stays double");
    s.choice("device", &Comm::device, "path of a GPU's messages: through host memory, or from the device");
    s.choice("allreduce", &Comm::allreduce,
             "all-reduces: MPI's, or of messages; auto = least predicted time");
    expert.real("all_reduce_us", &Comm::all_reduce_us, from(0),
                "predicted time of an all-reduce of one word; 0 = by the machine's file", "us");
}

void add_run(Table& table, const std::vector<Word>& modes) {
    using Run = RunOptions;
    Section s(table, "run", &Parameters::run);
    Section expert = s.experts();
    s.choice("mode", &Run::mode, modes, "what is run and measured");
    std::vector<std::string> backends;
    for (const BackendInfo& info : all_backends()) backends.push_back(info.name);
    s.choice("backend", &Run::backend, backends, "programming model that runs the kernels");
    s.choice("gpu_sync", &Run::gpu_sync, "when the host waits for a GPU: each operation, results, or graphs");
    s.flag("deterministic", &Run::deterministic, "sums in a fixed order, whatever the threads and ranks");
    s.integer("warmup", &Run::warmup, at_least(0), "number of solves before the measured ones", "solves");
    s.integer("repeats", &Run::repeats, at_least(1),
              "number of measured solves; of messages the fastest counts", "solves");
    expert.real("time_limit", &Run::time_limit, from(0),
                "time after which a run ends before its next solve; 0 = none", "s");
    expert.real("dry_run_limit", &Run::dry_run_limit, above(0),
                "limit of a dry run, in minutes of one processor and in 2 GB", "");
    expert.integer("triad_mb", &Run::triad_mb, between(0, 25'000),
                   "memory of the triad's arrays on each node; 0 = by the caches", "MB");
    expert.add("label", label_kind(), &Run::label, "name of the run for its records", "");
}

void add_output(Table& table) {
    Section s(table, "output", &Parameters::output);
    Section expert = s.experts();
    s.text("json", &OutputOptions::json, "file of JSON lines, one record a line; \"\" = none", "path");
    expert.flag("details", &OutputOptions::details,
                "all times of operations, and records of each rank and of pairs of ranks");
    expert
        .text("result", &OutputOptions::result, "file of the benchmark's result, which must not be there yet",
              "path")
        .needs("run.mode", {"benchmark", "quick_benchmark"});
}

void add_amg(Table& table) {
    using Amg = AmgOptions;
    Section amg(table, "amg", &Parameters::amg);
    Section expert = amg.experts();
    amg.choice("coarsening", &Amg::coarsening,
               "smoothed aggregation (MIS-2): by rows, smoothed twice, constants; or classical");
    amg.real("theta", &Amg::theta, {.lowest = 0, .highest = 1, .lowest_open = false},
             "strength threshold: of the diagonal, or (not aggregation) of a row's largest");
    amg.choice("smoothing", &Amg::smoother,
               "smoother: Jacobi of weight 2/3 or less (l1), or hybrid Gauss-Seidel");
    expert.choice("ownership", &Amg::ownership,
                  "rank of a coarse row: that of its root, or levels condensed to fewer ranks");
    std::vector<std::string> rows_by{as_all_else};
    for (const SchemeOptions& one : candidates_without_axes({})) rows_by.push_back(keel::name(one));
    expert.choice("rows_scheme", &Amg::rows_scheme, rows_by,
                  "scheme for rows of matrices in set-up: that of comm.scheme, or this one");
    expert.choice("coarsest", &Amg::coarsest,
                  "coarsest level: factorised on each rank with rows or on one, or solved by cg");
    expert
        .integer("max_dense", &Amg::max_dense, between(1, 20000),
                 "most rows of a coarsest level that is factorised", "rows")
        .needs("amg.coarsest", {keel::name(CoarsestRule::replicated), keel::name(CoarsestRule::gathered)});
}

}  // namespace

void add_common_keys(Table& table, const std::vector<Word>& modes) {
    add_problem(table);
    add_multigrid(table);
    add_bottom(table);
    add_comm(table);
    add_run(table, modes);
    add_output(table);
    add_amg(table);
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
