#include "miniapp/schemes/scheme_choice.hpp"

#include <algorithm>
#include <memory>

#include "comm/carry/exchange.hpp"
#include "kernels/hash.hpp"
#include "kernels/ledger.hpp"
#include "miniapp/report/measure.hpp"
#include "miniapp/setup/simulation.hpp"

namespace keel {
namespace {

constexpr int exchanges_per_round = 10;  // so that the clock's ticks do not count

// Fields of one level, filled anew before each exchange whose outcome is looked at.
struct Fields {
    Fields(const Backend& backend, const Layout& layout, int ghosts, std::size_t columns)
        : operations(backend.make_operations(layout, ghosts)) {
        for (std::size_t column = 0; column < columns; ++column) all.push_back(operations->make_field());
    }

    void fill(const ValueOfCell& value) {
        std::uint64_t seed = 0;
        for (const Field field : all) {
            operations->fill(field, 0.0);
            operations->assign(field, cube(operations->layout().width()),
                               [&, at = scramble(++seed)](const Index& cell) { return value(at, cell); });
        }
    }
    std::vector<double> read(int ghosts) const {
        std::vector<double> values;
        for (const Field field : all) {
            const auto of_field = operations->read(field, cube(operations->layout().width(), ghosts));
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

// The boxes of the bottom level, there or back.
std::vector<Attempt> attempts_at_moves(const Parameters& parameters, const Communicator& comm,
                                       const Backend& backend, const Topology& topology,
                                       const SchemeTable& table) {
    const HierarchyOptions options = hierarchy_options(parameters);
    const BottomMove move(table.use.layout, options.bottom_place, options.bottom_ranks);
    const BoxPattern pattern = boxes_moved(parameters, table.use);
    const auto here = std::make_shared<Fields>(backend, table.use.layout, 0, table.columns);
    std::shared_ptr<Fields> away;
    if (const auto layout = move.layout())
        away = std::make_shared<Fields>(backend, *layout, 0, table.columns);
    const bool there = table.use.purpose == Purpose::to_bottom;
    const auto from = there ? here : away;
    const auto to = there ? away : here;
    const auto operations = [](const auto& fields) { return fields ? fields->operations.get() : nullptr; };
    const auto fields_of = [](const auto& fields) { return fields ? fields->all : std::vector<Field>(); };
    const std::vector<Field> leaving = fields_of(from);
    const std::vector<Field> arriving = fields_of(to);
    std::vector<Attempt> attempts;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        const auto redistribution = std::make_shared<Redistribution>(
            Redistribution::Ends{operations(from), operations(to)}, comm.rank(), pattern,
            cube(table.use.layout.width()), make_plan(pattern, topology, table.rows[row].scheme, comm.rank()),
            options.exchange.wire, [&](const Itinerary& itinerary) {
                return make_point_to_point(comm, topology, itinerary, static_cast<int>(row),
                                           options.persistent);
            });
        redistribution->reserve(table.columns);
        const auto run = [=](int times) {
            for (int n = 0; n < times; ++n) redistribution->run(leaving, arriving);
            for (const auto& end : {from, to})
                if (end) end->operations->wait();
        };
        const auto filled = [=] {
            if (from) from->fill(value_of_cell);
            if (to) to->fill([](std::uint64_t, const Index&) { return 0.0; });
            run(1);
            return to ? to->read(0) : std::vector<double>();
        };
        attempts.push_back({run, filled});
    }
    return attempts;
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
    SchemeOptions options = hierarchy_options(parameters).scheme;
    std::vector<SchemeTable> tables;
    for (const GhostUse& use : ghost_uses(parameters, finest)) {
        options.columns = columns_of(parameters, use);
        const auto schemes =
            moves_boxes(use.purpose) ? candidates_without_axes(options) : candidates(options);
        const auto plan = [&](const SchemeOptions& scheme) {
            return plan_of(parameters, use, topology, scheme, comm.rank());
        };
        tables.push_back(
            {use, options.columns, compare_parts(parameters, comm, topology, schemes, plan), {}, {}});
    }
    return tables;
}

bool tries_schemes(const Parameters& parameters) {
    return parameters.comm.scheme == SchemeKey::tuned || parameters.run.mode == Mode::exchange;
}

std::vector<Attempt> attempts_at_ghosts(const Backend& backend, const SchemeTable& table,
                                        const ExchangeOfRow& exchange, const ValueOfCell& value) {
    const int depth = table.use.depth;
    const auto fields = std::make_shared<Fields>(backend, table.use.layout, depth, table.columns);
    std::vector<Attempt> attempts;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        const std::shared_ptr<Exchange> by_row = exchange(row, *fields->operations);
        by_row->reserve(table.columns);
        const auto run = [=](int times) {
            for (int n = 0; n < times; ++n) by_row->run(fields->all);
            fields->operations->wait();
        };
        const auto filled = [=] {
            fields->fill(value);
            run(1);
            return fields->read(depth);
        };
        attempts.push_back({run, filled});
    }
    return attempts;
}

Trial trial_of_grids(const Parameters& parameters, const Communicator& comm, const Backend& backend,
                     const Topology& topology) {
    return [&](const SchemeTable& table) {
        if (moves_boxes(table.use.purpose))
            return attempts_at_moves(parameters, comm, backend, topology, table);
        const HierarchyOptions options = hierarchy_options(parameters);
        const auto exchange = [&](std::size_t row, Operations& operations) {
            const SchemeOptions& scheme = table.rows[row].scheme;
            const GhostPattern pattern =
                ghost_pattern(table.use.layout, table.use.depth, table.use.neighbours, scheme);
            return make_exchange(operations, pattern, make_plan(pattern, topology, scheme, comm.rank()),
                                 options.exchange, [&](const Itinerary& itinerary) {
                                     return make_point_to_point(comm, topology, itinerary,
                                                                static_cast<int>(row), options.persistent);
                                 });
        };
        return attempts_at_ghosts(backend, table, exchange, value_of_cell);
    };
}

Tried time_schemes(const Parameters& parameters, const Communicator& comm, const Trial& trial,
                   std::vector<SchemeTable>& tables) {
    const double begin = now();
    const bool only_this = parameters.run.mode == Mode::exchange;
    const int warmup = only_this ? parameters.run.warmup : 1;
    const int repeats = only_this ? parameters.run.repeats : 3;
    int different = 0;
    for (SchemeTable& table : tables) {
        const std::vector<Attempt> attempts = trial(table);
        const std::vector<double> expected = attempts.front().filled();
        for (const Attempt& attempt : attempts)
            different += comm.max(attempt.filled() == expected ? 0 : 1) > 0 ? 1 : 0;
        table.rounds.assign(table.rows.size(), {});
        for (int round = -warmup; round < repeats; ++round)
            for (std::size_t row = 0; row < table.rows.size(); ++row) {
                comm.barrier();
                const double start = now();
                attempts[row].run(exchanges_per_round);
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
