#pragma once

// The cost of messages on the machine the program runs on: timed and fitted.

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comm/network/network_fit.hpp"
#include "comm/network/ping_pong.hpp"
#include "comm/ranks/topology.hpp"
#include "miniapp/modes/mode.hpp"

namespace keel {

inline constexpr std::size_t short_message = 8;  // bytes
inline constexpr std::size_t longest_message = 1 << 22;
inline constexpr int fan_rounds = 7;  // their range is an interval of 98 %

struct NetworkOptions {  // [network]
    std::string write;   // path of the machine's file; empty = none
};

// The memory that messages leave from and arrive in: the host's; a device's, by way of pinned host memory;
// a device's, which MPI gets as it is.
enum class MessagePath { host, staged, device };
constexpr auto names_of(MessagePath) {
    return std::array{"host", "staged", "device"};
}

// Messages of one length between a rank and 1, 2, 4, 8 others at once, as far as there are others.
struct FanResults {
    double bytes = 0;
    std::vector<std::vector<Burst>> rounds;
    std::optional<Concurrency> concurrency = {};
};

// Messages of one path at one distance.
struct PingPongResults {
    Locality locality = Locality::socket;
    std::vector<Pair> pairs;  // none: no two ranks are at that distance
    std::vector<TimedMessage> samples;
    std::vector<Fit> fits;
    std::vector<FanResults> fans = {};  // none if no rank has two others at that distance
    std::vector<std::pair<Carrier, Postal>> transports = {};  // seconds of n messages: alpha + beta n
    MessagePath path = MessagePath::host;
};

// Copies by `processes` ranks of each device at once, each of `bytes` bytes.
struct CopyResults {
    int processes = 1;
    std::vector<TimedMessage> to_device, to_host;
    std::vector<Fit> fits = {};  // to the device, to the host
};

// An all-reduce of all ranks, several in a row as solvers make them: a single one after a barrier would also
// wait for the ranks that left the barrier last.
struct TimedAllReduce {
    double bytes = 0;  // each rank gives
    double seconds = 0;
    std::optional<double> nonblocking_seconds = {};  // if MPI makes them
};

// Times that were taken, each the fastest of its repeats.
struct TimesTaken {
    int count = 0;
    double least = std::numeric_limits<double>::infinity();
};

struct NetworkResults {
    TimesTaken times;
    std::vector<PingPongResults> classes;  // by path and locality
    std::vector<CopyResults> copies;       // none where the host computes
    std::vector<TimedNode> node_pong;      // none on a single node
    std::vector<TimedAllReduce> all_reduce;
    // Seconds of the first of these by the machine's messages alone; the rest is the machine's noise.
    std::optional<double> all_reduce_by_messages = {};
    Switches switches;
    Machine machine;                                 // with all that was measured and accepted
    std::string unfit;                               // why the times make no machine; empty if they do
    std::vector<std::string> remarks;                // what could not be measured or was rejected, and why
    Interruption interruption = Interruption::none;  // else nothing was fitted
};

// The classes of host memory with their pairs, nothing measured. Collective.
std::vector<PingPongResults> network_classes(const Communicator& comm, const Topology& topology);

// One-way times of ping-pongs, bursts, fans, node-pongs and all-reduces, each the fastest of run.repeats,
// between nodes also of up to four pairs that take turns, and the machine fitted to them, all-reduces by
// their delay; where a backend has device memory also of copies, and ping-pongs from there. The same on all
// ranks. Needs two ranks. Collective.
NetworkResults measure_network(const NetworkOptions& options, const Resolved& resolved,
                               const RunContext& context);

// Fits the machine to the times, fills in what the ranks at hand do not show, and remarks on both.
void fit_machine(NetworkResults& network, const Resolved& resolved);

}  // namespace keel
