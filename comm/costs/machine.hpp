#pragma once

// What communication costs on a machine. Plain data, as in inputs/machines/*.toml; what nobody has measured is missing,
// and whoever needs it learns its name.

#include <array>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace keel {

// Where both ends of a message lie: in host memory, in a device's, or in memory that the driver moves between the two.
enum class Memory { host, device, managed };
// How far a message goes: within a socket, to another socket of the node, to another node.
enum class Locality { socket, node, off_node };
// How an MPI sends: with the envelope, at once, or after the receiver has agreed.
enum class Protocol { short_, eager, rendezvous };

inline constexpr std::size_t memory_count = 3;
inline constexpr std::size_t locality_count = 3;
inline constexpr std::size_t protocol_count = 3;
const char* name(Memory memory);
const char* name(Locality locality);
const char* name(Protocol protocol);

// alpha + beta bytes: seconds a message, and seconds a byte (the inverse of a rate).
struct Postal {
    double alpha = 0;
    double beta = 0;

    double time(double bytes) const { return alpha + beta * bytes; }
    friend bool operator==(const Postal&, const Postal&) = default;
};

// Messages between memories of one kind. The protocol depends on the bytes of one message: short below `eager_from`,
// rendezvous from `rendezvous_from` on.
struct MessageCosts {
    std::size_t eager_from = 0;
    std::size_t rendezvous_from = 0;
    std::array<std::array<std::optional<Postal>, protocol_count>, locality_count> costs;

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

// A parameter that a formula needs is not known of the machine; the message names both and the remedy.
class MissingParameter : public std::runtime_error {
  public:
    MissingParameter(const std::string& machine, const std::string& parameter);
};

struct Machine {
    std::string name;
    std::optional<int> ranks_per_node;
    std::optional<int> ranks_per_socket;
    std::optional<int> gpus_per_node;
    std::optional<int> gpus_per_socket;
    // 1 / R_N: seconds for each byte that all ranks of a node together send to other nodes.
    std::optional<double> injection_beta;
    std::array<std::optional<MessageCosts>, memory_count> messages;
    std::vector<CopyCosts> copies;

    // Each of these throws MissingParameter.
    Postal message(Memory memory, Locality locality, double bytes) const;  // `bytes` of one message
    double injection() const;
    const CopyCosts& copy(int processes) const;
    int known(std::optional<int> Machine::*member) const;

    friend bool operator==(const Machine&, const Machine&) = default;
};

}  // namespace keel
