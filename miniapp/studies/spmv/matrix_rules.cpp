#include "miniapp/studies/spmv/matrix_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "miniapp/setup/solver_rules.hpp"
#include "miniapp/studies/spmv/matrix_source.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {

void check_matrix(Rules& rules, const Parameters& p, int ranks) {
    const std::string& matrix = p.problem.matrix;
    constexpr const char* generated[] = {"stencil7", "stencil27", "banded", "random", "arrow"};
    std::string reason;
    if (is_matrix_file(matrix))
        reason = why_not_readable(matrix);
    else if (std::ranges::find(generated, matrix) == std::end(generated))
        reason = fmt::format("unknown; choose {}, or a file that ends in .mtx", fmt::join(generated, ", "));
    rules.require(reason.empty(), {"problem.matrix"},
                  fmt::format("problem.matrix = \"{}\": {}", matrix, reason));
    rules.require(
        p.comm.scheme != SchemeKey::staged_axes, {"comm.scheme"},
        "comm.scheme = \"staged_axes\": a matrix has no axes; choose standard, two_step, three_step, "
        "split, model or tuned");
    if (!p.run.solve) return;
    if (reason.empty())
        check_solvers(rules, p,
                      {static_cast<double>(matrix_size(p, ranks).rows), "rows of the matrix", "more rows"});
    rules.require(
        p.bottom.powers != Powers::matrix_powers, {"bottom.powers", "run.mode"},
        "bottom.powers = \"matrix_powers\": only grids have ghosts so deep; choose paired or sequential");
    rules.require(method_named(p.bottom.solver).is_krylov(), {"bottom.solver", "run.solve"},
                  fmt::format("bottom.solver = \"{}\": relaxes grids only; choose another", p.bottom.solver));
}

std::vector<std::string> validate_part(const Deck& deck, int ranks, int rank) {
    const Parameters& p = deck.parameters;
    Rules rules(deck);
    if (p.run.mode == Mode::spmv && p.run.solve && is_matrix_file(p.problem.matrix) &&
        p.bottom.scaling != Scaling::none) {
        const std::string reason = why_not_scalable(p.problem.matrix, ranks, rank, scaling_of(p.bottom));
        rules.require(reason.empty(), {"bottom.scaling", "problem.matrix"},
                      fmt::format("bottom.scaling = \"jacobi\": {}; give bottom.scaling = \"none\"", reason));
    }
    return std::move(rules).errors();
}

}  // namespace keel
