#pragma once

// The costs of communication on a machine. Plain data, as in inputs/machines/*.toml; what has not been
// measured is missing, and code that needs it throws its name.

#include <array>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "comm/plans/carrier.hpp"
#include "comm/ranks/locality.hpp"
#include "kernels/cost.hpp"
#include "kernels/names.hpp"
#include "kernels/timing/device_counts.hpp"

namespace keel {

// The memory that both ends of a message lie in: the host's, a device's, or memory that the driver moves
// between the two.
enum class Memory { host, device, managed };
constexpr auto names_of(Memory) {
    return std::array{"host", "device", "managed"};
}
// How an MPI sends: with the envelope, at once, or after the receiver has agreed.
enum class Protocol { short_, eager, rendezvous };
constexpr auto names_of(Protocol) {
    return std::array{"short", "eager", "rendezvous"};
}

// alpha + beta bytes: seconds a message, and seconds a byte (the inverse of a rate).
struct Postal {
    double alpha = 0;
    double beta = 0;
    // The part of alpha that keeps the process busy: what several messages at once each take at least.
    std::optional<double> overhead = {};

    double time(double bytes) const { return alpha + beta * bytes; }
    friend bool operator==(const Postal&, const Postal&) = default;
};

// Messages between memories of one kind. The protocol depends on the bytes of one message: short below
// `eager_from`, rendezvous from `rendezvous_from` on.
struct MessageCosts {
    std::size_t eager_from = 0;
    std::size_t rendezvous_from = 0;
    std::array<std::array<std::optional<Postal>, names_of(Protocol{}).size()>, names_of(Locality{}).size()>
        costs;

    Protocol protocol(double bytes) const;
    std::optional<Postal>& at(Locality locality, Protocol protocol);
    const std::optional<Postal>& at(Locality locality, Protocol protocol) const;

    friend bool operator==(const MessageCosts&, const MessageCosts&) = default;
};

// Copies between a device and the host, while `processes` of a node copy.
struct CopyCosts {
    int processes = 1;
    Postal to_device;
    Postal to_host;

    friend bool operator==(const CopyCosts&, const CopyCosts&) = default;
};

// The cost of computing: seconds by the bytes that a rank moves, at least `launch` an operation.
struct Compute {
    // The rate of operations whose bytes all fit in a cache.
    struct Cache {
        double bytes = 0;
        double rate = 0;  // bytes a second

        friend bool operator==(const Cache&, const Cache&) = default;
    };
    double rate = 0;                       // bytes a second, from and to memory
    double launch = 0;                     // 0 if LaunchCosts are known
    std::optional<double> flop_rate = {};  // a second; limits nothing where it is not known
    std::optional<Cache> cache = {};
    std::optional<double> look = {};  // seconds that it takes to ask whether a message has come

    // Seconds of `calls` operations that do `work` together.
    double time(double calls, const Work& work) const;

    friend bool operator==(const Compute&, const Compute&) = default;
};

// The seconds of a host's launches and waits, besides those of the work.
struct LaunchCosts {
    double launch = 0;  // a kernel or a copy
    double wait = 0;
    double replay = 0;  // a graph
    double node = 0;    // a kernel or a copy in a graph
    double block = 0;   // bytes a second that one block of threads moves: solves in one launch

    double time(const DeviceCounts& counts) const;

    friend bool operator==(const LaunchCosts&, const LaunchCosts&) = default;
};

// Seconds that each all-reduce and each exchange takes longer than its messages do, because ranks are late.
struct Noise {
    double all_reduce = 0;
    // The delay of MPI_Iallreduce, if it differs.
    std::optional<double> nonblocking_all_reduce = {};
    double exchange = 0;

    friend bool operator==(const Noise&, const Noise&) = default;
};

// Parameters that a formula needs are not known of the machine; the message names all and the remedy,
// `measure` among it if that is not empty.
class MissingParameter : public std::runtime_error {
  public:
    MissingParameter(const std::string& machine, const std::vector<std::string>& parameters,
                     const std::string& measure);

    const std::vector<std::string>& parameters() const { return parameters_; }
    const std::string& measure() const { return measure_; }

  private:
    std::vector<std::string> parameters_;
    std::string measure_;
};

// Short messages by a transport: seconds that each keeps its process busy, and seconds that pass once for all
// messages of an exchange.
struct Carriage {
    double overhead = 0;
    double latency = 0;

    friend bool operator==(const Carriage&, const Carriage&) = default;
};

// The contents of a machine's file; predictions read the messages and the injection rate.
struct Machine {
    std::string name;
    std::optional<int> ranks_per_node;
    std::optional<int> ranks_per_socket;
    std::optional<int> gpus_per_node;
    std::optional<int> gpus_per_socket;
    // 1 / R_N: seconds for each byte that all ranks of a node together send to other nodes.
    std::optional<double> injection_beta;
    std::array<std::optional<MessageCosts>, names_of(Memory{}).size()> messages;
    // The share of alpha that passes beside other messages of the process. 0: n messages to n partners take
    // n latencies; 1: they take one latency and n overheads. If unknown, 1 for messages of known overhead,
    // else 0, an upper bound.
    std::optional<double> concurrency;
    // By transport and locality. What is unknown costs what isend costs.
    std::array<std::array<std::optional<Carriage>, names_of(Locality{}).size()>, names_of(Carrier{}).size()>
        transports;
    std::vector<CopyCosts> copies;
    std::optional<Compute> compute;
    std::optional<LaunchCosts> launch;
    Noise noise;

    // Both throw MissingParameter. Within a socket, where nothing is known of that, messages are those within
    // a node.
    Postal message(Memory memory, Locality locality, double bytes) const;  // `bytes` of one message
    double injection() const;
    // The cost of a message in host memory by this transport, from its cost by isend.
    Postal carried(Carrier carrier, Locality locality, Postal by_isend) const;
    // Within a socket, where nothing is known of that, as within a node.
    const std::optional<Carriage>& transport(Carrier carrier, Locality locality) const;

    friend bool operator==(const Machine&, const Machine&) = default;
};

}  // namespace keel
