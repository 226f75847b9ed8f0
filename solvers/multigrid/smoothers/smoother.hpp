#pragma once

// The smoothers. Each is one file of smoothers/, which ends in its row; the list in smoother.cpp names it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/bodies/stencil.hpp"
#include "kernels/layout/field.hpp"
#include "solvers/multigrid/options.hpp"

namespace keel {

struct Level;
class Operations;
struct PassEnd;

// One row. Its functions relax L u = f on one level. Ghosts of u are exchanged before every pass; those left
// in u are not current. They may overwrite the level's r. `operations` are the level's, as the caller wants
// them timed. Zeros are there, unless there are half sweeps that make them: fused ones, or such as keep
// ghosts.
struct Smoother {
    std::string name;
    std::string meaning;                 // a noun phrase
    std::vector<std::string> keys = {};  // the keys of [multigrid] that it reads
    using Relax = void(Level& level, Operations& operations, int sweeps, const MultigridOptions& options,
                       Guess guess);
    Relax* relax = nullptr;
    // The adjoint of relax in the inner product of L; null: relax is its own, as every polynomial in D^-1 L
    // is.
    Relax* reversed = nullptr;
    // Passes over the grid, each with an exchange, that a level with `fused` makes one of; 0: it cannot.
    int fusible = 0;  // per sweep; above 0 they are half sweeps of two colours
    // relax and the end of a leg as one pass, on a level with ends_in_pass(); null if nothing is fusible.
    void (*relax_to_end)(Level& level, Operations& operations, int sweeps, const MultigridOptions& options,
                         Guess guess, const PassEnd& end) = nullptr;
    // The colour of the cells whose u is read by `sweeps` sweeps, and of those whose residual is more than
    // rounding after them; null: all cells. The adjoint has them the other way round.
    std::optional<Colour> (*read)(int sweeps, const MultigridOptions& options) = nullptr;
    std::optional<Colour> (*unsolved)(int sweeps, const MultigridOptions& options) = nullptr;
    // A last pass with one exchange that makes the whole read the same backwards; null: it does without.
    void (*closing)(Level& level, Operations& operations, const MultigridOptions& options) = nullptr;
};

// All of them, the default first.
const std::vector<Smoother>& smoothers();
std::vector<std::string> smoother_names();
const Smoother& smoother_named(std::string_view name);  // throws std::invalid_argument for an unknown name

// Relaxes with options.smoother. On a level with `fused` half sweeps f has its deep ghosts
// (share_right_hand_side).
void smooth(Level& level, Operations& operations, int sweeps, const MultigridOptions& options,
            Guess guess = Guess::any);

// smooth(), and then `restricted`, of the next level, is the restriction of f - L u: in the same pass or
// after an exchange. Where the last half sweep has left nothing but rounding the residual counts as zero.
void smooth_and_restrict(Level& level, Operations& operations, int sweeps, const MultigridOptions& options,
                         Guess guess, Field restricted);

// smooth(), and then max|f - L u| of this rank, on the same cells: in the same pass or after an exchange;
// +infinity where a value is not finite.
double smooth_and_measure(Level& level, Operations& operations, int sweeps, const MultigridOptions& options,
                          Guess guess);

// The adjoint of smooth() in the inner product of L.
void smooth_reversed(Level& level, Operations& operations, int sweeps, const MultigridOptions& options,
                     Guess guess);

// smooth(), closed so that u, from u = 0, is a symmetric operator of f.
void smooth_symmetric(Level& level, Operations& operations, int sweeps, const MultigridOptions& options);

// The colour of the cells whose u is read by smooth() and the others, or by smooth_reversed(); null: all
// cells.
std::optional<Colour> read_by_smoothing(int sweeps, const MultigridOptions& options, bool reversed);

// Half sweeps at most, before or after its coarse correction, that a level makes one pass of; 0: the smoother
// has none.
int fusible_half_sweeps(const MultigridOptions& options);

}  // namespace keel
