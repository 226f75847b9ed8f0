#pragma once

// Between a level and the next: P e and P^T r on vectors of a backend.

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "comm/carry/reverse_exchange.hpp"
#include "kernels/timing/timed_operations.hpp"
#include "solvers/amg/setup/ghost_values.hpp"

namespace keel {

// A vector of the coarse level has room here after its rows: for ghosts of P, for parts that are added up for
// other ranks, and for parts that arrive. Parts of one row are added by a product with a matrix of ones,
// always in the same order.
class LevelTransfer {
  public:
    // `plan` and `way` are those of P's ghosts. `fine` and `coarse` work on vectors of the rows of either
    // level, without ghosts, and must outlive this object as the context and the ledger must. Collective.
    LevelTransfer(const SetupContext& context, const PartRows& P, const Plan& plan,
                  const ReverseExchange& way, Operations& fine, Operations& coarse,
                  const ExchangeOptions& options, Ledger& ledger, int level);

    // e is a vector of the coarse level, x and b are of the fine one; ghosts of none are read. If exchanges
    // overlap, rows of P without ghosts are multiplied while messages are in flight; and of P^T the rows of
    // other ranks come first, and this rank's while the first stage of messages is in flight.
    void interpolate(Field x, Field e);  // x = P e
    void restrict_to(Field b, Field r);  // b = P^T r

    // Replaces the exchange of P e and the first of P^T r, whose exchanges follow each other, by what the
    // decorators make of them.
    using Decorator = std::function<std::unique_ptr<Exchange>(std::unique_ptr<Exchange>)>;
    void decorate(const Decorator& there, const Decorator& home) {
        ghosts_ = there(std::move(ghosts_));
        steps_.front().exchange = home(std::move(steps_.front().exchange));
    }

  private:
    struct Step {  // one of P^T r
        std::unique_ptr<Exchange> exchange;
        SparseRows sum;
    };
    void add_steps(const PartRows& P, const ReverseExchange& way, const ExchangeOptions& options,
                   const TransportOptions& transport);

    Operations& fine_;
    Operations& coarse_;
    std::unique_ptr<Operations> memory_;  // works on coarse vectors and what follows them
    TimedOperations operations_;
    Field rows_;            // the rows of the vector below, as the coarse level has them
    Field vector_, other_;  // parts are added from one to the other in turn
    SparseRows P_, transposed_;
    std::unique_ptr<Exchange> ghosts_;
    std::vector<Step> steps_;
    Ledger& ledger_;
    int level_;
};

}  // namespace keel
