#pragma once

// Private to comm/: what its .cpp files share about MPI.

#include <mpi.h>

#include <span>
#include <string>

#include "comm/ranks/communicator.hpp"

namespace keel {

struct Communicator::Impl {
    MPI_Comm comm;
    int rank;
    int size;
};

// Of something under way what has not arrived or left; null where it has.
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

}  // namespace keel
