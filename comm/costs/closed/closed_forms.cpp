#include "comm/costs/closed/closed_forms.hpp"

#include <algorithm>

namespace keel {
namespace {

// A scheme's formula, and the bytes of one of its messages between nodes, of one column.
struct ClosedForm {
    Scheme scheme;
    double (*time)(const Network& net, const PatternCounts& counts, double columns);
    double (*message_bytes)(const PatternCounts& counts);
};

constexpr ClosedForm closed_forms[] = {
    {Scheme::standard, standard_time, [](const PatternCounts& n) { return n.bytes / n.messages; }},
    {Scheme::two_step, two_step_time,
     [](const PatternCounts& n) { return n.bytes_per_rank / n.nodes_per_rank; }},
    {Scheme::three_step, three_step_time, [](const PatternCounts& n) { return n.bytes_per_node_pair; }}};

}  // namespace

Network network(const Machine& machine, Memory memory, double message_bytes, double ranks_per_node) {
    return {.off_node = machine.message(memory, Locality::off_node, message_bytes),
            .on_node = ranks_per_node > 1 ? machine.message(memory, Locality::node, message_bytes) : Postal(),
            .injection_beta = machine.injection(),
            .ranks_per_node = ranks_per_node};
}

double on_node_time(const Network& net, double messages, double bytes) {
    return net.on_node.alpha * messages + bytes * net.on_node.beta;
}

double standard_time(const Network& net, const PatternCounts& n, double t) {
    return net.off_node.alpha * n.messages +
           std::max(t * n.bytes_per_node_sent * net.injection_beta, t * n.bytes * net.off_node.beta);
}

double two_step_time(const Network& net, const PatternCounts& n, double t) {
    return net.off_node.alpha * n.nodes_per_rank +
           std::max(t * n.bytes_per_node * net.injection_beta, t * n.bytes_per_rank * net.off_node.beta) +
           on_node_time(net, net.ranks_per_node - 1, t * n.bytes_per_rank);
}

double three_step_time(const Network& net, const PatternCounts& n, double t) {
    return net.off_node.alpha * n.nodes_per_node / net.ranks_per_node +
           std::max(t * n.bytes_per_node * net.injection_beta,
                    t * n.bytes_per_node_pair * net.off_node.beta) +
           2 * on_node_time(net, net.ranks_per_node - 1, t * n.bytes_per_node_pair);
}

std::optional<double> closed_form_time(const SchemeOptions& scheme, const PatternCounts& counts,
                                       const Machine& machine, Memory memory, double ranks_per_node) {
    const auto form = std::ranges::find(closed_forms, scheme.scheme, &ClosedForm::scheme);
    if (form == std::end(closed_forms) || counts.messages == 0) return {};
    const auto columns = static_cast<double>(scheme.columns);
    const Network net = network(machine, memory, columns * form->message_bytes(counts), ranks_per_node);
    return form->time(net, counts, columns);
}

}  // namespace keel
