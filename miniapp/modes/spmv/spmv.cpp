// run.mode = spmv: products of a sparse matrix with vectors, and solves with it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "miniapp/deck/section.hpp"
#include "miniapp/files/numpy_file.hpp"
#include "miniapp/files/output_files.hpp"
#include "miniapp/modes/spmv/matrix/file/file_rows.hpp"
#include "miniapp/modes/spmv/spmv_mode.hpp"
#include "miniapp/setup/machine/dry_run_cost.hpp"
#include "miniapp/setup/problem/file_values.hpp"
#include "miniapp/setup/problem/problem.hpp"
#include "miniapp/setup/problem/shape.hpp"
#include "miniapp/setup/rules/grid_rules.hpp"
#include "miniapp/setup/rules/run_rules.hpp"
#include "miniapp/setup/rules/solver_rules.hpp"
#include "solvers/amg/options.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {

MatrixChoice matrix_of(const Deck& deck, int ranks) {
    const auto options = deck.parameters.mode_options.of<MatrixOptions>();
    ProblemOptions problem = deck.parameters.problem;
    problem.rhs = ProblemOptions().rhs;  // is not the operator's, and no array of the grid
    if (options.matrix == grid_matrix)
        return {.options = options,
                .grid = GridOperator{problem, domain_of(problem, ranks)},
                .seed = problem.seed};
    const bool plane = options.matrix == "convection" && problem.dimensions == 2;
    problem.dimensions = plane ? 2 : 3;  // no other matrix' key
    return {.options = options,
            .cells = in_each_direction(problem.box, plane ? 2 : 3, 1) * resolved_boxes(problem, ranks),
            .seed = problem.seed};
}

double entry_of_x(std::int64_t row, std::size_t column) {
    return std::sin(0.7 * static_cast<double>(row % 1000003) + static_cast<double>(column) + 1.0);
}

namespace {

Unknowns rows_of(const MatrixChoice& matrix) {
    return {static_cast<double>(matrix_size(matrix).rows), "rows of the matrix", "more rows"};
}

// The file with f of solves; empty: f = A x.
std::string file_of_rhs(const Deck& deck) {
    const bool solves = deck.parameters.mode_options.of<MatrixOptions>().solve;
    return solves ? deck.parameters.problem.rhs_file : "";
}

class SpmvMode : public Mode {
  public:
    std::string name() const override { return "spmv"; }
    std::string meaning() const override { return "sparse matrix-vector products"; }

    void add_keys(Table& table) const override {
        using Matrix = MatrixOptions;
        Section<Matrix> problem(table, "problem", name());
        problem.text("matrix", &Matrix::matrix,
                     "name of a generator (docs/how-to/matrix.md), or a file *.mtx or *.mtx.gz", "path");
        problem.integer("rows", &Matrix::rows, between(1, most_rows), "size of a generated matrix", "rows")
            .needs("problem.matrix", {"banded", "random", "arrow", "dense_blocks", "stencil5", "diagonal"});
        problem
            .integer("row_entries", &Matrix::row_entries, between(1, 10000),
                     "entries on each side of a banded diagonal, of a random row; rows of a block")
            .needs("problem.matrix", {"banded", "random", "dense_blocks"});
        problem.real("peclet", &Matrix::peclet, from(0), "strength of the wind over that of diffusion")
            .needs("problem.matrix", {"convection"});
        problem.experts().choice("ordering", &Matrix::ordering,
                                 "order of the matrix' rows: as given, shuffled, or reverse Cuthill-McKee");
        Section<Matrix>(table, "comm", name())
            .experts()
            .integer("ranks_per_device", &Matrix::ranks_per_device, at_least(1),
                     "ranks of a device: the first on its node has rows, the others help to send", "ranks");
        Section<Matrix> run(table, "run", name());
        run.flag("solve", &Matrix::solve, "solves of A u = A x by bottom.solver, besides products");
    }

