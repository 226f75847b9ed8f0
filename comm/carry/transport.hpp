#pragma once

// One rank's messages of a plan on the wire.

#include <cstddef>
#include <functional>
#include <memory>

#include "comm/plans/rank_schedule.hpp"
#include "comm/ranks/communicator.hpp"
#include "kernels/layout/precision.hpp"
#include "kernels/timing/ledger.hpp"

namespace keel {

class Transport {
  public:
    virtual ~Transport() = default;
    // Posts all receives, and the sends of the first stage, for `fields` fields of this precision. The buffers must stay
    // untouched until wait(), but for what await() and send() say. Returns what this rank sent.
    virtual Traffic start(const void* send, void* receive, std::size_t fields, Precision precision) = 0;
    // Waits for the receives that a later stage needs: these may be read.
    virtual void await(std::size_t stage) = 0;
    // Posts the sends of a later stage, whose messages have been completed. Returns what this rank sent.
    virtual Traffic send(std::size_t stage) = 0;
    // Waits for everything.
    virtual void wait() = 0;
};

// Pushes on what else is in flight on this rank, such as sums; false: there is nothing left to push.
using Meanwhile = std::function<bool()>;

// Non-blocking sends and receives; persistent requests if asked for. Exchanges with different `tag` do not
// meet. While messages are waited for, `meanwhile` is called, if given, again and again, as long as it says so. The schedule must
// outlive the result.
std::unique_ptr<Transport> make_transport(const Communicator& comm, const Topology& topology,
                                          const RankSchedule& schedule, int tag, bool persistent,
                                          Meanwhile meanwhile = {});

// Books `send` and `wait`.
class TimedTransport : public Transport {
  public:
    TimedTransport(std::unique_ptr<Transport> inner, Ledger& ledger, int level)
        : inner_(std::move(inner)), ledger_(ledger), level_(level) {}

    Traffic start(const void* send, void* receive, std::size_t fields, Precision precision) override {
        return book([&] { return inner_->start(send, receive, fields, precision); });
    }
    void await(std::size_t stage) override {
        timed(ledger_, Op::wait, level_, [&] { inner_->await(stage); });
    }
    Traffic send(std::size_t stage) override {
        return book([&] { return inner_->send(stage); });
    }
    void wait() override {
        timed(ledger_, Op::wait, level_, [&] { inner_->wait(); });
    }

  private:
    template <class Action>
    Traffic book(const Action& action) {
        Entry& entry = ledger_.at(Op::send, level_);
        const Traffic sent = timed(ledger_, Op::send, level_, action);
        entry.traffic += sent;
        return sent;
    }

    std::unique_ptr<Transport> inner_;
    Ledger& ledger_;
    int level_;
};

}  // namespace keel
