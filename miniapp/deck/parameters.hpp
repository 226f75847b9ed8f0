#pragma once

// What a user can choose. `Parameters` holds one run's values; `Table` lists every key once, and reading decks,
// --help, --keys, the README's table and the JSON of a run are all made from it.
// To add a key: a member with its default here, a line in the table in parameters.cpp.

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "comm/plans/schemes.hpp"
#include "comm/sums/all_reduce.hpp"
#include "kernels/backends/registry.hpp"
#include "kernels/box.hpp"
#include "kernels/layout.hpp"
#include "kernels/neighbours.hpp"
#include "solvers/krylov/options.hpp"
#include "solvers/multigrid/options.hpp"

namespace keel {

enum class Coefficients { constant, smooth, ball };
enum class Alpha { constant, wave };
enum class Rhs { triangle, wave, point, manufactured, random };
enum class Mode { solve, krylov, survey, network, exchange, spmv };
enum class Ordering { natural, random, rcm };
// Those of Scheme, in its order, and who else may choose one for each level.
enum class SchemeKey { standard, two_step, three_step, split, staged_axes, model, tuned };
enum class MainPreconditioner { none, v_cycle };
enum class DeviceMessages { automatic, staged, device_aware };

// One run's choices; a default-initialised one holds the defaults of every key.
struct Parameters {
    struct Problem {
        int box = 64;  // cells per box edge
        int boxes_per_rank = 1;
        int ranks = 0;         // that --dry-run imagines; 0 = those that were started
        Index boxes{0, 0, 0};  // of the domain, per direction; 0 = from ranks x boxes_per_rank
        double a = 0.9;
        double b = 0.9;
        Coefficients coefficients = Coefficients::constant;
        double contrast = 10.0;  // K of `smooth` and `ball`
        Alpha alpha = Alpha::constant;
        Rhs rhs = Rhs::triangle;
        std::uint64_t seed = 1;  // of Rhs::random; of the matrix random and Ordering::random
        Placement placement = Placement::curve;
        Boundaries boundary{Boundary::periodic, Boundary::periodic, Boundary::periodic};
        // --- of Mode::spmv
        std::string matrix = "stencil7";  // or another generator, or a file's path
        std::int64_t rows = 100000;       // of generators but stencils
        int row_entries = 8;
        Ordering ordering = Ordering::natural;
        int columns = 1;  // also of Mode::exchange: fields that travel together
    };
    struct Comm {
        SchemeKey scheme = SchemeKey::standard;
        PartnerRule partner_rule = PartnerRule::local_index;  // of two_step
        int message_cap = 8192;                               // of split, bytes
        CapRule cap_rule = CapRule::paper;                    // of split
        int ranks_per_node = 0;                               // 0 = detect
        std::string machine;   // to predict times on: a name or path; empty = none
        std::string node_map;  // path of a node label for each rank; empty = none
        bool persistent = false;
        int ghost_depth = 1;  // cells
        Neighbours neighbours = Neighbours::faces;
        bool overlap = false;
        DeviceMessages device = DeviceMessages::automatic;
        AllReduceAlgorithm allreduce = AllReduceAlgorithm::mpi;
        bool progress = true;
    };
    struct Run {
        Mode mode = Mode::solve;
        MainPreconditioner preconditioner = MainPreconditioner::none;  // of Mode::krylov
        std::vector<std::string> survey;  // of Mode::survey: "NAME KEY=VALUE ..." each; empty = all solvers
        std::string backend = "openmp";
        Launches launches = Launches::synchronous;
        bool deterministic = false;
        int warmup = 1;      // solves thrown away
        int repeats = 5;     // solves measured
        bool solve = false;  // of Mode::spmv
        bool verbose = false;
    };
    struct Network {            // of Mode::network
        int smallest = 1;       // bytes
        int largest = 1 << 22;  // bytes
        int repeats = 100;
        int eager_from = 0;       // bytes
        int rendezvous_from = 0;  // bytes; 0 = both switches from the data
        std::string write;        // path of the machine's file; empty = none
    };
    struct Output {
        std::string json;  // path of the JSON lines; empty = none
    };

    // A bottom solver that a survey compares.
    struct Contestant {
        std::string name;  // as in run.survey
        BottomOptions bottom;
    };

    Problem problem;
    MultigridOptions multigrid;
    BottomOptions bottom;
    Comm comm;
    Run run;
    Network network;
    Output output;
    // What run.survey means for this deck's [bottom], bicgstab first. No key: read_deck() fills it in Mode::survey.
    std::vector<Contestant> contestants;
};

// Reads and writes one value of a Parameters.
template <class T>
struct Access {
    std::function<T(const Parameters&)> get;
    std::function<void(Parameters&, const T&)> set;
};

// The numbers that a real key may be: finite, and within the ends; an open end is itself excluded.
struct Interval {
    double lowest = -std::numeric_limits<double>::infinity();
    double highest = std::numeric_limits<double>::infinity();
    bool lowest_open = true;
    bool highest_open = true;

    bool contains(double x) const;
};

struct IntegerKey {
    Access<std::int64_t> value;
    std::int64_t lowest;
    std::int64_t highest;
};
struct RealKey {
    Access<double> value;
    Interval allowed;
};
struct FlagKey {
    Access<bool> value;
};
struct ChoiceKey {  // one word of several
    Access<std::string> value;
    std::vector<std::string> names;
};
struct TextKey {
    Access<std::string> value;
};
struct ListKey {  // any number of texts
    Access<std::vector<std::string>> value;
};
struct TripleKey {  // three integers, one per direction
    Access<Index> value;
    int lowest;
};
struct BoundariesKey {  // one word for all directions, or three
    Access<std::array<std::string, 3>> value;
    std::vector<std::string> names;
};

struct Key {
    std::string section;
    std::string name;
    std::string unit;  // empty: a pure number or a word
    std::string help;
    std::variant<IntegerKey, RealKey, FlagKey, ChoiceKey, TextKey, ListKey, TripleKey, BoundariesKey> kind;

    std::string full_name() const { return section + "." + name; }
};

// The words that depend on what was compiled in.
struct Names {
    std::vector<std::string> bottom_solvers;
    std::vector<std::string> backends;
};

// Every key, in the order in which it is printed.
class Table {
  public:
    // Throws std::logic_error where a default is not among the names given.
    explicit Table(const Names& names);

    std::span<const Key> keys() const { return keys_; }
    std::vector<std::string> sections() const;
    // Nothing there: a null pointer.
    const Key* find(std::string_view section, std::string_view name) const;

  private:
    std::vector<Key> keys_;
};

// One key's value; dumped as JSON it is also valid TOML.
nlohmann::ordered_json value_of(const Key& key, const Parameters& parameters);

// What a key accepts: "from 1 to 1024", "> 0 and < 1", "V, F".
std::string allowed_text(const Key& key);

// All keys as lines of aligned columns: key = default, what is allowed, meaning.
std::string keys_text(const Table& table);

// The same as a Markdown table, for the README.
std::string keys_markdown(const Table& table);

// A complete deck with a comment on each key, which reads back to the same parameters.
std::string print_deck(const Table& table, const Parameters& parameters);

// "section.key = value" for every key that differs from its default.
std::vector<std::string> non_default_keys(const Table& table, const Parameters& parameters);

// Every key's value, section -> key -> value.
nlohmann::ordered_json resolved_json(const Table& table, const Parameters& parameters);

}  // namespace keel
