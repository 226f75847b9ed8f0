#pragma once

// The rules that tie keys to each other and to the number of ranks.

#include <filesystem>
#include <string>

#include "miniapp/deck/rules.hpp"
#include "miniapp/files/named_files.hpp"
#include "miniapp/setup/grid_setup.hpp"

namespace keel {

// What holds for every study: nodes, machine, backend, files. Looks whether output.json could be written.
void check_common(Rules& rules, const NamedFiles& files, int started);

// The domain, its coarsening and its solvers on so many ranks.
void check_grids(Rules& rules, const GridUse& use, int ranks);
// The domain alone; whether its boxes can be told.
bool check_boxes(Rules& rules, int ranks, bool one_for_each_rank);

// Why the deck cannot run here and now, though it may elsewhere: the backend, what the MPI says of devices, imagined ranks.
void check_run(Rules& rules, int started);

// How solvers' sums travel.
void check_sums(Rules& rules);

// Why `file` cannot be written; empty if it can. Opens nothing, so nothing is truncated.
std::string reason_not_writable(const std::filesystem::path& file);
// Why a file may not be made that is not to be there yet, nor to be that of the records; empty if it may.
std::string reason_not_new(const std::filesystem::path& file, const std::filesystem::path& json);

// Whether both paths are one file, whether it is there already or not.
bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

// What is odd about a run that may go on: threads that share processors, a domain like a rod, ranks with more boxes than others.
std::vector<std::string> warnings_of_domain(const GridSetup& grids, bool shape_given);

}  // namespace keel
