#pragma once

// The exchange of boundary data of an unstructured mesh between devices: each device has one host rank, which shares the
// sending with helper ranks on the processor's idle cores. Lockhart 2023 (as in model.hpp), section 5.4, equations (5.10)
// to (5.21). Seconds and bytes.

#include "comm/costs/machine.hpp"

namespace keel {

// A discontinuous Galerkin discretisation of a reacting flow.
struct Discretisation {
    int dimensions = 3;  // N_d
    int order = 1;       // p_o of the polynomials
    int species = 0;     // N_s
};

int scalar_fields(const Discretisation& d);               // (5.10)
int points_of_element(const Discretisation& d);           // (5.12)
int points_of_boundary_element(const Discretisation& d);  // (5.13)

// Bytes of the messages of one partition boundary with so many boundary elements: Table 5.3, whose numbers are scalars.
struct BoundaryMessages {
    double state = 0;                 // Q
    double state_gradient = 0;        // grad Q
    double temperature_gradient = 0;  // grad T
};
BoundaryMessages boundary_messages(const Discretisation& d, double boundary_elements,
                                   double scalar_bytes = 8);

// (5.14), (5.16) and (5.20) as printed charge the bytes of one message for several, and (5.17) to (5.19) let every
// helper of the node send even where there are fewer messages than helpers; `every_message` charges what is sent.
enum class BoundaryBytes { printed, every_message };

struct BoundaryExchange {
    double message_bytes = 0;
    int neighbours = 0;     // n_pb: partitions that a device's partition borders on
    int ranks_per_gpu = 2;  // ppg: the host rank and its helpers
    bool copies = true;     // the host rank copies from and to its device; not with memory that both share
    BoundaryBytes bytes = BoundaryBytes::printed;
};

struct BoundaryExchangeTime {
    double to_helpers = 0;       // step 1: (5.14)
    double on_node = 0;          // step 2, between devices of the node: (5.16)
    double off_node = 0;         // step 2, helpers to other nodes: (5.17)
    double from_helpers = 0;     // step 3: (5.20)
    int messages_of_helper = 0;  // (5.18)
    int sending_ranks = 0;       // (5.19)

    double total() const;  // (5.21)
};
// Needs the machine's managed memory. The other devices of the node are taken for neighbours first; neighbours fewer than
// these leave no messages to other nodes (on the page a negative number). The speed-ups of Figures 5.9 to 5.12 do not
// follow from these formulas. Throws MissingParameter.
BoundaryExchangeTime boundary_exchange_time(const Machine& machine, const BoundaryExchange& exchange);

}  // namespace keel
