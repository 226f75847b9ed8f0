#pragma once

// Closed forms for exchanges between devices that have a rank each, who may share the sending with ranks on the processors'
// idle cores. Equations (5.14) to (5.21): Lockhart 2023 (as in closed_forms.hpp), chapter 5. Seconds and bytes.
//
// They know of a pattern how many ranks a rank sends to and how long a message is, the mean of the rank that sends most, and
// take the other devices of the node for neighbours first. They need a machine's managed memory, its copies by one process a
// device, and how many devices a node and a socket have.

#include <optional>

#include "comm/costs/machine.hpp"
#include "comm/plans/counts.hpp"

namespace keel {

// (5.14), (5.16) and (5.20) as printed charge the bytes of one message for several, and (5.17) to (5.19) let every helper of the
// node send even where there are fewer messages than helpers; `every_message` charges what is sent.
enum class ChargedBytes { printed, every_message };

struct DeviceExchange {
    double message_bytes = 0;
    int neighbours = 0;        // n_pb: ranks that a rank sends to, on its node or not
    int ranks_per_device = 2;  // ppg: a device's own rank and its helpers
    bool copies = true;        // from and to the device; not with memory that both share
    ChargedBytes charged = ChargedBytes::every_message;
};

// Between the devices of a node, (5.16): what goes on meanwhile, whoever sends to other nodes. Throws MissingParameter.
double device_time_on_node(const Machine& machine, const DeviceExchange& exchange);

// Each rank hands its messages to helpers, who send them from host memory.
struct SharedExchangeTime {
    double to_helpers = 0;       // (5.14)
    double on_node = 0;          // (5.16)
    double off_node = 0;         // (5.17)
    double from_helpers = 0;     // (5.20)
    int messages_of_helper = 0;  // (5.18), of the busiest
    int sending_ranks = 0;       // (5.19), of a node

    double total() const;  // (5.21)
};
// Neighbours fewer than the other devices of the node leave no messages to other nodes (on the page a negative number). The
// speed-ups of the thesis' Figures 5.9 to 5.12 do not follow from these formulas. Throws MissingParameter.
SharedExchangeTime shared_exchange_time(const Machine& machine, const DeviceExchange& exchange);

// What stands beside them: every rank sends by itself, from managed memory, message after message, (2.1) ...
double straight_exchange_time(const Machine& machine, const DeviceExchange& exchange);
// ... or from host memory, copies before and behind, (3.7) with its labels put right and (2.2). Both throw MissingParameter.
double staged_exchange_time(const Machine& machine, const DeviceExchange& exchange);

// All of them for one pattern.
struct DeviceForms {
    int neighbours = 0;
    double message_bytes = 0;
    int helpers = 0;  // a device
    double straight = 0;
    double staged = 0;
    double shared = 0;
    double shared_as_printed = 0;
};
// For nodes of so many ranks at the most. Nothing unless these are the machine's devices a node, more ranks fit a node than
// that, all parameters are known, and something crosses between nodes.
std::optional<DeviceForms> device_forms(const PatternCounts& counts, double columns, const Machine& machine,
                                        int ranks_per_node);

}  // namespace keel
