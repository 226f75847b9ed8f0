#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/layout/layout.hpp"
#include "miniapp/deck/deck.hpp"
#include "miniapp/deck/section.hpp"
#include "miniapp/deck/text/key_text.hpp"
#include "miniapp/deck/text/spelling.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/files/machine_file.hpp"
#include "miniapp/modes/mode.hpp"
#include "solvers/krylov/methods.hpp"

namespace {

using namespace keel;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

const Table& all_keys() {
    static const Table all = make_table();
    return all;
}

Deck from_words(const Words& overrides) {
    return read_deck(all_keys(), std::nullopt, overrides);
}

Deck from_file(const fs::path& file, const Words& overrides = {}) {
    return read_deck(all_keys(), read_text(file), overrides);
}

// All rules on so many ranks, but for keys that the deck's file gives without effect.
Words validate(Deck deck, int ranks) {
    drop_idle_keys(deck);
    const CommOptions& comm = deck.parameters.comm;
    NamedFiles files;
    if (!comm.machine.empty()) files.machine = find_machine(comm.machine);
    if (!comm.node_map.empty()) files.node_map = read_text(comm.node_map);
    return keel::validate(deck, files, ranks);
}

std::string printed(const Deck& deck) {
    return print_deck(all_keys(), deck.parameters, [&](const Key& key) { return is_idle(deck, key); });
}

// A deck file that is removed again; one name a process, since CTest runs tests side by side.
class TemporaryDeck {
  public:
    explicit TemporaryDeck(const std::string& text)
        : path_(fs::temp_directory_path() / ("keel_deck_" + std::to_string(::getpid()) + ".toml")) {
        std::ofstream(path_) << text;
    }
    TemporaryDeck(const TemporaryDeck&) = delete;
    TemporaryDeck& operator=(const TemporaryDeck&) = delete;
    ~TemporaryDeck() { fs::remove(path_); }

    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

Deck from_text(const std::string& text, const Words& overrides = {}) {
    const TemporaryDeck deck(text);
    return from_file(deck.path(), overrides);
}

std::string joined(const Words& lines) {
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    return text;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Exactly one error, with this in it.
void expect_error(const Words& errors, const std::string& part) {
    INFO(joined(errors) << "expected: " << part);
    CHECK(errors.size() == 1);
    CHECK(contains(joined(errors), part));
}

Words good_decks_in(const std::string& folder) {
    Words paths;
    for (const auto& entry : fs::directory_iterator(fs::path(KEEL_SOURCE_DIR) / folder)) {
        const bool bad = entry.path().filename().string().starts_with("bad_");
        if (entry.path().extension() == ".toml" && !bad) paths.push_back(entry.path().string());
    }
    std::ranges::sort(paths);
    return paths;
}

Words good_decks() {
    Words paths = good_decks_in("inputs");
    const Words smoke = good_decks_in("inputs/smoke");
    paths.insert(paths.end(), smoke.begin(), smoke.end());
    return paths;
}

}  // namespace

TEST_CASE("without a deck every key has its default and says so") {
    const Deck deck = from_words({});
    CHECK(deck.errors.empty());
    CHECK(non_default_keys(all_keys(), deck.parameters).empty());
    CHECK(deck.origin.size() == all_keys().keys().size());
    CHECK(std::ranges::all_of(deck.origin, [](const auto& entry) { return entry.second == "default"; }));
    CHECK(validate(deck, 1).empty());
}

TEST_CASE("a deck sets values of every kind") {
    const Deck deck = from_text(R"(
[problem]
box = 32
boxes = [3, 2, 1]
a = 0
coefficients = "ball"
seed = 12345678901
boundary = ["periodic", "dirichlet", "neumann"]
[bottom]
solver = "bicgstab"
tolerance = 1e-2
[comm]
overlap = true
neighbours = "all"
[output]
json = "run.json"
)");
    REQUIRE(joined(deck.errors).empty());
    CHECK(non_default_keys(all_keys(), deck.parameters) ==
          Words{"problem.box = 32", "problem.boxes = [3,2,1]", "problem.a = 0.0",
                "problem.coefficients = \"ball\"", "problem.seed = 12345678901",
                "problem.boundary = [\"periodic\",\"dirichlet\",\"neumann\"]", "bottom.solver = \"bicgstab\"",
                "bottom.tolerance = 0.01", "comm.neighbours = \"all\"", "comm.overlap = true",
                "output.json = \"run.json\""});
}

TEST_CASE("one word of problem.boundary stands for all three directions") {
    const Deck deck = from_words({"problem.boundary=neumann"});
    CHECK(deck.errors.empty());
    CHECK(deck.parameters.problem.boundary ==
          Boundaries{Boundary::neumann, Boundary::neumann, Boundary::neumann});
}

TEST_CASE("an override wins over the file and the origin of each key is kept") {
    const Deck deck = from_text("[problem]\nbox = 16\na = 0.5\n", {"problem.box=32"});
    CHECK(deck.errors.empty());
    CHECK(deck.parameters.problem.box == 32);
    CHECK(deck.parameters.problem.a == 0.5);
    CHECK(deck.origin.at("problem.box") == "command line");
    CHECK(deck.origin.at("problem.a").ends_with(".toml:3"));
    CHECK(deck.origin.at("problem.b") == "default");
}

TEST_CASE("an override's value is TOML, and a bare word is a string") {
    const Deck deck =
        from_words({"multigrid.tolerance=1e-8", "problem.boxes=[1, 2,3]", "run.deterministic = true",
                    "multigrid.cycle=\"F\"", "bottom.solver=bicgstab_fused", "output.json=/tmp/keel-run.json",
                    "problem.b=2"});
    REQUIRE(joined(deck.errors).empty());
    CHECK(non_default_keys(all_keys(), deck.parameters) ==
          Words{"problem.boxes = [1,2,3]", "problem.b = 2.0", "multigrid.cycle = \"F\"",
                "multigrid.tolerance = 1e-08", "bottom.solver = \"bicgstab_fused\"",
                "run.deterministic = true", "output.json = \"/tmp/keel-run.json\""});
}

TEST_CASE("an empty override is an empty string") {
    const Deck deck = from_text("output.json = \"run.json\"", {"output.json="});
    CHECK(deck.errors.empty());
    CHECK(deck.parameters.output.json.empty());
    expect_error(from_words({"problem.box="}).errors, "command line: problem.box = \"\": must be an integer");
}

TEST_CASE("what is no override is refused with the form it should have") {
    expect_error(from_words({"fast"}).errors,
                 "command line: \"fast\": not understood; give section.key=value");
    expect_error(from_words({"problem.box=3 4"}).errors, "command line: problem.box = 3 4: not a TOML value");
    expect_error(from_words({"problem.box=8\nrun.repeats=9"}).errors, "not a TOML value");
    expect_error(from_words({"problem.boxes=[1,2"}).errors, "not a TOML value");
    expect_error(from_words({"=3"}).errors, "command line: : unknown key");
    expect_error(from_words({"box=8"}).errors, "box: unknown key; keys belong to the sections problem,");
    expect_error(from_words({"problem.=3"}).errors,
                 "command line: problem.: unknown key; [problem] has dimensions, box");
}

TEST_CASE("a key given twice on the command line is refused") {
    expect_error(from_words({"problem.box=16", "problem.box=32"}).errors,
                 "command line: problem.box = 32: given twice (before: 16); give it once");
}

TEST_CASE("numbers must have the right type and lie in range") {
    const auto [word, message] = GENERATE(table<std::string, std::string>({
        {"problem.box=2.0", "problem.box = 2.0: must be an integer, from 1 to 16384"},
        {"problem.box=\"8\"", "problem.box = \"8\": must be an integer"},
        {"problem.box=8x", "problem.box = \"8x\": must be an integer"},
        {"problem.box=16385", "must be from 1 to 16384"},
        {"problem.box=99999999999", "problem.box = 99999999999: must be from 1 to 16384"},
        {"problem.boxes_per_rank=2147483648", "must be from 1 to 2147483647"},
        {"problem.boxes_per_rank=0", "problem.boxes_per_rank = 0: must be >= 1"},
        {"problem.seed=-1", "problem.seed = -1: must be >= 0"},
        {"problem.a=-0.5", "problem.a = -0.5: must be >= 0"},
        {"problem.b=0", "problem.b = 0: must be > 0"},
        {"problem.b=inf", "problem.b = inf: must be a finite number"},
        {"problem.b=-inf", "problem.b = -inf: must be a finite number"},
        {"problem.b=nan", "problem.b = nan: must be a finite number"},
        {"problem.b=true", "problem.b = true: must be a number"},
        {"problem.contrast=0", "problem.contrast = 0: must be > 0"},
        {"multigrid.tolerance=1", "multigrid.tolerance = 1: must be > 0 and < 1"},
        {"multigrid.tolerance=0.0", "multigrid.tolerance = 0.0: must be > 0 and < 1"},
        {"multigrid.relaxation=2", "multigrid.relaxation = 2: must be > 0 and < 2"},
        {"multigrid.pre=1001", "must be from 0 to 1000"},
        {"comm.ghost_depth=9", "comm.ghost_depth = 9: must be from 1 to 8"},
        {"run.repeats=0", "run.repeats = 0: must be >= 1"},
        {"run.deterministic=1", "run.deterministic = 1: must be true or false"},
        {"multigrid.cycle=1", "multigrid.cycle = 1: must be a string, one of V, F"},
        {"output.json=7", "output.json = 7: must be a string"},
        {"output.json=2024-01-01", "must be a string"},
        {"problem.boxes=2", "problem.boxes = 2: must be an array of three integers"},
        {"problem.boxes=[2,2]", "problem.boxes = [2,2]: must be an array of three integers"},
        {"problem.boxes=[2,2,2.0]", "problem.boxes = [2,2,2.0]: must be an array of three integers"},
        {"problem.boxes=[2,2,-1]", "problem.boxes = [2,2,-1]: must be an array of three integers, each >= 0"},
        {"problem.boxes={x=1}", "problem.boxes = {...}: must be an array of three integers"},
        {"problem.boundary=[\"neumann\"]", "must be a string or an array of three"},
        {"problem.boundary=3", "must be a string or an array of three"},
        {"problem.boundary=[\"periodic\",\"neumann\",\"periodic/neumann\"]",
         "periodic on both sides or on none"},
        {"problem.anisotropy=[1,0,1]", "must be an array of three finite numbers, each > 0"},
        {"problem.shape=[[0,0]]",
         "must be a word, a file such as \"boxes.txt\", or an array of positions, each"},
        {"problem.columns=0", "problem.columns = 0: must be from 1 to 1000"},
        {"multigrid.agglomerate=soon", "must be an integer or a word, never, or >= 1"},
        {"multigrid.agglomerate=0", "multigrid.agglomerate = 0: must be never, or >= 1"},
        {"bottom.spectrum=[3,2]", "must be an interval of numbers >= 0, the lower end first"},
        {"problem.ranks=1048577", "problem.ranks = 1048577: must be from 0 to 1048576"},
        {"amg.theta=2", "amg.theta = 2: must be >= 0 and < 1"},
        {"anderson.damping=1.5", "anderson.damping = 1.5: must be > 0 and <= 1"},
    }));
    const Deck deck = from_words({word});
    expect_error(deck.errors, message);
    CHECK(deck.refused.size() == 1);
    CHECK(non_default_keys(all_keys(), deck.parameters).empty());
}

TEST_CASE("the ends of a range are in or out as the table says") {
    for (const std::string word : {"problem.box=1", "problem.box=1024", "problem.a=0", "multigrid.pre=0",
                                   "comm.ghost_depth=8", "problem.boxes_per_rank=2147483647"})
        CHECK(from_words({word}).errors.empty());
}

TEST_CASE("a misspelt name is answered with the nearest one") {
    const auto [word, name] = GENERATE(table<std::string, std::string>({
        {"multigrid.tolerence=1e-8", "multigrid.tolerance"},  // a letter replaced
        {"bottom.tolerence=1e-2", "bottom.tolerance"},        // the same name in two sections
        {"mutigrid.pre=3", "multigrid.pre"},                  // the section
        {"mutigrid.tolerence=1e-8", "multigrid.tolerance"},   // both
        {"bottom.max_iteration=3", "bottom.max_iterations"},  // a letter missing
        {"run.repaets=3", "run.repeats"},                     // two swapped
        {"Problem.Box=8", "problem.box"},                     // case
        {"multigrid.solver=cg", "bottom.solver"},             // the wrong section
        {"bottom.smother=jacobi", "multigrid.smoother"},      // wrong section and misspelt
        {"box=8", "problem.box"},                             // no section
        {"problem.det=true", "run.deterministic"},            // the beginning of a name
        {"multigrid.smoother=cheby", "chebyshev"},
        {"run.backend=opnemp", "openmp"},
        {"multigrid.smoother=GSRB", "gsrb"},
        {"problem.placement=lexigraphic", "lexicographic"},
        {"problem.boundary=peroidic", "periodic"},
        {"problem.boundary=[\"periodic\",\"dirichlet\",\"neuman\"]", "neumann"},
    }));
    const Words errors = from_words({word}).errors;
    expect_error(errors, "(did you mean \"" + name + "\"?)");
}

TEST_CASE("a name like no other gets no guess, but the list of what there is") {
    const Words errors = from_words({"problem.frobnicate=1"}).errors;
    expect_error(errors,
                 "problem.frobnicate: unknown key; [problem] has dimensions, box, boxes_per_rank, ranks, "
                 "boxes, shape, ");
    CHECK_FALSE(contains(joined(errors), "did you mean"));
    const Words words = from_words({"bottom.solver=gmres"}).errors;
    CHECK_FALSE(contains(joined(words), "did you mean"));
}

TEST_CASE("meanings of keys and of their words have at most 80 characters") {
    for (const Key& key : all_keys().keys()) {
        CAPTURE(key.full_name());
        CHECK(key.meaning.size() <= 80);
        for (const Word& word : key.words) CHECK(word.meaning.size() <= 80);
    }
}

TEST_CASE("nearest finds names of few edits only") {
    const Words names{"periodic", "dirichlet", "neumann"};
    CHECK(nearest("dirichelt", names) == "dirichlet");
    CHECK_FALSE(nearest("robin", names));
    CHECK_FALSE(nearest("", names));
    CHECK_FALSE(nearest("periodic", Words{}));
}

TEST_CASE("errors come all together, in the order of the file, the command line last") {
    const Deck deck = from_text("[run]\nrepeats = 0\n[bottom]\nsolver = 3\nzeal = 1\n[nonsense]\nx = 1\n",
                                {"problem.box=0"});
    INFO(joined(deck.errors));
    REQUIRE(deck.errors.size() == 5);
    CHECK(contains(deck.errors[0], ".toml:2: run.repeats = 0"));
    CHECK(contains(deck.errors[1], ".toml:4: bottom.solver = 3"));
    CHECK(contains(deck.errors[2], ".toml:5: bottom.zeal: unknown key"));
    CHECK(contains(deck.errors[3],
                   ".toml:6: [nonsense]: unknown section; the sections are problem, multigrid"));
    CHECK(contains(deck.errors[4], "command line: problem.box = 0"));
}

TEST_CASE("a section that is no table is refused") {
    expect_error(from_text("run = 3\n").errors, ":1: run = 3: is a section; write [run]");
    expect_error(from_text("[[run]]\nrepeats = 1\n").errors, "is a section; write [run]");
    expect_error(from_text("[run.repeats]\nx = 1\n").errors, "run.repeats = {...}: must be an integer");
}

TEST_CASE("a syntax error has line and column, and hides no error of the command line") {
    const Deck deck = from_text("[problem]\nbox = 8\na = = 3\n", {"problem.bx=7"});
    INFO(joined(deck.errors));
    REQUIRE(deck.errors.size() == 2);
    CHECK(contains(deck.errors[0], ".toml:3:5: not valid TOML: "));
    CHECK(contains(deck.errors[1], "(did you mean \"problem.box\"?)"));
    CHECK(validate(deck, 1).empty());
    expect_error(from_text("[problem]\nbox = 8\nbox = 16\n").errors, ".toml:3:");
}

TEST_CASE("a deck that cannot be read is refused by its name") {
    expect_error(from_file("/no/such/deck.toml").errors,
                 "/no/such/deck.toml: cannot be read: No such file or directory");
    expect_error(from_file(fs::temp_directory_path()).errors, "is a folder; give a file");
}

TEST_CASE("an empty deck is a deck of defaults") {
    CHECK(from_text("").errors.empty());
    CHECK(from_text("# nothing\n[problem]\n").errors.empty());
}

TEST_CASE("halving problem.box must reach multigrid.bottom_box") {
    for (const int bottom : {24, 12, 6, 3}) {
        const Deck deck = from_words({"problem.box=48", "multigrid.bottom_box=" + std::to_string(bottom)});
        CHECK(validate(deck, 1).empty());
    }
    expect_error(validate(from_words({"problem.box=48", "multigrid.bottom_box=8"}), 1),
                 "command line: multigrid.bottom_box = 8: not reached by halving problem.box = 48; choose "
                 "multigrid.bottom_box from 24, 12, 6, 3, or problem.box from 16, 32, ");
    expect_error(validate(from_words({"problem.box=2"}), 1),
                 "choose multigrid.bottom_box from 1, or problem.box from 8, ");
    expect_error(validate(from_words({"multigrid.bottom_box=2147483647"}), 1),
                 "choose multigrid.bottom_box from 32, 16, 8, 4, 2, 1");
    for (const std::string mode : {"solve", "survey", "fixed_point"})
        expect_error(
            validate(from_words({"problem.box=48", "multigrid.bottom_box=48", "run.mode=" + mode}), 1),
            "multigrid.bottom_box = 48: with problem.box = 48 there is one level: run.mode = krylov "
            "solves on it; choose multigrid.bottom_box from 24, 12, 6, 3, or problem.box from 96, ");
    CHECK(validate(from_words({"problem.box=48", "run.mode=krylov"}), 1).empty());
    // Full approximation relaxes on it.
    const Deck relaxed =
        from_words({"problem.box=4", "run.mode=fixed_point", "run.map=cycle", "problem.boundary=dirichlet"});
    CHECK(validate(relaxed, 1).empty());
}

TEST_CASE("what does not go together is refused, each mistake once") {
    const std::vector<std::pair<Words, Words>> cases{
        // boxes and their shape
        {{"problem.boxes=[0,2,2]"}, {"problem.boxes = [0,2,2]: zero in one direction only"}},
        {{"problem.boxes=[1,1,0]"}, {"[0,0,0] for as cubic as possible"}},
        {{"problem.box=2048"},
         {"boxes of problem.dimensions = 3 are at most 1024 cells wide; choose "
          "that or less, or problem.dimensions = 2"}},
        {{"problem.shape=L"},
         {"problem.shape = \"L\": the boxes around it are not given; give problem.boxes"}},
        {{"problem.shape=[]"}, {"problem.shape = []: names no box"}},
        {{"problem.shape=[[1,0,0],[0,0,0],[1,0,0]]"},
         {"positions 1 and 3 are both [1,0,0]: boxes may not overlap"}},
        {{"problem.boxes=[2,1,1]", "problem.shape=[[1,0,0],[2,0,0]]"},
         {"position 2 is [2,0,0], outside problem.boxes = [2,1,1]"}},
        {{"problem.boxes=[2,2,2]", "problem.shape=shell"},
         {"of problem.boxes = [2,2,2] none is inside, which makes it the cube"}},
        {{"problem.a=0", "problem.shape=[[0,0,0],[1,1,1]]", "problem.outside=neumann",
          "problem.boundary=[\"neumann\",\"neumann\",\"neumann/dirichlet\"]"},
         {"the domain falls into 2 parts that share no face, and constants are "
          "in the null space of the one of 1 box from box [0,0,0] on, which has "
          "no Dirichlet face"}},
        {{"run.mode=spmv", "problem.matrix=grid", "problem.a=0", "problem.shape=[[0,0,0],[2,0,0]]",
          "problem.boxes=[4,1,1]", "problem.box=4", "problem.outside=neumann", "problem.boundary=neumann"},
         {"problem.a = 0: the domain falls into 2 parts that share no face"}},
        {{"problem.dimensions=2", "problem.boxes=[2,2,2]", "problem.drift=[0,0,0.5]",
          "problem.coefficients=ball", "run.steps=2"},
         {"boxes are one layer: give 1 as the third number, such as [2,2,1], or "
          "problem.dimensions = 3",
          "problem.drift = [0.0,0.0,0.5]: problem.dimensions = 2 has no third "
          "direction; give 0 as the third number"}},
        {{"problem.dimensions=2", "problem.shape=[[0,0,0],[1,0,1]]", "problem.anisotropy=[1,1,100]",
          "problem.boundary=[\"dirichlet\",\"dirichlet\",\"neumann\"]"},
         {"problem.anisotropy = [1.0,1.0,100.0]: problem.dimensions = 2 has no "
          "third direction; give 1 as the third number, or",
          "give \"periodic\" as the third word, or one word for all, or",
          "give 0 as the third number of each position, not [1,0,1]"}},
        // the problem
        {{"problem.data=wave"}, {"problem.data = \"wave\": no face is a Dirichlet one"}},
        {{"problem.data=linear", "problem.boundary=dirichlet", "problem.rhs=manufactured"},
         {"problem.rhs = \"manufactured\" has boundary values of its own"}},
        {{"run.steps=2", "problem.rhs=manufactured"},
         {"run.steps = 2: problem.rhs = \"manufactured\" is the same at all times"}},
        {{"run.steps=2", "run.start=last", "multigrid.cycle=F"},
         {"run.start = \"last\": full multigrid begins from the coarsest grid"}},
        {{"run.mode=spmv", "problem.matrix=stencil5", "problem.rows=1000"},
         {"has a row for each of n x n points; give a square, such as 1024"}},
        {{"run.mode=fixed_point", "problem.equation=linear", "problem.box=8"},
         {"solved, nothing is left to iterate; give run.map = \"cycle\""}},
        {{"run.mode=fixed_point", "problem.equation=mixture", "problem.box=8", "problem.boxes=[1,1,1]",
          "anderson.depth=4"},
         {"anderson.depth = 4: more than the 3 unknowns, so that differences "
          "depend on each other",
          "problem.equation = \"mixture\": problem.box = 8: boxes hold whole "
          "copies of three means"}},
        {{"problem.dimensions=2", "problem.boxes=[2,1,2]"}, {"give 1 as the third number, such as [2,1,1]"}},
        {{"run.mode=spmv", "problem.matrix=grid", "problem.dimensions=2", "problem.shape=scattered",
          "problem.fill=0.25", "problem.box=4", "problem.boxes=[1,5,1]"},
         {"problem.boxes = [1,5,1] no box is present"}},
        {{"run.mode=fixed_point", "problem.box=2", "multigrid.bottom_box=1", "problem.boxes=[1,1,1]",
          "problem.boundary=dirichlet", "anderson.depth=9"},
         {"anderson.depth = 9: more than the 8 unknowns"}},
        {{"run.mode=fixed_point", "problem.box=2", "multigrid.bottom_box=1", "problem.boxes=[1,1,1]",
          "problem.boundary=dirichlet", "anderson.inner=9"},
         {"anderson.inner = 9: more than the 8 unknowns"}},
        {{"run.mode=fixed_point", "problem.box=2", "problem.boxes=[1,1,1]", "anderson.orthogonalisation=all",
          "anderson.depth=9"},
         {"anderson.depth = 9: more columns than the 8 rows"}},
        {{"run.mode=fixed_point", "problem.box=2", "problem.boxes=[1,1,1]", "anderson.orthogonalisation=all",
          "anderson.depth=0"},
         {"anderson.depth = 0: there is no column"}},
        {{"run.mode=fixed_point", "problem.equation=bratu", "problem.boundary=dirichlet",
          "anderson.orthogonalisation=icwy/mgs"},
         {"there is no inner acceleration; give"}},
        // multigrid
        {{"multigrid.pre=0", "multigrid.post=0"}, {"nothing would be smoothed; give at least one sweep"}},
        {{"multigrid.bottom_grid=99"},
         {"multigrid.bottom_grid = 99: there is only 1 rank; choose at most "
          "that, or a word"}},
        {{"run.mode=exchange", "problem.box=4", "multigrid.bottom_grid=gather"},
         {"one level alone stays on the owners of its boxes; choose a narrower multigrid.bottom_box"}},
        {{"multigrid.agglomerate=64", "problem.shape=shell", "problem.boxes=[4,4,4]"},
         {"the boxes of problem.shape = \"shell\" do not tile larger ones; "
          "choose never, or problem.shape = \"cube\""}},
        {{"multigrid.interpolation=linear", "problem.shape=L", "problem.boxes=[2,2,2]"},
         {"not defined at the inner edges of problem.shape = \"L\""}},
        {{"multigrid.fused_box=1", "multigrid.post=3", "multigrid.bottom_box=2", "problem.box=16"},
         {"6 half sweeps want as many ghost layers, and a level has boxes of 4; "
          "choose auto, at least 6, fewer sweeps, or multigrid.fused_half_sweeps "
          "= 4 at most"}},
        {{"multigrid.precision=mixed", "multigrid.accelerator=cg", "multigrid.tolerance=1e-17",
          "run.backend=kokkos"},
         {"the backend kokkos has no fields in single precision; choose "
          "run.backend from openmp, cuda, hip, gpu_emulated, or double",
          "would cost what cycles in single precision gain; choose "
          "multigrid.accelerator = \"none\", or double",
          "multigrid.tolerance = 1e-17 is below 2.2e-16, the rounding of the "
          "residual in double precision"}},
        {{"multigrid.precision=mixed", "comm.precision=single", "run.deterministic=true"},
         {"cycles of multigrid.precision = \"mixed\" send in single precision already; choose double",
          "messages round ghosts and copies on a rank do not, so that results depend on the ranks; "
          "choose double, or run.deterministic = false"}},
        {{"comm.precision=single", "run.mode=krylov"},
         {"run.mode = \"krylov\" has ghosts in double precision alone; choose double, or run.mode from"}},
        {{"comm.precision=single", "run.mode=exchange"},
         {"run.mode = \"exchange\" has ghosts in double precision alone"}},
        {{"multigrid.precision=mixed", "run.mode=fixed_point", "problem.boundary=dirichlet"},
         {"run.mode = \"fixed_point\" has cycles in double precision alone; "
          "choose double, or run.mode from solve, survey, krylov with bottom.preconditioner = \"v_cycle\""}},
        {{"multigrid.cycle=F", "multigrid.max_cycles=1", "problem.box=16", "problem.boxes=[2,2,2]",
          "problem.shape=L", "problem.rhs=random", "multigrid.tolerance=1e-6", "multigrid.precision=mixed"},
         {"multigrid.bottom_box = 4: one full multigrid cycle is judged on grids "
          "of spacing h, 2h and 4h, each with a coarser one below; choose at "
          "most 2, or problem.box from 32",
          "choose at most 1e-08, or multigrid.max_cycles = 2 or more",
          "judged by its error, and this solution is not known; choose manufactured, or",
          "one full multigrid cycle is judged in double precision; choose double, or",
          "multigrid.cycle = \"F\": interpolates linearly, which is not defined "
          "at the inner edges"}},
        {{"multigrid.agglomerate=1", "run.mode=fixed_point", "problem.equation=bratu", "run.map=cycle",
          "problem.boxes=[2,2,2]", "problem.boundary=dirichlet"},
         {"multigrid.agglomerate = 1: the levels of a full approximation scheme are where"}},
        {{"multigrid.cycle=F", "multigrid.max_cycles=1", "problem.rhs=manufactured", "problem.box=4",
          "multigrid.bottom_box=2"},
         {"each with a coarser one below; choose problem.box from 16"}},
        // the solver
        {{"bottom.solver=smooth", "run.mode=krylov"}, {"relaxation alone is no solver of a whole problem"}},
        {{"bottom.solver=deep_pipelined_cg", "bottom.depth=9", "problem.box=4", "multigrid.bottom_box=2"},
         {"more than the 8 cells of the bottom grid; choose at most 8, or a wider"}},
        {{"bottom.solver=pipelined_s_step_cg", "bottom.basis=newton"},
         {"bottom.basis = \"newton\": does not know its own products, which "
          "pipelined_s_step_cg needs"}},
        {{"bottom.solver=ca_cg", "bottom.powers=matrix_powers", "bottom.powers_depth=5"},
         {"deeper than the boxes of the solver's level; choose at most their "
          "width, 4, or a wider multigrid.bottom_box"}},
        {{"bottom.solver=ca_bicgstab", "bottom.preconditioner=amg", "bottom.basis=newton"},
         {"bottom.preconditioner = \"amg\": takes the place of the scaling; give "
          "bottom.scaling = \"none\""}},
        {{"bottom.solver=deep_pipelined_cg", "bottom.preconditioner=amg", "bottom.scaling=none"},
         {"not tested by deep_pipelined_cg with a preconditioner; give "
          "bottom.norm = \"natural\""}},
        {{"run.mode=krylov", "bottom.solver=deep_pipelined_cg", "bottom.preconditioner=block_ic0",
          "bottom.scaling=none"},
         {"not tested by deep_pipelined_cg with a preconditioner; give "
          "bottom.norm = \"natural\""}},
        {{"run.mode=spmv", "run.solve=true", "problem.matrix=stencil5", "problem.rows=289",
          "bottom.solver=ca_gmres", "bottom.scaling=none", "bottom.preconditioner=amg",
          "amg.coarsest=krylov"},
         {"the preconditioner is then another in every iteration, which ca_gmres "
          "does not allow; choose cg, gmres, or amg.coarsest = \"replicated\" or \"gathered\""}},
        {{"run.mode=krylov", "bottom.solver=cg", "bottom.preconditioner=v_cycle", "problem.box=8",
          "multigrid.bottom_box=8"},
         {"a V-cycle needs two levels; choose multigrid.bottom_box below problem.box = 8",
          "bottom.preconditioner = \"v_cycle\": already scales the system; give "
          "bottom.scaling = \"none\""}},
        {{"run.mode=krylov", "bottom.solver=cg", "bottom.scaling=none", "bottom.preconditioner=v_cycle",
          "multigrid.post=3", "multigrid.interpolation=linear"},
         {"cg needs a symmetric one: multigrid.pre = 2 must equal multigrid.post = 3",
          "cg needs a symmetric one; give multigrid.interpolation = \"constant\""}},
        {{"run.mode=krylov", "bottom.solver=ca_gmres", "bottom.scaling=none", "bottom.powers=matrix_powers",
          "bottom.preconditioner=v_cycle", "multigrid.precision=mixed"},
         {"a preconditioner takes part in every power; give bottom.powers = \"paired\"",
          "ca_gmres takes u = M y from it in the end"}},
        {{"run.mode=krylov", "bottom.solver=ca_bicgstab", "bottom.scaling=none",
          "bottom.powers=matrix_powers", "bottom.preconditioner=v_cycle", "multigrid.precision=mixed"},
         {"a preconditioner takes part in every power; give bottom.powers = \"paired\"",
          "ca_bicgstab takes u = M y from it in the end, which would have the digits of single precision; "
          "choose gmres or cg, or multigrid.precision = \"double\""}},
        {{"run.mode=krylov", "bottom.solver=ecg", "bottom.scaling=none", "bottom.preconditioner=v_cycle",
          "multigrid.precision=mixed"},
         {"bottom.preconditioner: needs bottom.solver other than enlarged_orthomin"}},
        {{"run.mode=survey", "run.survey=[\"ca_cg\",\"ca_bicgstab powers_depth=2\"]",
          "bottom.powers=matrix_powers"},
         {"solvers whose matrix powers want 2, 4 ghost layers; give all of them "
          "the same powers_depth"}},
        {{"run.mode=survey", "run.survey=[\"cg\",\"ca_bicgstab s=16\"]", "problem.box=8",
          "multigrid.bottom_box=1"},
         {"bottom.s = 16: 65 basis vectors over the 1 cells of the bottom grid "
          "are dependent"}},
        {{"run.mode=survey", "run.survey=[\"cg s=8\"]"},
         {"run.survey: \"cg s=8\": bottom.s: needs bottom.solver = ca_bicgstab "
          "or ca_cg or pipelined_s_step_cg or s_step_cg or ca_gmres; leave it out"}},
        {{"bottom.solver=pipelined_cg", "bottom.norm=max"},
         {"tested by bicgstab and cg at the bottom of cycles"}},
        {{"bottom.solver=cg", "run.mode=krylov", "bottom.norm=max"},
         {"tested by bicgstab and cg at the bottom of cycles"}},
        {{"bottom.solver=cg", "bottom.scaling=none", "bottom.preconditioner=amg", "bottom.norm=max"},
         {"tested by bicgstab and cg at the bottom of cycles"}},
        {{"bottom.solver=bicgstab", "bottom.norm=natural", "bottom.scaling=none", "run.mode=krylov",
          "bottom.preconditioner=v_cycle"},
         {"not tested by bicgstab with a preconditioner; give bottom.norm = \"residual\""}},
        {{"bottom.norm=natural"}, {"the norm of a preconditioner, and there is none"}},
        {{"bottom.norm=natural", "run.mode=spmv", "run.solve=true"},
         {"the norm of a preconditioner, and there is none"}},
        {{"bottom.solver=amg", "run.mode=krylov"}, {"bottom.solver = \"amg\": works on the coarsest level"}},
        {{"bottom.preconditioner=amg", "run.mode=krylov", "bottom.scaling=none"},
         {"bottom.preconditioner = \"amg\": needs a matrix; choose v_cycle or block_ic0"}},
        {{"bottom.preconditioner=v_cycle", "run.mode=spmv", "run.solve=true", "bottom.scaling=none"},
         {"choose none or amg or block_ic0, or run.mode",
          "bottom.preconditioner: needs bottom.preconditioner = none or"}},
        {{"run.mode=spmv", "run.solve=true", "problem.matrix=arrow", "problem.rows=20",
          "bottom.solver=enlarged_cg", "bottom.block=21"},
         {"bottom.block = 21: more than the 20 rows of the matrix; choose at most 20"}},
        {{"run.mode=spmv", "run.solve=true", "problem.matrix=arrow", "problem.rows=20", "bottom.solver=ca_cg",
          "bottom.powers=matrix_powers"},
         {"only grids have ghosts so deep"}},
        {{"run.mode=spmv", "run.solve=true", "problem.matrix=arrow", "problem.rows=20",
          "bottom.solver=smooth"},
         {"relaxes grids only"}},
        // messages
        {{"comm.ghost_depth=5"}, {"deeper than the coarsest boxes; choose at most multigrid.bottom_box = 4"}},
        {{"comm.scheme=auto"},
         {"no machine to predict times on; give comm.machine, or let comm.scheme = \"tuned\" try"}},
        {{"comm.allreduce=auto"}, {"least predicted time needs comm.machine; give one, such as hopper"}},
        {{"comm.ranks_per_socket=2"},
         {"sockets count where times are predicted and three_step or split are "
          "planned; give comm.machine, choose one of these schemes or \"tuned\", "
          "or leave it out"}},
        {{"run.mode=network", "network.write=no/such/folder.toml"}, {"there is no folder no/such"}},
        {{"run.mode=spmv", "problem.matrix=random", "problem.rows=99", "comm.scheme=helpers"},
         {"every rank has rows, and none helps; give comm.ranks_per_device"}},
        {{"comm.scheme=helpers"}, {"every rank has boxes, and none helps; choose run.mode"}},
        {{"run.mode=spmv", "comm.scheme=staged_axes"},
         {"a matrix has no axes; choose standard, two_step, three_step, split, auto or tuned"}},
        {{"comm.device=staged"}, {"comm.device = \"staged\": the backend openmp has no such thing"}},
        {{"run.gpu_sync=lazy"}, {"run.gpu_sync = \"lazy\": the backend openmp has no such thing"}},
        {{"run.mode=network", "network.write=machine.json"},
         {"network.write = \"machine.json\": give a name that ends in .toml"}},
    };
    for (const auto& [words, messages] : cases) {
        const Deck deck = from_words(words);
        CHECK(deck.errors.empty());
        const Words errors = validate(deck, 1);
        INFO(joined(words) << "\n" << joined(errors));
        CHECK(errors.size() == messages.size());
        for (const std::string& message : messages) {
            INFO("expected: " << message);
            CHECK(std::ranges::count_if(errors, [&](const auto& e) { return contains(e, message); }) == 1);
        }
    }
    // Values at the limits.
    for (const Words& words : std::vector<Words>{{"problem.a=0"},
                                                 {"multigrid.pre=0"},
                                                 {"comm.ghost_depth=4"},
                                                 {"comm.ghost_depth=5", "multigrid.bottom_box=8"},
                                                 {"problem.dimensions=2", "problem.boundary=neumann"},
                                                 {"multigrid.agglomerate=1", "problem.boxes=[1,1,1]"},
                                                 {"bottom.norm=residual"},
                                                 {"bottom.norm=residual", "run.mode=krylov"},
                                                 {"bottom.solver=deep_pipelined_cg", "bottom.depth=8",
                                                  "problem.box=4", "multigrid.bottom_box=2"}})
        CHECK(joined(validate(from_words(words), 1)).empty());
}

TEST_CASE("any number of boxes may lie on no more ranks than boxes") {
    for (const int ranks : {1, 2, 3, 5, 7, 8})
        CHECK(validate(from_words({"problem.boxes=[2,2,2]"}), ranks).empty());
    expect_error(
        validate(from_words({"problem.boxes=[2,2,2]"}), 16),
        "command line: problem.boxes = [2,2,2]: 8 boxes for 16 ranks leave ranks without a box; use at "
        "most 8 ranks, or more boxes, such as [");
    expect_error(validate(from_words({"problem.shape=[[0,0,0]]"}), 2),
                 "1 boxes of this shape for 2 ranks leave ranks without a box");
    for (const int ranks : {1, 2, 3, 7, 64}) CHECK(validate(from_words({}), ranks).empty());
}

TEST_CASE("boxes and boxes_per_rank may both be given only if they agree") {
    const Words agreeing{"problem.boxes=[2,2,2]", "problem.boxes_per_rank=4"};
    CHECK(validate(from_words(agreeing), 2).empty());
    expect_error(validate(from_words(agreeing), 4),
                 "problem.boxes_per_rank = 4: 16 boxes on 4 ranks, but problem.boxes = [2,2,2] makes 8; "
                 "give only one of the two keys");
    expect_error(validate(from_words(agreeing), 16), "8 boxes for 16 ranks leave ranks without a box");
}

TEST_CASE("boxes and cells that an int cannot number are refused") {
    expect_error(validate(from_words({"problem.boxes=[2000,2000,2000]"}), 1), "8000000000 boxes in all");
    expect_error(validate(from_words({"problem.boxes=[2147483647,2147483647,2147483647]"}), 1),
                 "boxes in all");
    expect_error(validate(from_words({"problem.boxes_per_rank=2147483647"}), 2), "4294967294 boxes in all");
    expect_error(validate(from_words({"problem.boxes=[1,40000000,1]"}), 1),
                 "40000000 boxes of 64 cells in direction y");
    CHECK(validate(from_words({"problem.boxes=[33554431,1,1]"}), 1).empty());
    CHECK(validate(from_words({"problem.boxes=[1000,1000,1000]"}), 1).empty());
}

TEST_CASE("pretend nodes hold no more ranks than there are") {
    CHECK(validate(from_words({"comm.ranks_per_node=4"}), 4).empty());
    expect_error(validate(from_words({"comm.ranks_per_node=4"}), 2), "there are only 2 ranks");
}

TEST_CASE("a map of nodes that does not fit is refused with its line") {
    const std::vector<std::tuple<std::string, int, Words, std::string>> cases{
        {"a\nb\n", 3, {}, "no node for rank 2: 2 lines for 3 ranks; add 1, or start 2 ranks"},
        {"a\nb\n", 1, {}, "2 lines for 1 ranks; remove 1, or start 2 ranks"},
        {"a\nb\n", 2, {"comm.ranks_per_node=1"}, "comm.ranks_per_node = 1: give only one of the two"},
        {"a\nb c\n", 2, {}, "line 2: \"b c\": give one node a line"},
        {"a:0\nb\n", 2, {}, "line 2: \"b\" has no socket, unlike those before; give all of them or none"},
        {"a\nb:1\n", 2, {}, "line 2: \"b:1\" has a socket, unlike those before; give all of them or none"},
        {":0\nb:1\n", 2, {}, "line 1: \":0\": give NODE, or NODE:SOCKET"},
        {"a:\nb:1\n", 2, {}, "line 1: \"a:\": give NODE, or NODE:SOCKET"},
        {"a:0\na:1\n",
         2,
         {"comm.machine=lassen", "comm.ranks_per_socket=1"},
         "has sockets, and comm.ranks_per_socket = 1: give only one of the two"}};
    for (const auto& [text, ranks, more, message] : cases) {
        const TemporaryDeck map(text);
        Words words = more;
        words.push_back("comm.node_map=" + map.path().string());
        expect_error(validate(from_words(words), ranks), message);
    }
    expect_error(
        validate(from_words({"comm.machine=lassen", "comm.ranks_per_node=2", "comm.ranks_per_socket=3"}), 4),
        "comm.ranks_per_socket = 3: a node has only 2 ranks; choose at most that, or 0");
    expect_error(validate(from_words({"comm.node_map=/"}), 2), "is a folder; give a file");
}

TEST_CASE("the file of records must be writable, and looking does not touch it") {
    const TemporaryDeck file("kept");
    CHECK(validate(from_words({"output.json=" + file.path().string()}), 1).empty());
    CHECK(fs::file_size(file.path()) == 4);
    const fs::path fresh = file.path().string() + ".new";
    CHECK(validate(from_words({"output.json=" + fresh.string()}), 1).empty());
    CHECK_FALSE(fs::exists(fresh));
    CHECK(validate(from_words({"output.json=plain_name.json"}), 1).empty());
    expect_error(
        validate(from_words({"output.json=/no/such/folder/run.json"}), 1),
        "command line: output.json = \"/no/such/folder/run.json\": there is no folder /no/such/folder");
    expect_error(validate(from_words({"output.json=/"}), 1), "is a folder; give a file name");
    if (::geteuid() != 0) {  // root may write anywhere
        fs::permissions(file.path(), fs::perms::owner_read);
        expect_error(validate(from_words({"output.json=" + file.path().string()}), 1), "cannot be written");
    }
}

TEST_CASE("a rule points to the line that set its key") {
    const Deck deck = from_text("[problem]\n\nbox = 10\n");
    expect_error(validate(deck, 1), ".toml:3: multigrid.bottom_box = 4: not reached");
}

TEST_CASE("a rule is silent where one of its keys was refused already") {
    const Deck deck = from_words({"problem.box=forty", "multigrid.bottom_box=5"});
    CHECK(deck.errors.size() == 1);
    CHECK(validate(deck, 1).empty());
    const Deck misspelt = from_words({"problem.bx=40", "multigrid.bottom_box=5"});
    CHECK(misspelt.errors.size() == 1);
    CHECK(validate(misspelt, 1).empty());
}

TEST_CASE("the domain is as given or as cubic as the ranks allow") {
    CHECK(resolved_boxes(from_words({}).parameters.problem, 8) == Index{2, 2, 2});
    CHECK(resolved_boxes(from_words({}).parameters.problem, 3) == most_cubic(3));
    CHECK(resolved_boxes(from_words({"problem.boxes_per_rank=9"}).parameters.problem, 3) == Index{3, 3, 3});
    CHECK(resolved_boxes(from_words({"problem.boxes=[1,2,3]"}).parameters.problem, 2) == Index{1, 2, 3});
}

TEST_CASE("every key appears once in each rendering of the table") {
    const std::string text = keys_text(all_keys(), "all");
    const std::string markdown = keys_markdown(all_keys());
    const auto json = resolved_json(all_keys(), Parameters{});
    std::set<std::string> names;
    for (const Key& key : all_keys().keys()) {
        INFO(key.full_name());
        CHECK(names.insert(key.full_name()).second);
        CHECK(contains(text, key.full_name() + " = "));
        CHECK(contains(markdown, "| `" + key.full_name() + "` | "));
        CHECK(json.at(key.section).contains(key.name));
        CHECK_FALSE(key.meaning.empty());
        CHECK(all_keys().find(key.section, key.name) == &key);
    }
    CHECK(all_keys().sections() ==
          Words{"problem", "multigrid", "bottom", "comm", "run", "output", "amg", "network", "anderson"});
    CHECK(all_keys().find("problem", "boxx") == nullptr);
    // Four cells a row: five bars that are not escaped.
    std::istringstream rows(markdown);
    for (std::string row; std::getline(rows, row);) {
        int bars = 0;
        for (std::size_t i = 0; i < row.size(); ++i) bars += row[i] == '|' && (i == 0 || row[i - 1] != '\\');
        CHECK(bars == 5);
    }
}

TEST_CASE("a default that is no choice is a programming mistake") {
    Table table;
    Section s(table, "run", &Parameters::run);
    CHECK_THROWS_AS(s.choice("mode", &RunOptions::mode, {"swim"}, "way to move"), std::logic_error);
}

TEST_CASE("a printed deck reads back to the same parameters") {
    const auto check_round_trip = [&](Deck deck) {
        drop_idle_keys(deck);
        const std::string text = printed(deck);
        INFO(text);
        const Deck again = from_text(text);
        INFO(joined(again.errors));
        CHECK(again.errors.empty());
        CHECK(resolved_json(all_keys(), again.parameters) == resolved_json(all_keys(), deck.parameters));
    };
    check_round_trip(from_words({}));
    check_round_trip(
        from_words({"problem.boundary=[\"periodic\",\"dirichlet\",\"neumann\"]", "problem.boxes=[2,2,2]",
                    "problem.boxes_per_rank=4", "problem.b=1e300", "multigrid.bottom_grid=3",
                    "multigrid.relaxation=0.1", "problem.rhs=random", "problem.seed=9223372036854775807",
                    "output.json='a \"quoted\" \\ path # no comment'"}));
    for (const auto& path : good_decks()) {
        INFO(path);
        check_round_trip(from_file(path));
    }
}

TEST_CASE("a printed deck is as valid as the deck it was made from") {
    // boxes_per_rank, spelt out, would be held against the number of boxes.
    const Deck deck = from_words({"problem.boxes=[2,2,2]"});
    CHECK(validate(from_text(printed(deck)), 2).empty());
}

TEST_CASE("every good deck in inputs is read without errors and suits 1, 2 and 4 ranks") {
    const Words paths = good_decks();
    CHECK(paths.size() >= 17);
    for (const auto& path : paths) {
        const Deck deck = from_file(path);
        INFO(path << "\n" << joined(deck.errors));
        CHECK(deck.errors.empty());
        for (const int ranks : {1, 2, 4}) CHECK(joined(validate(deck, ranks)).empty());
        std::string first_line;
        std::ifstream stream(path);
        std::getline(stream, first_line);
        CHECK(first_line.starts_with("# "));
    }
}

TEST_CASE("the smoke decks together try every choice of every key") {
    // Features of backends depend on the build and the machine: tests/executable/test_backends.py.
    const std::set<std::string> of_backends{"run.backend", "run.gpu_sync", "comm.device"};
    std::map<std::string, std::set<std::string>> tried;
    // This word needs a machine's file, which a deck cannot name from anywhere:
    // tests/executable/test_choice.py.
    tried["comm.scheme"].insert("auto");
    // Not every MPI has them: tests/comm/test_exchange.cpp.
    tried["comm.transport"].insert("partitioned");
    // Every one of them is tried by tests/solvers/amg/test_amg.cpp.
    for (const SchemeOptions& one : candidates_without_axes({})) tried["amg.rows_scheme"].insert(name(one));
    tried["amg.rows_scheme"].insert(as_all_else);
    // The file would be written into the working directory: tests/executable/test_network.py.
    tried["network.write"].insert("machine.toml");
    // They take long and write a file, too: tests/executable/test_benchmark.py.
    tried["run.mode"].insert({"benchmark", "quick_benchmark"});
    tried["output.result"].insert("RESULT.json");
    for (const auto& path : good_decks_in("inputs/smoke")) {
        const Deck deck = from_file(path);
        for (const Key& key : all_keys().keys()) {
            if (key.full_name() == "problem.boundary")
                for (const Sides<Boundary>& sides : deck.parameters.problem.boundary)
                    for (const Boundary side : {sides.low, sides.high})
                        tried["problem.boundary"].insert(name(side));
            if (deck.origin.at(key.full_name()) == "default") continue;
            const DeckValue value = key.value(deck.parameters);
            tried[key.full_name()].insert(value.is_string() ? value.get<std::string>() : value.dump());
        }
    }
    for (const Key& key : all_keys().keys()) {
        INFO(key.full_name());
        if (!of_backends.contains(key.full_name()))
            for (const Word& word : key.words) {
                INFO(word.name);
                CHECK(tried[key.full_name()].contains(word.name));
            }
        CHECK_FALSE(tried[key.full_name()].empty());
    }
}

TEST_CASE("a key's default plays a part wherever another of its values does") {
    for (const auto& path : good_decks()) {
        INFO(path);
        const Deck deck = from_file(path);
        for (const Key& key : all_keys().keys()) {
            if (!deck.is_set(key.full_name()) || is_idle(deck, key)) continue;
            INFO(key.full_name());
            Deck by_default = deck;
            key.set_default(by_default.parameters);
            CHECK_FALSE(is_idle(by_default, key));
        }
    }
}

TEST_CASE("default takes back what the deck says") {
    const Deck deck = from_text("[problem]\nbox = 16\na = nonsense\n", {"problem.box=default"});
    CHECK(deck.parameters.problem.box == 64);
    CHECK(deck.origin.at("problem.box") == "default");
    const Deck solver = from_text("[bottom]\nsolver = \"bicgstab\"\n[output]\njson = \"a.json\"\n",
                                  {"bottom.solver=default", "output.json=\"default\""});
    CHECK(solver.errors.empty());
    CHECK(solver.parameters.bottom.solver == "cg");
    CHECK(solver.parameters.output.json == "default");  // in quotes it is a name like any other
    expect_error(from_words({"problem.box=default", "problem.box=3"}).errors, "given twice");
}

TEST_CASE("texts need no quotes on the command line") {
    for (const std::string path : {"a=b.jsonl", "runs/p=8 s=4.json", "a#b", "x,y", "it's", "{a}"}) {
        INFO(path);
        const Deck deck = from_words({"output.json=" + path});
        CHECK(joined(deck.errors).empty());
        CHECK(deck.parameters.output.json == path);
    }
    expect_error(from_words({"output.json=\"a"}).errors, "not a TOML value");
    expect_error(from_words({"output.json=a\x1b[2Jb"}).errors, "a\\x1b[2Jb");
}

TEST_CASE("a number without digits beside its point is told how to be written") {
    for (const std::string word : {"1.e-8", ".3", "+.3", "1."}) {
        INFO(word);
        expect_error(from_words({"multigrid.tolerance=" + word}).errors, "write it as 0.3 or 1.0e-8");
        expect_error(from_text("[multigrid]\ntolerance = " + word + " # so\n").errors,
                     "expected decimal digit");
    }
}

TEST_CASE("a section in place of a key is told which key was meant") {
    expect_error(from_words({"bottom=cg"}).errors,
                 "command line: bottom: is a section; give one of its keys: solver, tolerance, ");
    expect_error(from_words({"bottom=cg"}).errors, "(did you mean \"bottom.solver=cg\"?)");
    expect_error(from_words({"run=survey"}).errors, "(did you mean \"run.mode=survey\"?)");
}

TEST_CASE("what is echoed is short and printable") {
    const std::string message = joined(from_words({"problem.box=" + std::string(5000, 'x')}).errors);
    CHECK(message.size() < 300);
    CHECK(contains(message, "x... (5002 characters)"));
    for (const std::string text : {"[problem]\nbox = \"\\u001b[2J\"\n", "[problem]\n[\x01]\n", "a = \x1b"}) {
        const std::string bytes = joined(from_text(text).errors);
        INFO(bytes);
        CHECK_FALSE(bytes.empty());
        CHECK(std::ranges::none_of(bytes, [](unsigned char c) { return c < 0x20 && c != '\n'; }));
    }
    expect_error(from_text("[problem]\n[\x01]\n").errors,
                 ".toml:2: not valid TOML: a control character, \\x01");
}

TEST_CASE("texts that break the TOML library's assertions are refused, at their line") {
    const auto [text, line] = GENERATE(table<std::string, int>({
        {"[problem]\nboxes = [}\n", 2},
        {"[problem]\n# gro\xc3\x9f\ngr\xc3\xb6\xc3\x9f"
         "e = 8\n",
         3},
        {"[run]\nlabel = '\xc3\xb6' \xef\xbb\xaf\n", 2},
        {"[run]\nlabel = \"\\\"\xc3\xb6\"\n\xc3\xb6 = 1\n", 3},
        {"[run]\nlabel = \"\"\"\n'\n#\"\"\"\n\xc3\xb6 = 1\n", 5},
    }));
    INFO(text);
    expect_error(from_text(text).errors, ".toml:" + std::to_string(line) + ":");
}

TEST_CASE("texts in quotes and comments may have any characters") {
    const Deck deck = from_text(
        "\xef\xbb\xbf[run] # \xc3\xb6\nlabel = \"\\\"\xc3\xb6#\" # '\xc3\x9f\n[output]\n# \xe2\x88\x9e\n");
    CHECK(joined(deck.errors).empty());
    CHECK(deck.parameters.run.label == "\"\xc3\xb6#");
}

TEST_CASE("keys without effect are refused on the command line and remarked on in a deck") {
    const auto [words, reason] = GENERATE(table<Words, std::string>({
        {{"bottom.solver=cg", "bottom.s=8"}, "bottom.s: needs bottom.solver = ca_bicgstab or ca_cg"},
        {{"multigrid.smoother=jacobi", "multigrid.relaxation=0.3"},
         "multigrid.relaxation: needs multigrid.smoother = gsrb"},
        {{"problem.contrast=9"}, "problem.contrast: needs problem.coefficients = smooth or ball or front"},
        {{"run.mode=survey", "bottom.solver=cg"}, "run.mode = survey takes its solvers from run.survey"},
        {{"run.mode=survey", "run.survey=[\"cg\"]", "bottom.s=8"}, "bottom.s: needs bottom.solver = ca_"},
        {{"run.mode=krylov", "multigrid.pre=3"}, "multigrid.pre: needs bottom.preconditioner = v_cycle"},
        {{"network.write=here.toml"}, "network.write: needs run.mode = network"},
        {{"run.mode=network", "problem.box=8"},
         "run.mode = network measures messages and the triad; leave it out"},
        {{"run.mode=spmv", "problem.seed=3"},
         "problem.seed: needs problem.matrix = random or problem.ordering = random"},
        {{"multigrid.cycle=F", "multigrid.max_cycles=1", "multigrid.accelerator=cg",
          "problem.rhs=manufactured"},
         "multigrid.accelerator: needs multigrid.cycle = V"},
        {{"run.mode=exchange", "bottom.s=2"}, "bottom.s: run.mode = exchange solves nothing; leave it out"},
        {{"run.mode=exchange", "comm.scheme=split"},
         "run.mode = exchange tries all schemes under all rules; leave it out"},
        {{"run.mode=exchange", "problem.storage=blocks"}, "problem.storage: run.mode = exchange"},
        {{"problem.columns=2"}, "problem.columns: needs run.mode = spmv or exchange"},
        {{"run.mode=krylov", "multigrid.bottom_grid=gather"},
         "multigrid.bottom_grid: needs bottom.preconditioner = v_cycle"},
        {{"multigrid.smoother=jacobi", "multigrid.ghost_colours=needed"},
         "multigrid.ghost_colours: needs multigrid.smoother = gsrb"},
        {{"multigrid.reference_path=true", "multigrid.fused_half_sweeps=2"},
         "multigrid.fused_half_sweeps: needs multigrid.reference_path = false"},
        {{"run.mode=network", "output.details=true"}, "output.details: run.mode = network measures messages"},
        {{"bottom.solver=ca_bicgstab", "bottom.norm=max"}, "bottom.norm: needs bottom.solver"},
        {{"bottom.solver=smooth", "bottom.preconditioner=amg"}, "bottom.preconditioner: needs bottom.solver"},
        {{"run.mode=spmv", "run.solve=true", "bottom.solver=chebyshev", "bottom.preconditioner=amg",
          "bottom.scaling=none"},
         "bottom.preconditioner: needs bottom.solver other than enlarged_orthomin"},
        {{"bottom.solver=amg", "amg.coarsest=krylov", "amg.max_dense=9"},
         "amg.max_dense: needs amg.coarsest = replicated or gathered"},
        {{"amg.theta=0.5"}, "amg.theta: needs bottom.solver = amg or bottom.preconditioner = amg"},
        {{"run.mode=spmv", "multigrid.pre=1"}, "multigrid.pre: plays no part"},
        {{"run.mode=spmv", "problem.rows=9"},
         "problem.rows: needs problem.matrix = banded or random or arrow"},
        {{"run.mode=spmv", "problem.a=1"}, "problem.a: needs problem.matrix = grid"},
        {{"run.mode=spmv", "problem.dimensions=2"},
         "problem.dimensions: needs problem.matrix = convection or grid"},
        {{"run.mode=spmv", "problem.rhs=wave"}, "problem.rhs: needs problem.rhs = a file"},
        {{"comm.ranks_per_device=2"}, "comm.ranks_per_device: on grids every rank has boxes"},
        {{"run.mode=fixed_point", "anderson.orthogonalisation=all", "anderson.inner=1"},
         "anderson.inner: needs anderson.orthogonalisation other than all"},
        {{"bottom.powers_depth=2"}, "bottom.powers_depth: needs bottom.solver = ca_bicgstab or ca_cg"},
        {{"bottom.solver=ca_cg", "bottom.powers_depth=2"},
         "bottom.powers_depth: needs bottom.powers = matrix_powers or fused_matrix_powers"},
    }));
    INFO(joined(words));
    expect_error(validate(from_words(words), 2), "command line: ");
    expect_error(validate(from_words(words), 2), reason);

    // The same in a file: a remark, and the value plays no part.
    std::map<std::string, std::string> sections;
    for (const std::string& word : words) {
        const auto dot = word.find('.');
        const auto equals = word.find('=');
        const std::string value = word.substr(equals + 1);
        const bool bare =
            !std::isdigit(static_cast<unsigned char>(value[0])) && value[0] != '[' && value != "true";
        sections[word.substr(0, dot)] +=
            word.substr(dot + 1, equals - dot) + (bare ? "\"" + value + "\"" : value) + "\n";
    }
    std::string text;
    for (const auto& [section, keys] : sections) text += "[" + section + "]\n" + keys;
    Deck deck = from_text(text);
    REQUIRE(joined(deck.errors).empty());
    const Words remarks = drop_idle_keys(deck);
    REQUIRE(remarks.size() == 1);
    CHECK(contains(remarks.front(), "without effect: "));
    const auto colon = reason.find(": ");
    CHECK(contains(remarks.front(), colon == std::string::npos ? reason : reason.substr(colon + 2)));
    CHECK(validate(deck, 2).empty());
}

TEST_CASE("too large an s for a small bottom grid is no mistake, one that cannot be lowered is") {
    Words words{"bottom.solver=ca_bicgstab", "problem.box=4", "multigrid.bottom_box=2"};
    CHECK(validate(from_words(words), 1).empty());  // 8 cells hold s = 1, not 4
    words.push_back("bottom.s=4");
    CHECK(validate(from_words(words), 1).empty());
    words[0] = "bottom.solver=enlarged_cg";
    words[3] = "bottom.block=9";
    expect_error(validate(from_words(words), 1),
                 "bottom.block = 9: more than the 8 cells of the bottom grid; choose at most 8");
    words = {"bottom.solver=ca_bicgstab", "problem.box=4", "multigrid.bottom_box=1"};
    expect_error(validate(from_words(words), 1),
                 "17 basis vectors over the 1 cells of the bottom grid are dependent; choose a wider "
                 "multigrid.bottom_box");
}

TEST_CASE("the text of keys has those of a section, or one, and wraps between words") {
    const std::string common = keys_text(all_keys());
    CHECK(contains(common, "\nbottom.solver = "));
    CHECK_FALSE(contains(common, "multigrid.reference_path"));
    CHECK(contains(keys_text(all_keys(), "multigrid"), "\nmultigrid.reference_path = false"));
    CHECK(keys_text(all_keys(), "bottom.s").starts_with("bottom.s = 4"));
    CHECK(contains(keys_text(all_keys(), "run"), "run.repeats = 5"));
    CHECK_FALSE(contains(keys_text(all_keys(), "run"), "problem.box"));
    CHECK(keys_text(all_keys(), "bottom.z").empty());
    CHECK(wrapped("one two three", 2, 7) == "one two\n  three");
    CHECK(wrapped("a word_longer_than_the_line b", 0, 5) == "a\nword_longer_than_the_line\nb");
}
