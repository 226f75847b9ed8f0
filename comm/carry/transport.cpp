#include "comm/carry/transport.hpp"

#include "comm/carry/transports/posted.hpp"

namespace keel {

std::unique_ptr<Transport> make_transport(Carrier carrier, const TransportOptions& options,
                                          const RankSchedule& schedule) {
    constexpr std::array makers{make_isend,         make_persistent, make_neighbour,
                                make_shared_memory, make_put,        make_partitioned};
    static_assert(makers.size() == names_of(Carrier{}).size());
    return makers[static_cast<std::size_t>(carrier)](options, schedule);
}

}  // namespace keel
