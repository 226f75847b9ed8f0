#include "miniapp/scheme_choice.hpp"

#include <algorithm>
#include <memory>

#include "comm/exchange.hpp"
#include "kernels/hash.hpp"
#include "kernels/ledger.hpp"
#include "miniapp/measure.hpp"
#include "miniapp/simulation.hpp"

namespace keel {
namespace {

constexpr int exchanges_per_round = 10;  // so that the clock's ticks do not count

// All of the fields' cells and ghosts after an exchange.
std::vector<double> filled(Operations& operations, const std::vector<Field>& fields, Exchange& exchange,
                           const Trial& trial, int depth) {
    const int width = operations.layout().width();
    std::uint64_t seed = 0;
    for (const Field field : fields) {
        operations.fill(field, 0.0);
        operations.assign(field, cube(width),
                          [&, at = scramble(++seed)](const Index& cell) { return trial.value(at, cell); });
    }
    exchange.run(fields);
    std::vector<double> all;
    const Region with_ghosts{{-depth, -depth, -depth},
                             {width + 2 * depth, width + 2 * depth, width + 2 * depth}};
    for (const Field field : fields) {
        const std::vector<double> values = operations.read(field, with_ghosts);
        all.insert(all.end(), values.begin(), values.end());
    }
    return all;
}

}  // namespace

std::vector<SchemeRow> compare_parts(const Parameters& parameters, const Communicator& comm,
                                     const Topology& topology, std::span<const SchemeOptions> schemes,
                                     const PlanOf& plan_of) {
    const auto model = model_of(parameters);
    const Setup setup{topology, model ? &*model : nullptr};
    std::vector<SchemeRow> rows;
    for (const SchemeOptions& scheme : schemes) {
        const Plan plan = plan_of(scheme);
        const auto shares = gather(comm, share_of(plan, comm.rank(), scheme.columns, setup));
        rows.push_back(summary(scheme, shares, setup));
    }
    count_duplicates(rows);
    return rows;
}

std::vector<SchemeTable> compare_schemes(const Parameters& parameters, const Communicator& comm,
                                         const Layout& finest, const Topology& topology) {
    const SchemeOptions options = hierarchy_options(parameters).scheme;
    std::vector<SchemeTable> tables;
    for (const GhostUse& use : ghost_uses(parameters, finest)) {
        const auto plan_of = [&](const SchemeOptions& scheme) {
            return make_plan(ghost_pattern(use.layout, use.depth, use.neighbours, scheme), topology, scheme,
                             comm.rank());
        };
        tables.push_back({use,
                          options.columns,
                          compare_parts(parameters, comm, topology, candidates(options), plan_of),
                          {},
                          {}});
    }
    return tables;
}

bool tries_schemes(const Parameters& parameters) {
    return parameters.comm.scheme == SchemeKey::tuned || parameters.run.mode == Mode::exchange;
}

Trial trial_of_grids(const Parameters& parameters, const Communicator& comm, const Topology& topology) {
    const auto exchange = [options = hierarchy_options(parameters), &comm, &topology](
                              const SchemeTable& table, std::size_t row, Operations& operations) {
        const SchemeOptions& scheme = table.rows[row].scheme;
        const GhostPattern pattern =
            ghost_pattern(table.use.layout, table.use.depth, table.use.neighbours, scheme);
        return make_exchange(operations, pattern, make_plan(pattern, topology, scheme, comm.rank()),
                             options.exchange, [&](const Itinerary& itinerary) {
                                 return make_point_to_point(comm, topology, itinerary, static_cast<int>(row),
                                                            options.persistent);
                             });
    };
    const auto value = [](std::uint64_t seed, const Index& c) {
        const auto xy = scramble(seed + static_cast<std::uint64_t>(c[0])) + static_cast<std::uint64_t>(c[1]);
        return static_cast<double>(scramble(scramble(xy) + static_cast<std::uint64_t>(c[2])) >> 11);
    };
    return {exchange, value};
}

Tried time_schemes(const Parameters& parameters, const Communicator& comm, const Backend& backend,
                   const Trial& trial, std::vector<SchemeTable>& tables) {
    const double begin = now();
    const bool only_this = parameters.run.mode == Mode::exchange;
    const int warmup = only_this ? parameters.run.warmup : 1;
    const int repeats = only_this ? parameters.run.repeats : 3;
    int different = 0;
    for (SchemeTable& table : tables) {
        const auto operations = backend.make_operations(table.use.layout, table.use.depth);
        std::vector<Field> fields;
        for (std::size_t column = 0; column < table.columns; ++column)
            fields.push_back(operations->make_field());
        std::vector<std::unique_ptr<Exchange>> exchanges;
        std::vector<double> expected;
        for (std::size_t row = 0; row < table.rows.size(); ++row) {
            exchanges.push_back(trial.exchange(table, row, *operations));
            exchanges.back()->reserve(table.columns);
            const auto values = filled(*operations, fields, *exchanges.back(), trial, table.use.depth);
            if (row == 0) expected = values;
            different += comm.max(values == expected ? 0 : 1) > 0 ? 1 : 0;
        }
        table.rounds.assign(table.rows.size(), {});
        for (int round = -warmup; round < repeats; ++round)
            for (std::size_t row = 0; row < table.rows.size(); ++row) {
                comm.barrier();
                const double start = now();
                for (int n = 0; n < exchanges_per_round; ++n) exchanges[row]->run(fields);
                operations->wait();
                const double seconds = comm.max(now() - start) / exchanges_per_round;
                if (round >= 0) table.rounds[row].push_back(seconds);
            }
    }
    return {comm.max(now() - begin),
            {"ghosts_of_schemes", different == 0, static_cast<double>(different),
             "0 that differ from standard's"}};
}

void choose_schemes(const Parameters& parameters, const Communicator& comm,
                    std::vector<SchemeTable>& tables) {
    for (SchemeTable& table : tables) {
        std::size_t best = 0;
        if (parameters.comm.scheme == SchemeKey::tuned)
            for (std::size_t row = 1; row < table.rows.size(); ++row)
                if (*table.least(row) < *table.least(best)) best = row;
        // Only rank 0 has predicted times.
        if (parameters.comm.scheme != SchemeKey::tuned && comm.rank() == 0)
            best = *chosen_before_run(parameters, table.rows);
        table.chosen = static_cast<std::size_t>(comm.max(comm.rank() == 0 ? static_cast<double>(best) : 0.0));
    }
}

}  // namespace keel
