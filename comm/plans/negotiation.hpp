#pragma once

// Planning a pattern that nobody knows as a whole, such as a sparse matrix's: a rank knows what it needs, and
// whose it is.

#include <memory>
#include <span>

#include "comm/plans/schemes.hpp"
#include "comm/ranks/communicator.hpp"
#include "comm/ranks/sparse_exchange.hpp"

namespace keel {

class Delegation;

// Ranks that agree on many plans, one after the other: the two communicators that this takes, one of them of all ranks and one of
// those of a node, are made once.
class Negotiator {
  public:
    // The topology must outlive this object. Collective, as all other functions.
    Negotiator(const Communicator& comm, const Topology& topology);
    ~Negotiator();

    // This rank's part of a plan, as by negotiate_plan().
    Plan plan(std::span<const Item> needed, const SchemeOptions& options);
    // Letters of ranks to ranks (exchange_letters).
    Letters exchange(const Letters& outgoing);

  private:
    int rank_;
    const Topology& topology_;
    std::unique_ptr<Delegation> node_;
};

// This rank's part of the plan of the pattern in which every rank needs the items that it gives here
// (duplicates and its own are dropped). Ranks learn what their node needs and what others need of it, and
// nodes agree with those they exchange with on who sends and receives; so a rank holds no more than the
// requests that concern its node. Any scheme that needs no axes. Who plans often does so by a Negotiator. Collective.
Plan negotiate_plan(const Communicator& comm, const Topology& topology, std::span<const Item> needed,
                    const SchemeOptions& options);

}  // namespace keel
