#pragma once

// The smoothers. Each is one file of smoothers/, which ends in its row; the list in smoother.cpp names it.

#include <string>
#include <string_view>
#include <vector>

#include "solvers/multigrid/options.hpp"

namespace keel {

struct Level;
class Operations;

// One row. Its functions relax L u = f on one level. Ghosts of u are exchanged before every pass; those left
// in u are not current. They may overwrite the level's r. `operations` are the level's, as the caller wants
// them timed.
struct Smoother {
    std::string name;
    std::string meaning;                 // a noun phrase
    std::vector<std::string> keys = {};  // the keys of [multigrid] that it reads
    int exchanges = 1;                   // per sweep
    void (*relax)(Level& level, Operations& operations, int sweeps,
                  const MultigridOptions& options) = nullptr;
    // The adjoint of relax in the inner product of L; null: relax is its own, as every polynomial in D^-1 L
    // is.
    void (*reversed)(Level& level, Operations& operations, int sweeps,
                     const MultigridOptions& options) = nullptr;
    // A last pass with one exchange that makes the whole read the same backwards; null: it does without.
    void (*closing)(Level& level, Operations& operations) = nullptr;
};

// All of them, the default first.
const std::vector<Smoother>& smoothers();
std::vector<std::string> smoother_names();
const Smoother& smoother_named(std::string_view name);  // throws std::invalid_argument for an unknown name

// Relaxes with options.smoother.
void smooth(Level& level, Operations& operations, int sweeps, const MultigridOptions& options);

// The adjoint of smooth() in the inner product of L.
void smooth_reversed(Level& level, Operations& operations, int sweeps, const MultigridOptions& options);

// smooth(), closed so that u, from u = 0, is a symmetric operator of f.
void smooth_symmetric(Level& level, Operations& operations, int sweeps, const MultigridOptions& options);

// Exchanges in that many sweeps.
int exchanges_of(std::string_view smoother, int sweeps);
int symmetric_exchanges_of(std::string_view smoother, int sweeps);

}  // namespace keel
