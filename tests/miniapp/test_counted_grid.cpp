// A solve that is counted on a virtual rank is the solve of that rank: its whole ledger to the last count,
// and the bytes of its fields and buffers. Random decks, the same ones every time.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "kernels/timing/timed_operations.hpp"
#include "miniapp/modes/grids/grid_mode.hpp"
#include "miniapp/prediction/counting/counted_grid.hpp"
#include "miniapp/prediction/counting/grid_solver.hpp"

namespace {

using namespace keel;
using Words = std::vector<std::string>;
using Choices = std::vector<Words>;

// One of each group, in this order; most of them agree with each other.
const std::vector<Choices> groups{
    {{"problem.dimensions=3", "problem.box=8", "problem.boxes=[2,2,2]"},
     {"problem.dimensions=3", "problem.box=8", "problem.boxes=[4,2,2]"},
     {"problem.dimensions=3", "problem.box=16", "problem.boxes=[3,2,1]"},
     {"problem.dimensions=2", "problem.box=16", "problem.boxes=[4,4,1]"},
     {"problem.dimensions=2", "problem.box=32", "problem.boxes=[2,3,1]"}},
    {{},
     {"problem.boundary=dirichlet"},
     {"problem.a=0", "problem.boundary=neumann"},
     {"problem.coefficients=smooth", "problem.rhs=wave"}},
    {{}, {"problem.storage=boxes"}},
    {{},
     {"multigrid.cycle=F"},
     {"multigrid.cycle=F", "multigrid.max_cycles=1"},
     {"multigrid.accelerator=cg"},
     {"multigrid.interpolation=linear"},
     {"multigrid.reference_path=true"},
     {"multigrid.smoother=chebyshev"},
     {"multigrid.smoother=jacobi", "multigrid.relaxation=0.8"},
     {"multigrid.pre=1", "multigrid.post=3"},
     {"run.mode=krylov", "bottom.tolerance=1e-4"},
     {"run.mode=krylov", "bottom.tolerance=1e-4", "bottom.preconditioner=v_cycle"},
     {"run.mode=krylov", "bottom.tolerance=1e-4", "bottom.preconditioner=block_ic0"}},
    {{}, {"multigrid.fused_box=1"}, {"multigrid.fused_box=1", "multigrid.fused_half_sweeps=2"}},
    {{},
     {"multigrid.ghost_colours=needed"},
     {"multigrid.precision=mixed"},
     {"multigrid.precision=mixed_half"}},
    {{},
     {"multigrid.agglomerate=1"},
     {"multigrid.agglomerate=100000"},
     {"multigrid.bottom_grid=gather"},
     {"multigrid.bottom_grid=gather", "multigrid.agglomerate=1"},
     {"multigrid.bottom_grid=consolidate"},
     {"multigrid.bottom_grid=replicate"}},
    {{},
     {"bottom.solver=bicgstab"},
     {"bottom.solver=bicgstab_fused"},
     {"bottom.solver=ca_bicgstab", "bottom.s=3"},
     {"bottom.solver=ca_cg", "bottom.s=8", "bottom.basis=newton"},
     {"bottom.solver=ca_cg", "bottom.powers=matrix_powers"},
     {"bottom.solver=ca_cg", "bottom.powers=fused_matrix_powers", "bottom.gram_precision=double_double"},
     {"bottom.solver=pipelined_s_step_cg"},
     {"bottom.solver=s_step_cg", "bottom.small_system=gauss_seidel"},
     {"bottom.solver=ca_gmres", "bottom.powers=matrix_powers"},
     {"bottom.solver=pipelined_cg"},
     {"bottom.solver=deep_pipelined_cg", "bottom.depth=3"},
     {"bottom.solver=pipelined_bicgstab"},
     {"bottom.solver=pr_cg"},
     {"bottom.solver=ecg", "bottom.block=4"},
     {"bottom.solver=sre_cg"},
     {"bottom.solver=chebyshev"},
     {"bottom.solver=cg", "bottom.spectrum=estimate"},
     {"bottom.solver=smooth"}},
    {{}, {"bottom.scaling=none"}, {"bottom.scaling=jacobi"}},
    {{},
     {"comm.scheme=three_step"},
     {"comm.scheme=two_step"},
     {"comm.scheme=split"},
     {"comm.scheme=staged_axes", "comm.neighbours=all"}},
    {{}, {"comm.allreduce=recursive_doubling"}, {"comm.allreduce=node_aware"}, {"run.deterministic=true"}},
    {{}, {"comm.overlap=true"}, {"comm.neighbours=all"}, {"comm.ghost_depth=2"}, {"comm.precision=single"}}};

Words draw(std::mt19937& random) {
    const int of_node = std::min(2, Communicator::world().size());
    Words words{fmt::format("comm.ranks_per_node={}", of_node), "multigrid.bottom_box=4",
                "multigrid.tolerance=1e-6"};
    for (const Choices& group : groups) {
        // The defaults, which come first, half of the time: what has no effect is refused.
        const std::size_t n = random() % 2 == 0 ? 0 : random() % group.size();
        for (const std::string& word : group[n])
            if (std::ranges::find(words, word) == words.end()) words.push_back(word);
    }
    return words;
}

// Real operations that add up what they are asked for.
struct Plain {
    std::unique_ptr<Operations> plain;
    Ledger unread{1};
};
class SummedOperations : private Plain, public TimedOperations {
  public:
    SummedOperations(std::unique_ptr<Operations> made, CountedMemory& memory)
        : Plain{std::move(made)}, TimedOperations(*plain, unread, 0, Caller::multigrid), memory_(memory) {}
    Field make_field() override {
        const Field made = TimedOperations::make_field();
        memory_.fields += made.shape().values() * bytes_of_value(made.precision());
        return made;
    }
    void round_faces(Stencil& rounded, const Stencil& L, int layers) override {
        if (rounded.x == Field())
            memory_.fields += layout().dimensions() * L.x.shape().values() * sizeof(Half);
        TimedOperations::round_faces(rounded, L, layers);
    }
    Buffer make_buffer(std::size_t values, Wire wire) override {
        const Buffer made = TimedOperations::make_buffer(values, wire);
        memory_.buffers += values * bytes_of_value(made.precision);
        return made;
    }

