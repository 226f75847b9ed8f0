#pragma once

// One rank's messages of a plan on the wire.

#include <cstddef>
#include <functional>
#include <memory>

#include "comm/plans/carrier.hpp"
#include "comm/plans/rank_schedule.hpp"
#include "comm/ranks/communicator.hpp"
#include "kernels/layout/precision.hpp"
#include "kernels/timing/ledger.hpp"

namespace keel {

class Transport {
  public:
    virtual ~Transport() = default;
    // Makes room for `fields` fields in double precision. Collective; between exchanges.
    virtual void reserve(std::size_t /*fields*/) {}
    // Posts all receives, and the sends of the first stage, for `fields` fields of this precision. The
    // buffers must stay untouched until wait(), except as await() and send() allow.
    virtual void start(const void* send, void* receive, std::size_t fields, Precision precision) = 0;
    // Waits for the receives that a later stage needs: these may be read.
    virtual void await(std::size_t stage) = 0;
    // Posts the sends of a later stage, whose messages have been completed.
    virtual void send(std::size_t stage) = 0;
    // Waits for everything.
    virtual void wait() = 0;
};

// Progresses what else is in flight on this rank, such as all-reduces; false: nothing is left to progress.
using Meanwhile = std::function<bool()>;

// Whether the MPI has what `partitioned` calls (MPI 4).
bool has_partitioned_messages();

struct TransportOptions {
    const Communicator& comm;
    const Topology& topology;
    int tag = 0;  // exchanges with different tags do not meet
    // Is called again and again, as long as it returns true, while messages are waited for.
    Meanwhile meanwhile = {};
    Ledger* ledger = nullptr;  // books `send` and `wait` on this level
    int level = 0;
};

// The messages of a virtual rank are booked and not posted. The schedule and the ledger must outlive the
// result. Collective.
std::unique_ptr<Transport> make_transport(Carrier carrier, const TransportOptions& options,
                                          const RankSchedule& schedule);

}  // namespace keel
