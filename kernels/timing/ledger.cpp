#include "kernels/timing/ledger.hpp"

#include "kernels/check.hpp"

namespace keel {

Ledger& Ledger::operator+=(const Ledger& other) {
    check_equal(other.entries_.size(), entries_.size(), "ledgers of as many levels");
    for (std::size_t n = 0; n < entries_.size(); ++n) entries_[n] += other.entries_[n];
    return *this;
}

}  // namespace keel