    KeyUses keys() const override {
        const Condition grid{"problem.matrix",
                             {"stencil7", "stencil27", "rotated", "convection", "elasticity", grid_matrix}};
        const Condition of_problem{"problem.matrix", {grid_matrix}};
        const Condition solving{"run.solve", {"true"}};
        const std::string blocks = keel::name(PreconditionerKind::block_ic0);
        std::vector<KeyUse> uses{
            {"problem.box", {grid}},
            {"problem.boxes", {grid}},
            {"problem.boxes_per_rank", {grid}},
            {"problem.seed", {{"problem.matrix", {"random"}}}},
            {"problem.seed", {{"problem.ordering", {"random"}}}},
            {"problem.seed", {of_problem, {"problem.shape", {"scattered", "tags"}}}},
            {"problem.rhs", {{"problem.rhs", {}, words_of_grids(), "a file"}, solving}},
            {"comm.allreduce", {solving}},
            {"comm.all_reduce_us", {solving}},
            {"bottom.preconditioner",
             {solving, {"bottom.preconditioner", {"none", keel::name(PreconditionerKind::amg), blocks}}},
             "",
             true},
            {"bottom.", {solving}},
            {"amg.", {solving, {"bottom.solver", {algebraic_cycles().name}}}},
            {"amg.", {solving, {"bottom.preconditioner", {keel::name(PreconditionerKind::amg)}}}}};
        for (const char* key :
             {"problem.matrix", "problem.rows", "problem.row_entries", "problem.peclet", "problem.ordering",
              "problem.columns", "problem.ranks", "run.", "comm.", "output."})  // whatever the others are
            uses.push_back({key});
        const std::string otherwise = "plays no part in run.mode = spmv; leave it out";
        for (const char* key : {"run.deterministic", "comm.ghost_depth", "comm.neighbours", "comm.precision"})
            uses.push_back({key, {}, otherwise});
        uses.push_back({.key = "problem.dimensions",
                        .needs = {{"problem.matrix", {"convection", grid_matrix}}},
                        .besides = true});
        for (const char* key : {"problem.shape", "problem.fill", "problem.outside", "problem.a", "problem.b",
                                "problem.coefficients", "problem.contrast", "problem.anisotropy",
                                "problem.alpha", "problem.boundary"})
            uses.push_back({.key = key, .needs = {of_problem}, .besides = true});
        return {uses, otherwise};
    }

    std::vector<NamedSolver> solvers(const Deck& deck) const override {
        const auto options = deck.parameters.mode_options.of<MatrixOptions>();
        if (!options.solve) return {};
        std::vector<NamedSolver> solvers = solver_of_deck(deck);
        BottomOptions& chosen = solvers.front().options;
        if (method_named(chosen.solver).repeats_cycles()) chosen.scaling = Scaling::none;
        return solvers;
    }

    // Reads the beginning of a matrix file.
    void check(Rules& rules, int ranks) const override {
        const Parameters& p = rules.parameters();
        const auto options = p.mode_options.of<MatrixOptions>();
        check_sums(rules);
        const std::vector<std::string> generated = generator_names();
        std::string reason;
        if (is_matrix_file(options.matrix))
            reason = why_not_readable(options.matrix);
        else if (std::ranges::find(generated, options.matrix) == generated.end())
            reason = fmt::format("unknown; choose {}, or a file that ends in .mtx or .mtx.gz",
                                 fmt::join(generated, ", "));
        rules.allow(reason.empty(), {"problem.matrix"}, reason);
        rules.allow(!is_matrix_file(options.matrix) || p.output.json.empty() ||
                        !is_same_file(options.matrix, p.output.json),
                    {"output.json"}, "is read by this run; choose another");
        const std::int64_t side = side_of_square(options.rows);
        rules.allow(
            !is_square(options.matrix) || side * side == options.rows, {"problem.rows", "problem.matrix"},
            fmt::format(
                "problem.matrix = \"{}\" has a row for each of n x n points; give a square, such as {}",
                options.matrix, side * side));
        rules.allow(options.ordering == Ordering::natural || rows_of_node({options}) == 1,
                    {"problem.ordering", "problem.matrix"},
                    "the rows of a node belong together; choose natural");
        const bool boxes_known = check_boxes(rules, ranks, false);
        check_scheme(rules);
        if (!options.solve) return;
        if (const std::string file = file_of_rhs(rules.deck());
            !file.empty() && reason.empty() && boxes_known) {
            const std::string why = why_no_values(file, matrix_size(matrix_of(rules.deck(), ranks)).rows);
            rules.allow(why.empty(), {"problem.rhs"}, why);
        }
        for (const NamedSolver& solver : solvers(rules.deck())) check_preconditioner(rules, solver, true);
        if (reason.empty() && boxes_known)
            check_solvers(rules, solvers(rules.deck()), rows_of(matrix_of(rules.deck(), ranks)));
        rules.allow(!exchanges_for_several(p.bottom.powers), {"bottom.powers", "run.mode"},
                    "only grids have ghosts so deep; choose paired or sequential");
        rules.allow(
            method_named(p.bottom.solver).is_krylov() || method_named(p.bottom.solver).repeats_cycles(),
            {"bottom.solver", "run.solve"}, "relaxes grids only; choose another");
    }

