#pragma once

// Runs a plan on fields: after finish() the target cells of every field hold their source cells' values.

#include <memory>
#include <span>

#include "comm/plan.hpp"
#include "comm/point_to_point.hpp"
#include "kernels/operations.hpp"

namespace keel {

class Exchange {
  public:
    // Both calls are collective over the ranks of the plan. One exchange object has one exchange under way at a
    // time; between begin and finish the fields' own cells may be read but not written.
    virtual ~Exchange() = default;
    virtual void begin(std::span<const Field> u) = 0;
    virtual void finish() = 0;
    virtual long count() const = 0;  // exchanges begun so far
    virtual const Plan& plan() const = 0;

    void run(Field u) {
        begin(std::span(&u, 1));
        finish();
    }
};

// Wraps the raw messages of a plan, e.g. to time them.
using Transport = std::function<std::unique_ptr<PointToPoint>(const Plan&)>;

// `operations` pack, unpack and copy; they must outlive the exchange. Buffers are made for one field and grow
// when an exchange carries more.
std::unique_ptr<Exchange> make_exchange(Operations& operations, Plan plan, const Transport& transport);

}  // namespace keel
