#include "miniapp/schemes/scheme_choice.hpp"

#include <algorithm>
#include <memory>

#include "kernels/hash.hpp"
#include "kernels/timing/ledger.hpp"

namespace keel {
namespace {

constexpr int exchanges_per_round = 10;  // a round is long beside a tick of the clock

// Fields of one level, filled anew before each exchange that is checked.
struct Fields {
    Fields(const Backend& backend, const Layout& layout, int ghosts, const SchemeUse& use)
        : operations(use.value_bytes == sizeof(float)
                         ? backend.make_cycle_operations(layout, ghosts, Storage::boxes, Precision::fp32)
                         : backend.make_operations(layout, ghosts)) {
        for (std::size_t column = 0; column < use.columns; ++column) all.push_back(operations->make_field());
    }

    void fill(const ValueOfCell& value) {
        std::uint64_t seed = 0;
        for (const Field field : all) {
            operations->fill(field, 0.0);
            operations->assign(field, operations->layout().box_cells(),
                               [&, at = scramble(++seed)](const Index& cell) { return value(at, cell); });
        }
    }
    std::vector<double> read(int ghosts) const {
        std::vector<double> values;
        for (const Field field : all) {
            const Layout& layout = operations->layout();
            const Index layers = layout.layers(ghosts);
            const auto of_field = operations->read(field, {-layers, layout.extent() + 2 * layers});
            values.insert(values.end(), of_field.begin(), of_field.end());
        }
        return values;
    }

    std::unique_ptr<Operations> operations;
    std::vector<Field> all;
};

double value_of_cell(std::uint64_t seed, const Index& c) {
    const auto xy = scramble(seed + static_cast<std::uint64_t>(c[0])) + static_cast<std::uint64_t>(c[1]);
    return static_cast<double>(scramble(scramble(xy) + static_cast<std::uint64_t>(c[2])) >> 11);
}

// Exchanges from some fields to others, or to their own ghosts.
class FieldTrial : public Trial {
  public:
    // Fields of this rank, null where it has none; `depth` layers around boxes are looked at, too.
    FieldTrial(std::shared_ptr<Fields> from, std::shared_ptr<Fields> to, int depth, ValueOfCell value)
        : from_(std::move(from)), to_(std::move(to)), depth_(depth), value_(std::move(value)) {}

    void add_row(std::function<void()> exchange) { by_row_.push_back(std::move(exchange)); }

    void run(std::size_t row, int times) override {
        for (int n = 0; n < times; ++n) by_row_[row]();
        for (const auto& end : {from_, to_})
            if (end) end->operations->wait();
    }
    std::vector<double> filled(std::size_t row) override {
        if (to_) to_->fill([](std::uint64_t, const Index&) { return 0.0; });
        if (from_) from_->fill(value_);
        run(row, 1);
        return to_ ? to_->read(depth_) : std::vector<double>();
    }

  private:
    std::shared_ptr<Fields> from_, to_;
    int depth_;
    ValueOfCell value_;
    std::vector<std::function<void()>> by_row_;
};

// The boxes of a coarse level, there or back. A rank that does not go on has no fields away.
std::unique_ptr<Trial> make_move_trial(const GridSetup& grids, const TransportOptions& transport,
                                       const Backend& backend, const SchemeTable& table) {
    const SchemeUse& use = table.use;
    const Layout& after = use.moves()->agglomeration.after;
    auto from = std::make_shared<Fields>(backend, use.layout, 0, use);
    auto to = after.rank() < 0 ? nullptr : std::make_shared<Fields>(backend, after, 0, use);
    if (use.moves()->way == Way::back) std::swap(from, to);
    auto trial = std::make_unique<FieldTrial>(from, to, 0, value_of_cell);
    const BoxPattern pattern = boxes_moved(use);
    const auto operations = [](const auto& end) { return end ? end->operations.get() : nullptr; };
    const auto fields = [](const auto& end) { return end ? end->all : std::vector<Field>(); };
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        const int rank = transport.comm.rank();
        auto move = std::make_shared<Redistribution>(
            Redistribution::Ends{operations(from), operations(to)}, rank, pattern, use.layout,
            use.layout.box_cells(), make_plan(pattern, transport.topology, table.rows[row].scheme, rank),
            grids.hierarchy.exchange,
            TransportOptions{transport.comm, transport.topology, static_cast<int>(row)});
        move->reserve(use.columns);
        trial->add_row([move, give = fields(from), get = fields(to)] { move->run(give, get); });
    }
    return trial;
}

}  // namespace

std::vector<SchemeRow> compare_parts(const Communicator& comm, const Setup& setup,
                                     std::span<const SchemeOptions> schemes, const PlanOf& plan_of,
                                     std::span<const int> ranks) {
    std::vector<SchemeRow> rows;
    for (const SchemeOptions& scheme : schemes) {
        const Plan plan = plan_of(scheme);
        const auto place = std::ranges::find(ranks, comm.rank());
        const int rank = ranks.empty() ? comm.rank() : static_cast<int>(place - ranks.begin());
        const bool takes_part = ranks.empty() || place != ranks.end();
        std::vector<Share> shares =
            gather(comm, takes_part ? share_of(plan, rank, scheme.columns, setup) : Share());
        if (!ranks.empty() && !shares.empty()) {
            std::vector<Share> of_ranks;
            for (const int one : ranks) of_ranks.push_back(shares[static_cast<std::size_t>(one)]);
            shares = of_ranks;
        }
        rows.push_back(summary(scheme, shares, setup));
    }
    return rows;
}

