#pragma once

// Messages whose only purpose is to be timed, and the pairs that send them. No clock here: callers time them.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/carry/transport.hpp"
#include "comm/ranks/communicator.hpp"
#include "comm/ranks/locality.hpp"
#include "kernels/backends/registry.hpp"

namespace keel {

struct Pair {
    int first = 0;
    int second = 0;

    friend auto operator<=>(const Pair&, const Pair&) = default;
};

// All disjoint pairs of ranks at that distance; each rank is in at most one. Pure.
std::vector<Pair> pairs_at(const RankPlaces& ranks, Locality locality);

// At most `most` of the pairs, spread over them. Pure.
std::vector<Pair> few_of(const std::vector<Pair>& pairs, std::size_t most);

// The messages of an exchange in which each rank of a pair sends `count` messages, each to a rank of another
// pair as far as there are such at that distance. Pure.
std::vector<Pair> messages_among(const std::vector<Pair>& pairs, const RankPlaces& ranks, Locality locality,
                                 int count);

// The rank that has most others at that distance, in a pair with each of the first eight of them. Pure.
std::vector<Pair> fan_at(const RankPlaces& ranks, Locality locality);

// Nodes in pairs, those with most ranks first: `count` ranks of each node, or all of the smaller one, each
// with one of the other. None on one node. Pure.
std::vector<Pair> pairs_of_nodes(const RankPlaces& ranks, std::size_t count);

// Memory of a backend that messages leave from and arrive in. Sizes are multiples of 8 bytes.
class DeviceBuffer {
  public:
    DeviceBuffer(const Backend& backend, std::size_t bytes, Wire wire);

    // The memory that MPI gets: pinned host memory if messages are staged, else the backend's own.
    std::span<std::byte> wire() const { return {static_cast<std::byte*>(buffer_.wire), 8 * buffer_.values}; }
    bool staged() const { return buffer_.wire != buffer_.data; }
    // Copy the first bytes from or to the device if messages are staged, and return when that is done.
    void to_host(std::size_t bytes);
    void to_device(std::size_t bytes);

  private:
    std::unique_ptr<Operations> operations_;
    Field field_;
    Buffer buffer_;
};

// All pairs at the same time: `bytes` from the first to the second, and back. Given the nodes, the ranks of
// each, which are all first or all second, go in step: their messages leave when all have come. By themselves
// pairs drift apart on a link that sends both ways at once, until each has it alone. Given a buffer of a
// device, which must outlive them, messages leave from there and arrive there.
class PingPong {
  public:
    PingPong(const Communicator& comm, const std::vector<Pair>& pairs, std::size_t bytes,
             std::span<const int> node_of = {}, DeviceBuffer* device = nullptr);

    bool takes_part() const { return partner_ >= 0; }
    // Nothing on ranks of no pair.
    void round_trips(int count);

  private:
    Communicator comm_;
    std::optional<Communicator> side_;  // the ranks of the node, if they go in step
    int partner_ = -1;
    bool first_ = false;
    std::size_t bytes_;
    std::vector<std::byte> buffer_;  // empty if messages are a device's
    DeviceBuffer* device_;
};

// Messages of one length that all ranks send and receive at once, from the first of each pair to the second.
class MessagesAtOnce {
  public:
    // `bytes` are a multiple of 8. Collective.
    MessagesAtOnce(const Communicator& comm, const Topology& topology, const std::vector<Pair>& messages,
                   std::size_t bytes, Carrier carrier = Carrier::isend);

    bool takes_part() const { return !schedule_.empty(); }
    // The exchange again and again, without a pause. All ranks take part, also those of no message.
    void exchanges(int count);

  private:
    RankSchedule schedule_;
    std::vector<double> sent_, received_;
    std::unique_ptr<Transport> transport_;
};

}  // namespace keel
