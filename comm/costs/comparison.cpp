#include "comm/costs/comparison.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "kernels/check.hpp"

namespace keel {
namespace {

// Structures of doubles alone as the numbers that ranks exchange, and back.
template <class T>
std::vector<double> numbers_of(std::span<const T> all) {
    std::vector<double> numbers(all.size_bytes() / sizeof(double));
    std::ranges::copy(std::as_bytes(all), std::as_writable_bytes(std::span(numbers)).begin());
    return numbers;
}
template <class T>
std::vector<T> from_numbers(std::span<const double> numbers) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(double) == 0);
    std::vector<T> all(numbers.size_bytes() / sizeof(T));
    std::ranges::copy(std::as_bytes(numbers), std::as_writable_bytes(std::span(all)).begin());
    return all;
}

void add(Share::Side& side, std::size_t stage, const Message& message, double bytes, const Setup& setup,
         Carrier carrier) {
    side.longest = std::max(side.longest, bytes / static_cast<double>(setup.value_bytes));
    const Locality locality = setup.topology.places().locality(message.source, message.target);
    const bool off_node = locality == Locality::off_node;
    side.volume.add({1, bytes, off_node ? 1.0 : 0.0, off_node ? bytes : 0.0});
    if (setup.model == nullptr) return;
    const auto& [machine, memory] = *setup.model;
    side.loads[stage].add(machine, memory, locality, bytes, carrier);
    side.near[stage].add(machine, memory, off_node ? locality : Locality::socket, bytes, carrier);
}

// The time of a plan from the shares of these processes.
PlanTime time_of(std::span<const Share> shares, std::array<Load, 4> Share::Side::*of_stages,
                 const Machine& machine, std::span<const int> node_of) {
    // Seconds of the process that these stages together take longest.
    const auto seconds = [&](std::initializer_list<std::size_t> stages) {
        const auto of = [&](Share::Side Share::*side) {
            std::vector<Load> all;
            for (const Share& share : shares) {
                Load& load = all.emplace_back();
                for (const std::size_t stage : stages) load += (share.*side.*of_stages)[stage];
            }
            return slowest(machine, node_of, all);
        };
        return std::max(of(&Share::sent), of(&Share::received));
    };
    return {seconds({0}), {seconds({1}), seconds({2}), seconds({3})}, seconds({0, 1})};
}

// Whether the sockets of ranks matter and are unknown.
bool sockets_missing(const Setup& setup) {
    const auto& costs = setup.model->machine.messages[static_cast<std::size_t>(setup.model->memory)];
    return !setup.topology.knows_sockets() && setup.topology.nodes() < setup.topology.ranks() && costs &&
           costs->at(Locality::socket, Protocol::short_);
}

constexpr std::size_t first_stage = 1;  // number 0 is `local`

// Whether a message along y or z carries only what its source owns: across faces alone it waits for nothing,
// so that it leaves with the first stage, as in RankSchedule. The phases of node-aware schemes follow each
// other, as in the papers' models: which of their messages wait for nothing depends on the numbers of ranks.
bool leaves_at_once(Phase phase, const Message& message) {
    const bool along_axis = phase == Phase::axis_y || phase == Phase::axis_z;
    return along_axis &&
           std::ranges::all_of(message.items, [&](const Item& item) { return item.owner == message.source; });
}

// Calls visit(number of the stage, message, bytes); `local` is number 0.
template <class Visit>
void for_each_message(const Plan& plan, std::size_t columns, const Setup& setup, const Visit& visit) {
    std::size_t number = 0;
    plan.for_each_phase([&](const PhaseMessages& phase) {
        for (const Message& message : phase.messages)
            visit(leaves_at_once(phase.phase, message) ? first_stage : number, message,
                  static_cast<double>(message.values() * columns * setup.value_bytes));
        ++number;
    });
    check_at_most(number, Share::Side().loads.size(), "a plan has at most three stages");
}

}  // namespace

void require_known(const Model& model, const Topology& topology) {
    std::vector<std::string> parameters;
    std::string measure;
    const auto ask = [&](const auto& question) {
        try {
            question();
        } catch (const MissingParameter& missing) {
            for (const std::string& parameter : missing.parameters())
                if (std::ranges::find(parameters, parameter) == parameters.end())
                    parameters.push_back(parameter);
            measure = missing.measure();
        }
    };
    const auto require = [&](Locality locality) {
        const auto& costs = model.machine.messages[static_cast<std::size_t>(model.memory)];
        for (const std::size_t bytes :
             {std::size_t{0}, costs ? costs->eager_from : 0, costs ? costs->rendezvous_from : 0})
            ask([&] { model.machine.message(model.memory, locality, static_cast<double>(bytes)); });
    };
    if (topology.nodes() < topology.ranks()) require(Locality::node);
    if (topology.nodes() > 1) {
        require(Locality::off_node);
        ask([&] { model.machine.injection(); });
    }
    if (!parameters.empty()) throw MissingParameter(model.machine.name, parameters, measure);
}