  private:
    CountedMemory& memory_;
};
class SummedBackend : public Backend {
  public:
    explicit SummedBackend(CountedMemory& memory) : memory_(memory) {}
    std::string name() const override { return inner_->name(); }
    std::string description() const override { return inner_->description(); }
    int threads() const override { return inner_->threads(); }
    std::unique_ptr<Operations> make_operations(const Layout& layout, int ghosts,
                                                Storage storage) const override {
        return std::make_unique<SummedOperations>(inner_->make_operations(layout, ghosts, storage), memory_);
    }
    std::unique_ptr<Operations> make_cycle_operations(const Layout& layout, int ghosts, Storage storage,
                                                      Precision faces) const override {
        return std::make_unique<SummedOperations>(
            inner_->make_cycle_operations(layout, ghosts, storage, faces), memory_);
    }

  private:
    std::unique_ptr<Backend> inner_ = make_backend("openmp");
    CountedMemory& memory_;
};

// All counts of a ledger, then the bytes of fields and buffers.
std::vector<double> counts_of(const Ledger& ledger, const CountedMemory& memory) {
    std::vector<double> counts;
    for (int l = 0; l < ledger.levels(); ++l)
        for (std::size_t op = 0; op < op_count; ++op) {
            const Entry& entry = ledger.at(static_cast<Op>(op), l);
            for (const long count :
                 {entry.calls, entry.traffic.messages, entry.traffic.bytes, entry.traffic.off_node_messages,
                  entry.traffic.off_node_bytes, entry.words})
                counts.push_back(static_cast<double>(count));
            counts.insert(counts.end(), {entry.work.flops, entry.work.bytes});
        }
    counts.insert(counts.end(), {static_cast<double>(memory.fields), static_cast<double>(memory.buffers)});
    return counts;
}
constexpr std::size_t counts_of_entry = 8;

// The first difference of both, in words; empty if there is none.
std::string difference(std::span<const double> counted, std::span<const double> real) {
    const auto [at, other] = std::ranges::mismatch(counted, real);
    if (at == counted.end()) return "";
    const auto n = static_cast<std::size_t>(at - counted.begin());
    constexpr std::array names{"calls",          "messages", "bytes sent", "off-node messages",
                               "off-node bytes", "words",    "flops",      "bytes"};
    const std::size_t entry = n / counts_of_entry;
    const std::string where = n + 2 >= real.size()
                                  ? std::string(n + 2 == real.size() ? "fields" : "buffers")
                                  : fmt::format("level {} {} {}", entry / op_count,
                                                names_of(Op{})[entry % op_count], names[n % counts_of_entry]);
    return fmt::format("{}: {} counted, {} real", where, *at, *other);
}

// Whether the deck is valid here; compares the counted solves of all ranks with the real one.
bool compared(const Words& words) {
    static const Table table = make_table();
    const Communicator comm = Communicator::world();
    const Deck deck = read_deck(table, std::nullopt, words);
    if (!deck.errors.empty()) FAIL(fmt::format("{}", fmt::join(deck.errors, "\n")));
    if (!validate(deck, {}, comm.size()).empty()) return false;
    INFO(fmt::format("{} ranks, {}", comm.size(), fmt::join(words, " ")));
    const Resolved resolved = resolve(deck, {}, comm);
    const auto prepared = mode_of(deck).prepare(deck, resolved);
    const GridSetup& grids = dynamic_cast<const PreparedGrids&>(*prepared).grids();
    const NamedSolver& solver = grids.use.solvers.front();

    CountedMemory memory;
    const SummedBackend backend(memory);
    const Layout finest = grids.finest();
    const Problem problem(grids.problem, finest);
    Ledger ledger(grids.levels());
    SolveTape tape;
    Hierarchy hierarchy(comm, resolved.topology, backend, finest, problem.operator_formulas(),
                        grids.hierarchy, ledger);
    set_right_side(hierarchy.level(0), problem);
    if (comm.rank() == 0) tape.record(hierarchy);
    ledger.clear();
    const SolveCounts real = GridSolver(hierarchy, grids, solver).solve();
    CHECK(real.visits > 0);
    const std::vector<double> all = comm.gather(counts_of(ledger, memory));
    if (comm.rank() > 0) return true;

    const std::size_t each = all.size() / static_cast<std::size_t>(comm.size());
    for (int rank = 0; rank < comm.size(); ++rank) {
        GridSetup on_rank = grids;
        on_rank.rank = rank;
        CountedGrid counted(on_rank, resolved.topology, {}, backend.threads());
        tape.replay(counted.hierarchy());
        counted.ledger().clear();
        GridSolver(counted.hierarchy(), on_rank, solver).solve();
        const std::vector<double> counts = counts_of(counted.ledger(), counted.memory());
        const auto theirs = std::span(all).subspan(static_cast<std::size_t>(rank) * each, each);
        REQUIRE(counts.size() == each);
        // Sums of pairs keep some values on the side, which are counted as a buffer.
        const bool of_pairs = solver.options.gram_precision == GramPrecision::twofold;
        CHECK(difference(std::span(counts).first(of_pairs ? each - 1 : each), theirs) == "");
        if (rank == 0) CHECK(tape.at_end());
    }
    return true;
}

}  // namespace

TEST_CASE("a counted solve is the solve of every rank to the last count, for random decks") {
    constexpr int wanted = 60;
    std::mt19937 random(64);
    int valid = 0;
    for (int drawn = 0; drawn < 100 * wanted && valid < wanted; ++drawn)
        valid += compared(draw(random)) ? 1 : 0;
    CHECK(valid == wanted);
}
