#include "kernels/ledger.hpp"

#include "kernels/check.hpp"

namespace keel {

const char* name(Op op) {
    switch (op) {
        case Op::smooth:
            return "smooth";
        case Op::residual:
            return "residual";
        case Op::restrict_:
            return "restrict";
        case Op::interpolate:
            return "interpolate";
        case Op::boundary:
            return "boundary";
        case Op::vector:
            return "vector";
        case Op::pack:
            return "exchange.pack";
        case Op::send:
            return "exchange.send";
        case Op::copy:
            return "exchange.copy";
        case Op::wait:
            return "exchange.wait";
        case Op::unpack:
            return "exchange.unpack";
        case Op::reduction:
            return "reduction";
        case Op::bottom_operator:
            return "bottom.operator";
        case Op::bottom_vector:
            return "bottom.vector";
    }
    return "";
}

Ledger& Ledger::operator+=(const Ledger& other) {
    check_equal(other.entries_.size(), entries_.size(), "ledgers of as many levels");
    for (std::size_t n = 0; n < entries_.size(); ++n) entries_[n] += other.entries_[n];
    return *this;
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace keel