std::vector<Share> shares_of(const Plan& plan, std::size_t columns, const Setup& setup) {
    std::vector<Share> shares(static_cast<std::size_t>(setup.topology.ranks()));
    for_each_message(plan, columns, setup, [&](std::size_t stage, const Message& message, double bytes) {
        add(shares[static_cast<std::size_t>(message.source)].sent, stage, message, bytes, setup,
            plan.carrier);
        add(shares[static_cast<std::size_t>(message.target)].received, stage, message, bytes, setup,
            plan.carrier);
    });
    return shares;
}

Share share_of(const Plan& plan, int rank, std::size_t columns, const Setup& setup) {
    Share share;
    for_each_message(plan, columns, setup, [&](std::size_t stage, const Message& message, double bytes) {
        if (message.source == rank) add(share.sent, stage, message, bytes, setup, plan.carrier);
        if (message.target == rank) add(share.received, stage, message, bytes, setup, plan.carrier);
    });
    return share;
}

std::vector<Share> gather(const Communicator& comm, const Share& mine) {
    return from_numbers<Share>(comm.gather(numbers_of(std::span(&mine, 1))));
}

SchemeRow summary(const SchemeOptions& scheme, std::span<const Share> shares, const Setup& setup) {
    SchemeRow row;
    row.scheme = scheme;
    for (const Share& share : shares) {
        row.longest_message = std::max(row.longest_message, share.sent.longest);
        row.all.add(share.sent.volume);
        row.most_sent.raise_to(share.sent.volume);
        row.most_received.raise_to(share.received.volume);
    }
    if (setup.model == nullptr) return row;
    const auto time = [&](std::array<Load, 4> Share::Side::*loads) {
        return time_of(shares, loads, setup.model->machine, setup.topology.node_of());
    };
    row.time = time(&Share::Side::loads);
    if (sockets_missing(setup)) row.near = time(&Share::Side::near);
    return row;
}

std::vector<SchemeRow> times_by_nodes(const Communicator& comm, const Communicator& node,
                                      std::span<const SchemeOptions> schemes, std::span<const Share> mine,
                                      const Setup& setup) {
    check(setup.model != nullptr, "times are those of a machine");
    check_equal(schemes.size(), mine.size(), "every scheme has a share");
    const std::vector<double> own = numbers_of(mine);
    const std::vector<int> counts(static_cast<std::size_t>(node.size()), static_cast<int>(own.size()));
    const auto all = from_numbers<Share>(node.all_gather(own, counts));  // by rank, by scheme
    const std::vector<int> here(counts.size(), 0);
    std::vector<PlanTime> times;  // by scheme, in either reading of sockets
    for (std::size_t scheme = 0; scheme < schemes.size(); ++scheme) {
        std::vector<Share> shares;
        for (std::size_t rank = 0; rank < here.size(); ++rank)
            shares.push_back(all[rank * schemes.size() + scheme]);
        for (const auto loads : {&Share::Side::loads, &Share::Side::near})
            times.push_back(time_of(shares, loads, setup.model->machine, here));
    }
    times = from_numbers<PlanTime>(comm.max(numbers_of(std::span(std::as_const(times)))));
    std::vector<SchemeRow> rows;
    for (std::size_t scheme = 0; scheme < schemes.size(); ++scheme) {
        SchemeRow& row = rows.emplace_back();
        row.scheme = schemes[scheme];
        row.time = times[2 * scheme];
        if (sockets_missing(setup)) row.near = times[2 * scheme + 1];
    }
    return rows;
}

void count_pattern(std::span<SchemeRow> rows, const Pattern& pattern, const Setup& setup) {
    const bool counted = setup.model && setup.topology.nodes() > 1 && setup.value_bytes == sizeof(double);
    if (!counted || rows.front().scheme.scheme != Scheme::standard) return;
    rows.front().pattern = counts(pattern.needed_by(numbers_below(setup.topology.ranks())), setup.topology);
}

std::vector<SchemeRow> compare(const Pattern& pattern, std::span<const SchemeOptions> schemes,
                               const Setup& setup) {
    std::vector<SchemeRow> rows;
    for (const SchemeOptions& scheme : schemes) {
        const Plan plan = make_plan(pattern, setup.topology, scheme, {});
        rows.push_back(summary(scheme, shares_of(plan, scheme.columns, setup), setup));
    }
    count_pattern(rows, pattern, setup);
    return rows;
}

const SchemeRow& fastest(std::span<const SchemeRow> rows) {
    const double rounding = 1e-12;
    const SchemeRow* best = &rows.front();
    for (const SchemeRow& row : rows)
        if (row.seconds() < best->seconds() * (1 - rounding)) best = &row;
    return *best;
}

}  // namespace keel