std::vector<SchemeTable> compare_schemes(const GridSetup& grids, const Layout& finest,
                                         const Resolved& resolved, const Communicator& comm) {
    SchemeOptions options = resolved.comm.scheme;
    std::vector<SchemeTable> tables;
    for (const SchemeUse& use : scheme_uses(grids, finest)) {
        const Setup setup{use.among(resolved.topology), resolved.model(), use.value_bytes};
        options.columns = use.columns;
        const auto schemes = use.ghosts() ? candidates(options) : candidates_without_axes(options);
        const auto plan = [&](const SchemeOptions& scheme) {
            const int rank = use.layout.rank();
            return rank < 0 ? Plan() : plan_of(use, setup.topology, scheme, rank);
        };
        tables.push_back({.use = use, .rows = compare_parts(comm, setup, schemes, plan, use.ranks)});
    }
    return tables;
}

bool tries_schemes(const Communication& how) {
    return how.chooser == SchemeChooser::tuned || how.chooser == SchemeChooser::nobody ||
           !how.transports.empty();
}

void try_transports(const Communication& how, std::vector<SchemeTable>& tables) {
    if (how.transports.empty()) return;
    for (SchemeTable& table : tables) {
        std::vector<SchemeRow> rows;
        for (std::size_t n = 0; n < table.rows.size(); ++n) {
            if (table.chosen.value_or(n) != n) continue;
            for (const Carrier carrier : how.transports)
                rows.emplace_back(table.rows[n]).scheme.carrier = carrier;
        }
        table.rows = std::move(rows);
        table.chosen.reset();
    }
}

std::unique_ptr<Trial> make_ghost_trial(const Backend& backend, const SchemeTable& table, int depth,
                                        const ExchangeOfRow& exchange, const ValueOfCell& value) {
    const auto fields = std::make_shared<Fields>(backend, table.use.layout, depth, table.use);
    auto trial = std::make_unique<FieldTrial>(fields, fields, depth, value);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        const std::shared_ptr<Exchange> one = exchange(row, *fields->operations);
        one->reserve(table.use.columns);
        trial->add_row([one, all = fields->all] { one->run(all); });
    }
    return trial;
}

std::unique_ptr<Trial> make_grid_trial(const GridSetup& grids, const Topology& all_ranks,
                                       const Communicator& all, const Backend& backend,
                                       const SchemeTable& table) {
    // Each rank has its own copy of a replicated level; other ranks of a use are the same on all ranks.
    const std::vector<int>& ranks = table.use.ranks;
    const Communicator comm = ranks.empty()       ? all
                              : ranks.size() == 1 ? Communicator::self()
                                                  : all.among(ranks);
    if (table.use.layout.rank() < 0) return nullptr;
    const Topology topology = table.use.among(all_ranks);
    if (table.use.moves()) return make_move_trial(grids, {comm, topology}, backend, table);
    const GhostCells& ghosts = *table.use.ghosts();
    const auto exchange = [&](std::size_t row, Operations& operations) {
        const SchemeOptions& scheme = table.rows[row].scheme;
        const GhostPattern pattern = ghost_pattern(table.use.layout, ghosts.depth, ghosts.neighbours, scheme);
        return make_exchange(operations, pattern, make_plan(pattern, topology, scheme, comm.rank()),
                             grids.hierarchy.exchange, {comm, topology, static_cast<int>(row)});
    };
    return make_ghost_trial(backend, table, ghosts.depth, exchange, value_of_cell);
}

Tried time_schemes(const Communicator& comm, const Rounds& rounds, const MakeTrial& make_trial,
                   std::vector<SchemeTable>& tables, const std::function<Interruption()>& asked) {
    const double begin = now();
    int different = 0;
    Tally tally{"rounds", 0, rounds.repeats * static_cast<int>(tables.size())};
    Interruption interruption = Interruption::none;
    const auto early = [&] { return interruption != Interruption::none; };
    for (SchemeTable& table : tables) {
        if (early()) break;
        const std::unique_ptr<Trial> trial = make_trial(table);
        const std::vector<double> expected = trial ? trial->filled(0) : std::vector<double>();
        for (std::size_t row = 0; row < table.rows.size(); ++row)
            different += comm.max(!trial || trial->filled(row) == expected ? 0 : 1) > 0 ? 1 : 0;
        table.rounds.assign(table.rows.size(), {});
        for (int round = -rounds.warmup; round < rounds.repeats; ++round) {
            interruption = asked();
            if (early()) break;
            for (std::size_t row = 0; row < table.rows.size(); ++row) {
                comm.barrier();
                const double start = now();
                if (trial) trial->run(row, exchanges_per_round);
                const double seconds = comm.max(now() - start) / exchanges_per_round;
                if (round >= 0) table.rounds[row].push_back(seconds);
            }
            if (round >= 0) ++tally.done;
        }
    }
    if (early())
        std::erase_if(tables, [](const SchemeTable& table) {
            return table.rounds.empty() || table.rounds.front().empty();
        });
    return {comm.max(now() - begin),
            interruption,
            tally,
            {"ghosts_of_schemes", different == 0, static_cast<double>(different),
             "0 that differ from standard's"}};
}

void choose_schemes(const Communication& how, const Communicator& comm, std::vector<SchemeTable>& tables) {
    for (SchemeTable& table : tables) {
        std::size_t best = 0;
        if (!table.rounds.empty())
            for (std::size_t row = 1; row < table.rows.size(); ++row)
                if (*table.least(row) < *table.least(best)) best = row;
        // Only rank 0 has predicted times.
        if (table.rounds.empty() && comm.rank() == 0) best = *chosen_before_run(how, table.rows);
        table.chosen = static_cast<std::size_t>(comm.max(comm.rank() == 0 ? static_cast<double>(best) : 0.0));
    }
}

}  // namespace keel
