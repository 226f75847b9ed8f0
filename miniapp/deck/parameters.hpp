#pragma once

// The values that a user can choose for a run: a structure for each section of the deck. Their keys are in
// common_keys.cpp; a new one is a member here and a line there. Keys that one mode alone knows are in its
// folder (modes/).

#include <any>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <typeindex>
#include <vector>

#include "comm/costs/collective_time.hpp"
#include "comm/plans/schemes.hpp"
#include "kernels/backends/registry.hpp"
#include "kernels/layout/box.hpp"
#include "kernels/layout/layout.hpp"
#include "kernels/layout/neighbours.hpp"
#include "kernels/layout/storage.hpp"
#include "kernels/names.hpp"
#include "kernels/timing/clock.hpp"
#include "solvers/amg/options.hpp"
#include "solvers/krylov/options.hpp"
#include "solvers/multigrid/options.hpp"

namespace keel {

enum class Coefficients { constant, smooth, ball, front };
constexpr auto names_of(Coefficients) {
    return std::array{"constant", "smooth", "ball", "front"};
}

enum class DomainShape { cube, l, shell, scattered, tags, list };
constexpr auto names_of(DomainShape) {
    return std::array{"cube", "L", "shell", "scattered", "tags", "list"};
}

// The boundary where a neighbour is missing inside the box around a domain.
enum class Outside { dirichlet, neumann };
constexpr auto names_of(Outside) {
    return std::array{"dirichlet", "neumann"};
}

enum class Alpha { constant, wave };
constexpr auto names_of(Alpha) {
    return std::array{"constant", "wave"};
}

enum class Rhs { triangle, wave, point, manufactured, random, zero, linear, file };
constexpr auto names_of(Rhs) {
    return std::array{"triangle", "wave", "point", "manufactured", "random", "zero", "linear", "file"};
}

// The values on Dirichlet faces.
enum class BoundaryData { zero, linear, wave, file };
constexpr auto names_of(BoundaryData) {
    return std::array{"zero", "linear", "wave", "file"};
}

enum class DeviceMessages { automatic, staged, device_aware };
constexpr auto names_of(DeviceMessages) {
    return std::array{"auto", "staged", "device_aware"};
}

// Positions of boxes, as given or from a file.
struct BoxesList {
    std::vector<Index> positions;
    std::string file;  // its path; empty = none

    friend bool operator==(const BoxesList&, const BoxesList&) = default;
};

using Triple = std::array<double, 3>;  // a number for each direction

struct ProblemOptions {
    int dimensions = 3;  // 2: boxes are squares, one layer of them
    int box = 64;        // cells per box edge
    int boxes_per_rank = 1;
    int ranks = 0;         // virtual ranks of --dry-run; 0 = those that were started
    Index boxes{0, 0, 0};  // around the domain, per direction; 0 = from ranks x boxes_per_rank, or the list
    DomainShape shape = DomainShape::cube;
    BoxesList boxes_list;
    double fill = 0.25;  // part of the boxes that is present
    Outside outside = Outside::dirichlet;
    double a = 0.9;
    double b = 0.9;
    Coefficients coefficients = Coefficients::constant;
    double contrast = 10.0;      // K of `smooth`, `ball` and `front`
    Triple anisotropy{1, 1, 1};  // factors of the face coefficients
    Triple drift{0, 0, 0};       // coordinates by which coefficients and triangle move in a step
    Alpha alpha = Alpha::constant;
    Rhs rhs = Rhs::triangle;
    std::string rhs_file;  // the path of Rhs::file
    BoundaryData data = BoundaryData::zero;
    std::string data_file;   // the path of BoundaryData::file, with {side} for the sides
    std::uint64_t seed = 1;  // random right-hand sides, shapes, matrices and orderings
    Placement placement = Placement::curve;
    Storage storage = Storage::blocks;
    Boundaries boundary{Boundary::periodic, Boundary::periodic, Boundary::periodic};
    int columns = 1;  // vectors or fields that travel together

    double box_cells() const { return std::pow(box, dimensions); }
};

struct CommOptions {
    std::string scheme = "standard";  // a candidate, or who chooses one for each level
    int message_cap = 8192;           // bytes; split's
    int ranks_per_node = 0;           // 0 = detect
    int ranks_per_socket = 0;         // 0 = detect, or as the machine has them
    std::string machine;              // to predict times on: a name or path; empty = none
    std::string node_map;             // path of a node label for each rank; empty = none
    int ghost_depth = 1;              // cells
    Neighbours neighbours = Neighbours::faces;
    std::string transport = "isend";  // a Carrier, or "auto"
    bool overlap = false;
    Precision precision = Precision::fp64;  // ghosts in cycles
    DeviceMessages device = DeviceMessages::automatic;
    // In SimGrid's own pending all-reduces every rank sends a message to every other.
    AllReduceAlgorithm allreduce =
        simulated() ? AllReduceAlgorithm::recursive_doubling : AllReduceAlgorithm::mpi;
    double all_reduce_us = 0;  // predicted all-reduce of one word among all ranks; 0 = as modelled
};

struct RunOptions {
    std::string mode = "solve";  // the mode
    std::string backend = "openmp";
    GpuSync gpu_sync = GpuSync::per_operation;
    bool deterministic = false;
    int warmup = 1;            // solves thrown away
    int repeats = 5;           // solves measured
    double time_limit = 0;     // seconds of the whole run; 0 = none
    double dry_run_limit = 1;  // factor of the time and the memory of a dry run
    int triad_mb = 0;          // of the triad's arrays, on each node; 0 = by the cache
    std::string label;         // for the records
};

struct OutputOptions {
    std::string json;                    // path of the JSON lines; empty = none
    bool details = false;                // all times of operations, and records of each rank
    std::string result = "RESULT.json";  // path of the benchmark's result
};

// Options that only one mode knows, by their type.
class ModeOptions {
  public:
    template <class Options>
    Options& of() {
        std::any& held = options_[typeid(Options)];
        if (!held.has_value()) held = Options{};
        return std::any_cast<Options&>(held);
    }
    template <class Options>
    const Options& of() const {
        static const Options untouched;
        const auto found = options_.find(typeid(Options));
        return found == options_.end() ? untouched : std::any_cast<const Options&>(found->second);
    }

  private:
    std::map<std::type_index, std::any> options_;
};

// A default-initialised one holds the defaults of every key.
struct Parameters {
    ProblemOptions problem;
    MultigridOptions multigrid;
    // CG is faster than BiCGStab, which the papers have, wherever the operator is symmetric.
    BottomOptions bottom{.solver = "cg"};
    CommOptions comm;
    RunOptions run;
    OutputOptions output;
    AmgOptions amg;
    ModeOptions mode_options;
};

// Boxes per direction around the domain: problem.boxes, or as cubic (in two dimensions square) as possible
// from ranks x boxes_per_rank; for tags the cube that these fill to problem.fill, for a list the cuboid
// around its positions.
Index resolved_boxes(const ProblemOptions& problem, int ranks);

}  // namespace keel