    // The matrix file and the rank's part of its diagonal; the right-hand side.
    void check_on(Rules& rules, const Communicator& comm) const override {
        const Parameters& p = rules.parameters();
        const auto options = p.mode_options.of<MatrixOptions>();
        ReadLimit limit;
        if (rules.of_dry_run())
            limit = {
                DryRunLimit{p.run.dry_run_limit}.file_bytes(),
                "a dry run reads no more; leave out comments and empty lines, or raise run.dry_run_limit"};
        FileVerdict found;
        if (is_matrix_file(options.matrix))
            found = judge_file(comm, options.matrix,
                               options.solve ? scaling_of(p.bottom) : DiagonalScaling::none, limit);
        rules.allow(found.complaint.empty(), {"problem.matrix"}, found.complaint);
        rules.require(found.not_scalable.empty(), {"bottom.scaling", "problem.matrix"},
                      fmt::format("bottom.scaling = \"jacobi\": {}; give bottom.scaling = \"none\"",
                                  found.not_scalable));
        const std::string rhs = file_of_rhs(rules.deck());
        if (rhs.empty() || !found.complaint.empty()) return;
        const int ranks = p.problem.ranks > 0 ? p.problem.ranks : comm.size();
        const std::string fault =
            judge_values(comm, rhs, matrix_size(matrix_of(rules.deck(), ranks)).rows, limit);
        rules.allow(fault.empty(), {"problem.rhs"}, fault);
    }

    std::unique_ptr<PreparedMode> prepare(const Deck& deck, const Resolved& resolved) const override {
        MatrixUse use{.matrix = matrix_of(deck, resolved.ranks),
                      .columns = deck.parameters.problem.columns,
                      .solver = {},
                      .amg = deck.parameters.amg,
                      .rhs_file = file_of_rhs(deck)};
        std::vector<NamedSolver> fitted = solvers(deck);
        Resolved told = resolved;
        told.comm.scheme.ranks_per_device = use.matrix.options.ranks_per_device;
        if (!fitted.empty()) {
            for (const std::string& remark : fit_solvers(fitted, rows_of(use.matrix)))
                told.remarks.push_back(remark);
            use.solver = fitted.front();
            if (is_single(use.rhs_file, use.matrix))
                told.remarks.push_back(remark_on_conversion("problem.rhs", use.rhs_file));
            if (const auto& grid = use.matrix.grid)
                if (const std::string warning = warning_of_lost_digits(grid->problem, grid->domain);
                    !warning.empty())
                    told.warnings.push_back(warning);
            if (use.uses_amg())
                told.remarks.push_back(
                    "the predicted memory leaves out the levels of algebraic multigrid below the finest; a "
                    "dry run with problem.ranks estimates them");
        }
        return std::make_unique<PreparedSpmv>(told, use);
    }

  private:
    // The words of problem.rhs that are functions on grids, but for the default.
    static std::vector<std::string> words_of_grids() {
        std::vector<std::string> words;
        for (const Rhs rhs : values_of<Rhs>())
            if (rhs != Rhs::file && rhs != ProblemOptions().rhs) words.emplace_back(keel::name(rhs));
        return words;
    }
    // Whether rank 0, which alone needs to find it, finds values of float32.
    static bool is_single(const std::string& file, const MatrixChoice& matrix) {
        try {
            return file.ends_with(".npy") && NumpyFile(file, matrix_size(matrix).rows).is_single();
        } catch (const NumpyFileError&) {
            return false;
        }
    }
    // A matrix has no axes.
    static void check_scheme(Rules& rules) {
        const std::string& scheme = rules.parameters().comm.scheme;
        const auto chosen = candidate_named(scheme, {});
        std::vector<std::string> able;
        for (const Planner& planner : planners())
            if (!planner.needs_axes() && !planner.needs_helpers) able.push_back(planner.word);
        rules.allow(!chosen || !planner(chosen->scheme).needs_axes(), {"comm.scheme"},
                    fmt::format("a matrix has no axes; choose {}, auto or tuned", fmt::join(able, ", ")));
        const bool helped = rules.parameters().mode_options.of<MatrixOptions>().ranks_per_device > 1;
        rules.allow(!chosen || !planner(chosen->scheme).needs_helpers || helped,
                    {"comm.scheme", "comm.ranks_per_device"},
                    "every rank has rows, and none helps; give comm.ranks_per_device, such as 2");
    }
};

}  // namespace

std::unique_ptr<Mode> make_spmv_mode() {
    return std::make_unique<SpmvMode>();
}

}  // namespace keel
