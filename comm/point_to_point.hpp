#pragma once

// The messages of one plan on the wire.

#include <cstddef>
#include <memory>

#include "comm/communicator.hpp"
#include "comm/plan.hpp"
#include "kernels/ledger.hpp"

namespace keel {

class PointToPoint {
  public:
    virtual ~PointToPoint() = default;
    // Posts all receives and sends of the plan for `fields` fields; the buffers hold message after message and
    // must stay untouched until wait(). Returns what this rank sent.
    virtual Traffic start(const double* send, double* receive, std::size_t fields) = 0;
    virtual void wait() = 0;
};

// Non-blocking sends and receives with `tag`; persistent requests if asked for. The plan must outlive the result.
std::unique_ptr<PointToPoint> make_point_to_point(const Communicator& comm, const Topology& topology,
                                                  const Plan& plan, int tag, bool persistent);

// Books `send` and `wait`.
class TimedPointToPoint : public PointToPoint {
  public:
    TimedPointToPoint(std::unique_ptr<PointToPoint> inner, Ledger& ledger, int level)
        : inner_(std::move(inner)), ledger_(ledger), level_(level) {}

    Traffic start(const double* send, double* receive, std::size_t fields) override {
        Entry& entry = ledger_.at(Op::send, level_);
        const Traffic sent = timed(entry, [&] { return inner_->start(send, receive, fields); });
        entry.traffic += sent;
        return sent;
    }
    void wait() override {
        timed(ledger_.at(Op::wait, level_), [&] { inner_->wait(); });
    }

  private:
    std::unique_ptr<PointToPoint> inner_;
    Ledger& ledger_;
    int level_;
};

}  // namespace keel
