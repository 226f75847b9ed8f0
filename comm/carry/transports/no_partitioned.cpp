// An MPI before version 4, without partitioned messages.

#include "comm/carry/transports/posted.hpp"
#include "kernels/check.hpp"

namespace keel {

bool has_partitioned_messages() {
    return false;
}

std::unique_ptr<Transport> make_partitioned(const TransportOptions& options, const RankSchedule& schedule) {
    check(options.comm.is_virtual(), "partitioned messages of an MPI without them are refused before a run");
    return make_persistent(options, schedule);  // a dry run posts nothing
}

}  // namespace keel
