#include "comm/carry/transport.hpp"

#include "comm/carry/transports/posted.hpp"

namespace keel {

std::unique_ptr<Transport> make_transport(Carrier carrier, const TransportOptions& options,
                                          const RankSchedule& schedule) {
    switch (carrier) {
        case Carrier::persistent:
            return make_persistent(options, schedule);
        case Carrier::neighbour:
            return make_neighbour(options, schedule);
        case Carrier::shared:
            return make_shared_memory(options, schedule);
        case Carrier::put:
            return make_put(options, schedule);
        case Carrier::partitioned:
            return make_partitioned(options, schedule);
        case Carrier::isend:
            break;
    }
    return make_isend(options, schedule);
}

}  // namespace keel
