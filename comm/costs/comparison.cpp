#include "comm/costs/comparison.hpp"

#include <algorithm>
#include <bit>

#include "kernels/check.hpp"

namespace keel {
namespace {

constexpr double Ends::*counted[] = {&Ends::messages, &Ends::bytes, &Ends::off_node_messages,
                                     &Ends::off_node_bytes};

void add(Ends& ends, std::size_t stage, const Message& message, double bytes, const Setup& setup) {
    const bool off_node = !setup.topology.same_node(message.source, message.target);
    ends.messages += 1;
    ends.bytes += bytes;
    ends.off_node_messages += off_node ? 1 : 0;
    ends.off_node_bytes += off_node ? bytes : 0;
    if (setup.model != nullptr)
        ends.loads[stage].add(setup.model->machine, setup.model->memory,
                              off_node ? Locality::off_node : Locality::node, bytes);
}

// Calls visit(number of the stage, message, bytes); `local` is number 0.
template <class Visit>
void for_each_message(const Plan& plan, std::size_t columns, const Visit& visit) {
    std::size_t number = 0;
    plan.for_each_stage([&](const Stage& stage) {
        for (const Message& message : stage.messages)
            visit(number, message, static_cast<double>(message.values() * columns * sizeof(double)));
        ++number;
    });
    check(number <= Ends{}.loads.size(), "a plan has at most three stages");
}

// Of the plans that plan_of(scheme) makes for all ranks.
template <class PlanOf>
std::vector<SchemeRow> compare_plans(std::span<const SchemeOptions> schemes, const Setup& setup,
                                     const PlanOf& plan_of) {
    std::vector<SchemeRow> rows;
    for (const SchemeOptions& scheme : schemes)
        rows.push_back(summary(scheme, shares_of(plan_of(scheme), scheme.columns, setup), setup));
    count_duplicates(rows);
    return rows;
}

}  // namespace

void require_known(const Model& model, const Topology& topology) {
    const auto require = [&](Locality locality) {
        model.machine.message(model.memory, locality, 0);
        const MessageCosts& costs = *model.machine.messages[static_cast<std::size_t>(model.memory)];
        model.machine.message(model.memory, locality, static_cast<double>(costs.eager_from));
        model.machine.message(model.memory, locality, static_cast<double>(costs.rendezvous_from));
    };
    if (topology.nodes() < topology.ranks()) require(Locality::node);
    if (topology.nodes() == 1) return;
    require(Locality::off_node);
    model.machine.injection();
}

std::vector<Share> shares_of(const Plan& plan, std::size_t columns, const Setup& setup) {
    std::vector<Share> shares(static_cast<std::size_t>(setup.topology.ranks()));
    for_each_message(plan, columns, [&](std::size_t stage, const Message& message, double bytes) {
        add(shares[static_cast<std::size_t>(message.source)].sent, stage, message, bytes, setup);
        add(shares[static_cast<std::size_t>(message.target)].received, stage, message, bytes, setup);
    });
    return shares;
}

Share share_of(const Plan& plan, int rank, std::size_t columns, const Setup& setup) {
    Share share;
    for_each_message(plan, columns, [&](std::size_t stage, const Message& message, double bytes) {
        if (message.source == rank) add(share.sent, stage, message, bytes, setup);
        if (message.target == rank) add(share.received, stage, message, bytes, setup);
    });
    return share;
}

std::vector<Share> gather(const Communicator& comm, const Share& mine) {
    using Numbers = std::array<double, sizeof(Share) / sizeof(double)>;
    const std::vector<double> numbers = comm.gather(std::bit_cast<Numbers>(mine));
    std::vector<Share> all;
    for (std::size_t first = 0; first < numbers.size(); first += Numbers{}.size()) {
        Numbers one;
        std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(first), one.size(), one.begin());
        all.push_back(std::bit_cast<Share>(one));
    }
    return all;
}

SchemeRow summary(const SchemeOptions& scheme, std::span<const Share> shares, const Setup& setup) {
    SchemeRow row;
    row.scheme = scheme;
    for (const Share& share : shares)
        for (double Ends::*const number : counted) {
            row.all.*number += share.sent.*number;
            row.most_sent.*number = std::max(row.most_sent.*number, share.sent.*number);
            row.most_received.*number = std::max(row.most_received.*number, share.received.*number);
        }
    if (setup.model == nullptr) return row;
    // Of the process that these stages together take longest.
    const auto seconds = [&](std::initializer_list<std::size_t> stages) {
        const auto of = [&](Ends Share::*side) {
            std::vector<Load> loads;
            for (const Share& share : shares) {
                Load& load = loads.emplace_back();
                for (const std::size_t stage : stages) load += (share.*side).loads[stage];
            }
            return slowest(setup.model->machine, setup.topology.node_of(), loads);
        };
        return std::max(of(&Share::sent), of(&Share::received));
    };
    PlanTime time{seconds({0}), {seconds({1}), seconds({2}), seconds({3})}, seconds({0, 1})};
    row.time = time;
    return row;
}

void count_duplicates(std::span<SchemeRow> rows) {
    for (SchemeRow& row : rows)
        row.duplicate_bytes = rows.front().all.off_node_bytes - row.all.off_node_bytes;
}

std::vector<SchemeRow> compare(const Layout& layout, int depth, Neighbours neighbours,
                               std::span<const SchemeOptions> schemes, const Setup& setup) {
    return compare_plans(schemes, setup, [&](const SchemeOptions& scheme) {
        return make_plan(ghost_pattern(layout, depth, neighbours, scheme), setup.topology, scheme, {});
    });
}

std::vector<SchemeRow> compare(const Pattern& pattern, std::span<const SchemeOptions> schemes,
                               const Setup& setup) {
    return compare_plans(schemes, setup, [&](const SchemeOptions& scheme) {
        return make_plan(pattern, setup.topology, scheme, {});
    });
}

const SchemeRow& fastest(std::span<const SchemeRow> rows) {
    const double rounding = 1e-12;
    const SchemeRow* best = &rows.front();
    for (const SchemeRow& row : rows)
        if (row.time->total() < best->time->total() * (1 - rounding)) best = &row;
    return *best;
}

}  // namespace keel
