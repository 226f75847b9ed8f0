#include "comm/costs/model.hpp"

#include <algorithm>
#include <cmath>

namespace keel {
namespace {

double per(double bytes, double messages) {
    return messages > 0 ? bytes / messages : 0.0;
}

}  // namespace

Network network(const Machine& machine, double message_bytes) {
    return {machine.message(Memory::host, Locality::off_node, message_bytes),
            machine.message(Memory::host, Locality::node, message_bytes), machine.injection(),
            static_cast<double>(machine.known(&Machine::ranks_per_node))};
}

double postal_time(const Network& net, double bytes) {
    return net.off_node.time(bytes);
}

double max_rate_time(const Network& net, double messages, double bytes) {
    return net.off_node.alpha * messages +
           std::max(net.ranks_per_node * bytes * net.injection_beta, bytes * net.off_node.beta);
}

double on_node_time(const Network& net, double messages, double bytes) {
    return net.on_node.alpha * messages + bytes * net.on_node.beta;
}

double standard_time(const Network& net, const ModelCounts& n, double t) {
    return net.off_node.alpha * n.m +
           std::max(t * n.s_node * net.injection_beta, t * n.s * net.off_node.beta);
}

double two_step_time(const Network& net, const ModelCounts& n, double t) {
    return net.off_node.alpha * n.m_proc_node +
           std::max(t * n.s_node * net.injection_beta, t * n.s_proc * net.off_node.beta) +
           on_node_time(net, net.ranks_per_node - 1, t * n.s_proc);
}

double three_step_time(const Network& net, const ModelCounts& n, double t, ThreeStepBytes which) {
    const double bytes = which == ThreeStepBytes::of_process ? n.s_proc : n.s_node_node;
    return net.off_node.alpha * n.m_node_node / net.ranks_per_node +
           std::max(t * n.s_node * net.injection_beta, t * bytes * net.off_node.beta) +
           2 * on_node_time(net, net.ranks_per_node - 1, t * n.s_node_node);
}

double gather_time(const Machine& machine, Memory memory, double per_socket, double bytes) {
    return (per_socket - 1) * machine.message(memory, Locality::socket, bytes).time(bytes) +
           per_socket * machine.message(memory, Locality::node, bytes).time(bytes);
}

double split_gather_time(const Machine& machine, double ranks_per_gpu, double bytes) {
    const double groups = machine.known(&Machine::ranks_per_socket) / ranks_per_gpu;
    return gather_time(machine, Memory::host, groups, bytes);
}

double staged_time(const Machine& machine, double messages, double bytes, double node_bytes,
                   double message_bytes) {
    const Postal cost = machine.message(Memory::host, Locality::off_node, message_bytes);
    return cost.alpha * messages + std::max(node_bytes * machine.injection(), bytes * cost.beta);
}

double device_aware_time(const Machine& machine, double messages, double bytes, double message_bytes) {
    const Postal cost = machine.message(Memory::device, Locality::off_node, message_bytes);
    return cost.alpha * messages + bytes * cost.beta;
}

double copy_time(const CopyCosts& costs, double sent, double received, CopyLabels labels) {
    return labels == CopyLabels::printed ? costs.to_device.time(sent) + costs.to_host.time(received)
                                         : costs.to_host.time(sent) + costs.to_device.time(received);
}

SchemeTimes table_3_7(const Machine& machine, const ModelCounts& n, double t, OnNodeBytes on_node) {
    const double ppn = machine.known(&Machine::ranks_per_node);
    const double pps = machine.known(&Machine::ranks_per_socket);
    const double part = on_node == OnNodeBytes::full ? 1 : ppn;
    const double s = t * n.s;
    const double s_proc = t * n.s_proc;
    const double s_node = t * n.s_node;
    const double s_node_node = t * n.s_node_node;
    const double s_split = s_node / ppn;
    const auto gather = [&](double bytes) { return gather_time(machine, Memory::host, pps, bytes / part); };
    return {.standard = staged_time(machine, n.m, s, ppn * s, per(s, n.m)),
            .two_step = staged_time(machine, n.m_proc_node, s_proc, s_node, per(s_proc, n.m_proc_node)) +
                        gather(s_proc),
            .three_step = staged_time(machine, n.m_node_node, s_node_node, s_node, s_node_node) +
                          2 * gather(s_node_node),
            .split = staged_time(machine, n.m_proc_node, s_split, s_node, per(s_split, n.m_proc_node)) +
                     2 * split_gather_time(machine, 1, s_node / part)};
}

GpuSchemeTimes table_3_8(const Machine& machine, const ModelCounts& n, double t, StandardCopies copies) {
    const double gpn = machine.known(&Machine::gpus_per_node);
    const double gps = machine.known(&Machine::gpus_per_socket);
    const double s = t * n.s;
    const double s_proc = t * n.s_proc;
    const double s_node = t * n.s_node;
    const double s_node_node = t * n.s_node_node;
    const double s_split = s_node / machine.known(&Machine::ranks_per_node);
    const double size = per(s, n.m);
    const double size_proc = per(s_proc, n.m_proc_node);
    const double copy = copy_time(machine.copy(1), s_proc, s_node_node, CopyLabels::exchanged);
    const double copy_by_four = copy_time(machine.copy(4), s_proc, s_node_node, CopyLabels::exchanged);
    const double split = staged_time(machine, n.m_proc_node, s_split, s_node, per(s_split, n.m_proc_node));
    const auto gather = [&](Memory memory, double bytes) { return gather_time(machine, memory, gps, bytes); };
    return {.standard_host =
                staged_time(machine, n.m, s, gpn * s, size) +
                (copies == StandardCopies::charged ? copy_time(machine.copy(1), s, s, CopyLabels::exchanged)
                                                   : 0.0),
            .standard_device = device_aware_time(machine, n.m, s, size),
            .two_step_host = staged_time(machine, n.m_proc_node, s_proc, s_node, size_proc) +
                             gather(Memory::host, s_proc) + copy,
            .two_step_device =
                device_aware_time(machine, n.m_proc_node, s_proc, size_proc) + gather(Memory::device, s_proc),
            .three_step_host = staged_time(machine, n.m_node_node, s_node_node, s_node, s_node_node) +
                               2 * gather(Memory::host, s_node_node) + copy,
            .three_step_device = device_aware_time(machine, n.m_node_node, s_node_node, s_node_node) +
                                 2 * gather(Memory::device, s_node_node),
            .split_md = split + 2 * split_gather_time(machine, 1, s_node) + copy,
            .split_dd = split + 2 * split_gather_time(machine, 4, s_node) + copy_by_four};
}

double enlarged_reduction_time(const Postal& cost, const EnlargedIteration& it, double word_bytes) {
    const double t = it.columns;
    return 2 * cost.alpha * std::log2(it.ranks) + word_bytes * 4 * t * t * cost.beta;
}

double enlarged_work_time(const EnlargedIteration& it) {
    const double t = it.columns;
    return it.seconds_per_flop * (2 * t * it.nonzeros / it.ranks + (4 * t + 4 * t * t) * it.rows / it.ranks +
                                  t * t / 2 + t * t * t / 3);
}

double enlarged_postal_time(const Network& net, const ModelCounts& n, const EnlargedIteration& it) {
    return net.off_node.alpha * n.m + n.s * it.columns * net.off_node.beta +
           enlarged_reduction_time(net.off_node, it);
}

double enlarged_time(const Network& net, const ModelCounts& n, const EnlargedIteration& it) {
    return max_rate_time(net, n.m, n.s * it.columns) + enlarged_reduction_time(net.off_node, it) +
           enlarged_work_time(it);
}

}  // namespace keel
