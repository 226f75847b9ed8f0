#pragma once

// The ranks of a run. MPI itself is named only in the .cpp files of this room.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace keel {

// An MPI call failed; the message names the call and the rank.
class CommunicationError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// Starts and ends MPI; one per process, in main.
class Session {
  public:
    Session(int& argc, char**& argv);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    static std::string library();  // e.g. "Open MPI v4.1.4", "MPICH Version: 4.0.2"
    // Whether the MPI says, asked now, that it sends from and receives into the memory of `cuda` or `hip`
    // devices.
    static bool takes_device_memory(const std::string& backend);
    // Whether this MPI moves messages while the program computes: a variable of the environment that asks for
    // it and is set, as "NAME=value", else "unknown". MPI itself has no way to tell.
    static std::string asynchronous_progress();
    // A warning if one of Cray MPICH's two variables for a progress thread is set without the other.
    static std::string progress_warning();
    [[noreturn]] static void abort(int status);  // ends all ranks
};

// Messages that exchanges of a virtual rank send or receive again and again, the items in their lists, and
// windows.
struct KeptMessages {
    std::size_t messages = 0;
    std::size_t items = 0;
    std::size_t relayed = 0;  // items that travel on
    std::size_t window_bytes = 0;
};

// The collective operations that a watch sees, with the words that each rank gives: sums and maxima,
// gathers to all, the making of a communicator of the same ranks and of parts.
enum class Collective { reduction, gather, duplicate, split };
using CollectiveWatch = std::function<void(Collective what, std::size_t words)>;

// A group of ranks. Every member function but rank() and size() is collective over the group.
class Communicator {
  public:
    struct Impl;

    static Communicator world();
    static Communicator self();  // this rank alone
    // A rank of a group that need not exist: it counts the messages and sums of a solve and takes part in
    // none. Of all member functions it has among(), duplicate() and maxima, which are its own values. Its
    // messages are added up in `kept`, if given, which outlives all of its communicators.
    static Communicator virtual_rank(int rank, int size, KeptMessages* kept = nullptr);
    bool is_virtual() const;
    KeptMessages* kept_messages() const;  // null of real ranks, and where none was given
    // The same ranks; messages sent in one of the two never meet those of the other. Freed with its last
    // copy, which must be before the session ends. Collective.
    Communicator duplicate() const;

    // The same ranks, whose watch is called before each of these operations. Parts have no watch.
    Communicator watched(CollectiveWatch watch) const;

    // The ranks that give the same colour, in this group's order. Freed as a duplicate. Collective.
    Communicator split(int colour) const;
    // These ranks, ascending, on each of them; on the others the group of the others. Likewise.
    Communicator among(std::span<const int> ranks) const;

    int rank() const;
    int size() const;
    void barrier() const;
    double max(double value) const;
    std::vector<double> max(std::vector<double> values) const;  // element by element; ranks give equally many
    double min(double value) const;
    double sum(double value) const;
    // Every rank's values, rank after rank, on rank 0 (empty elsewhere); all ranks give equally many.
    std::vector<double> gather(std::span<const double> values) const;
    std::vector<std::string> gather(const std::string& text) const;
    // Every rank's values, rank after rank, on all; ranks may give differently many.
    std::vector<std::int64_t> all_gather(std::span<const std::int64_t> values) const;
    // The same where all know how many values each rank gives.
    std::vector<double> all_gather(std::span<const double> values, std::span<const int> counts) const;
    // The same of both on rank 0 alone (empty elsewhere).
    std::vector<std::int64_t> gather(std::span<const std::int64_t> values) const;
    std::vector<double> gather(std::span<const double> values, std::span<const int> counts) const;
    // This rank's part of rank 0's values; `counts`: values of each rank.
    std::vector<double> scatter(std::span<const double> values, std::span<const int> counts) const;
    // Rank 0's text, on all.
    std::string broadcast(const std::string& text) const;
    // For each rank the smallest rank that shares memory (a node) with it.
    std::vector<int> node_leaders() const;

    const Impl& impl() const { return *impl_; }

  private:
    explicit Communicator(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
    std::shared_ptr<const Impl> impl_;
};

}  // namespace keel
