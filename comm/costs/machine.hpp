#pragma once

// What communication costs on a machine. Plain data, as in inputs/machines/*.toml; what nobody has measured
// is missing, and whoever needs it learns its name.

#include <array>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "comm/ranks/locality.hpp"
#include "kernels/names.hpp"

namespace keel {

// Where both ends of a message lie: in host memory, in a device's, or in memory that the driver moves between
// the two.
enum class Memory { host, device, managed };
constexpr auto names_of(Memory) {
    return std::array{Named<Memory>{Memory::host, "host"}, Named<Memory>{Memory::device, "device"},
                      Named<Memory>{Memory::managed, "managed"}};
}
// How an MPI sends: with the envelope, at once, or after the receiver has agreed.
enum class Protocol { short_, eager, rendezvous };
constexpr auto names_of(Protocol) {
    return std::array{Named<Protocol>{Protocol::short_, "short"}, Named<Protocol>{Protocol::eager, "eager"},
                      Named<Protocol>{Protocol::rendezvous, "rendezvous"}};
}

// alpha + beta bytes: seconds a message, and seconds a byte (the inverse of a rate).
struct Postal {
    double alpha = 0;
    double beta = 0;

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

// Between a device and the host, while so many processes of a node copy.
struct CopyCosts {
    int processes = 1;
    Postal to_device;
    Postal to_host;

    friend bool operator==(const CopyCosts&, const CopyCosts&) = default;
};

// A parameter that a formula needs is not known of the machine; the message names both and the remedy, `measure`
// among it if that is not empty.
class MissingParameter : public std::runtime_error {
  public:
    MissingParameter(const std::string& machine, const std::string& parameter, const std::string& measure);
};

// What a machine's file says; predictions read the messages and the injection rate.
struct Machine {
    std::string name;
    std::optional<int> ranks_per_node;
    std::optional<int> ranks_per_socket;
    std::optional<int> gpus_per_node;
    std::optional<int> gpus_per_socket;
    // 1 / R_N: seconds for each byte that all ranks of a node together send to other nodes.
    std::optional<double> injection_beta;
    std::array<std::optional<MessageCosts>, names_of(Memory{}).size()> messages;
    std::vector<CopyCosts> copies;

    // Both throw MissingParameter.
    Postal message(Memory memory, Locality locality, double bytes) const;  // `bytes` of one message
    double injection() const;

    friend bool operator==(const Machine&, const Machine&) = default;
};

}  // namespace keel
