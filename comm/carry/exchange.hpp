#pragma once

// Runs a plan on fields: after finish() the target cells of every field hold their source cells' values.

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "comm/carry/exchanger.hpp"
#include "comm/patterns/ghosts.hpp"
#include "comm/plans/plan.hpp"
#include "kernels/operations.hpp"

namespace keel {

class Exchange {
  public:
    // Both calls are collective over the ranks of the plan. One exchange object has one exchange in flight at
    // a time; between begin and finish cells that travel may be read but not written.
    virtual ~Exchange() = default;
    // If `colour` is given, only ghosts of that colour are guaranteed; the others may be stale.
    virtual void begin(std::span<const Field> u, std::optional<Colour> colour) = 0;
    virtual void finish() = 0;
    // The precision of values in messages from now on, of a field's at most; copies between boxes of a rank
    // round nothing. Between exchanges; the same on all ranks.
    virtual void send_in(Precision precision) = 0;
    // Makes room for messages of `fields` fields; set-up only.
    virtual void reserve(std::size_t fields) = 0;
    virtual long count() const = 0;  // exchanges begun so far
    virtual const Plan& plan() const = 0;

    // The copies between this rank's boxes if they are all of the exchange; otherwise, or if it wants to see
    // each exchange, nothing.
    virtual std::optional<Items<BlockCopy>> copies_alone() const { return std::nullopt; }
    // Counts exchanges that such copies elsewhere took the place of.
    virtual void count_copied(long /*exchanges*/) {}

    // Whether work that needs the ghosts should be split, its interior between begin and finish.
    virtual bool overlaps() const = 0;

    void run(std::span<const Field> u, std::optional<Colour> colour = std::nullopt) {
        begin(u, colour);
        finish();
    }
    void run(Field u) { run(std::span(&u, 1)); }
    // Exchanges all u and does work(Part) that needs their ghosts, those of one colour or all.
    template <class Action>
    void run(std::span<const Field> u, std::optional<Colour> colour, const Action& work) {
        begin(u, colour);
        if (overlaps()) work(Part::interior);
        finish();
        work(overlaps() ? Part::shell : Part::all);
    }
    template <class Action>
    void run(Field u, std::optional<Colour> colour, const Action& work) {
        run(std::span<const Field>(&u, 1), colour, work);
    }
    template <std::invocable<Part> Action>
    void run(std::span<const Field> u, const Action& work) {
        run(u, std::nullopt, work);
    }
    template <class Action>
    void run(Field u, const Action& work) {
        run(u, std::nullopt, work);
    }
};

// `plan` is this rank's part of a plan of `pattern`. `operations` pack, unpack, copy and forward; they must
// outlive the exchange. Buffers are made for one field and grow when more are reserved or carried.
std::unique_ptr<Exchange> make_exchange(Operations& operations, const GhostPattern& pattern, Plan plan,
                                        const ExchangeOptions& options, const TransportOptions& transport);

// The place of the value of an item of length 1 in the fields of this rank.
struct BoxCell {
    int box;
    Index at;
};
using CellOfItem = std::function<BoxCell(const Item&)>;

// The same for a plan of any pattern of items of length 1 (Negotiator): `needed` are those that this rank
// needs, and `cell` is asked for these and for its own.
std::unique_ptr<Exchange> make_exchange(Operations& operations, int rank, std::span<const Item> needed,
                                        const CellOfItem& cell, Plan plan, const ExchangeOptions& options,
                                        const TransportOptions& transport);

}  // namespace keel
