#pragma once

// Private to comm/: what its .cpp files share about MPI.

#include <mpi.h>

#include <climits>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"

namespace keel {

struct Communicator::Impl {
    MPI_Comm comm;
    int rank;
    int size;
    KeptMessages* kept = nullptr;  // counted for a virtual rank
    CollectiveWatch watch = {};

    void tell(Collective what, std::size_t words) const {
        if (watch) watch(what, words);
    }
};

// The requests of something in flight that are not complete; null requests are.
struct Requests {
    std::span<MPI_Request> open;
};

// Throws CommunicationError unless `status` says success.
inline void require(int status, const char* call) {
    if (status == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(status, text, &length);
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    throw CommunicationError(std::string(call) + " failed on rank " + std::to_string(rank) + ": " +
                             std::string(text, static_cast<std::size_t>(length)));
}

// A count as MPI takes it. Throws CommunicationError, which names the message, where an int does not hold it.
inline int mpi_count(std::size_t count, const char* message) {
    if (count <= INT_MAX) return static_cast<int>(count);
    throw CommunicationError(std::string(message) + ": " + std::to_string(count) +
                             " values, and MPI counts at most " + std::to_string(INT_MAX) +
                             "; send fewer columns at a time, or use smaller boxes or more ranks");
}
// The same of a message between two ranks, whose name costs nothing unless it is needed.
inline int mpi_count(std::size_t count, const char* what, int from, int to) {
    if (count <= INT_MAX) return static_cast<int>(count);
    const std::string ranks = " from rank " + std::to_string(from) + " to rank " + std::to_string(to);
    return mpi_count(count, (what + ranks).c_str());
}

// The place of each rank's values behind those of the ranks before it. Throws as mpi_count().
inline std::vector<int> places_of(std::span<const int> counts, const char* call) {
    std::vector<int> first;
    std::size_t total = 0;
    for (const int count : counts) {
        first.push_back(static_cast<int>(total));
        total = static_cast<std::size_t>(mpi_count(total + static_cast<std::size_t>(count), call));
    }
    return first;
}

}  // namespace keel
