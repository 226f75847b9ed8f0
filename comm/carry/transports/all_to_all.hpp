#pragma once

// Private to comm/: a neighbourhood collective, posted or made persistent.

#include <vector>

#include "comm/ranks/mpi.hpp"

// MPI 4 has the first, Open MPI 4.1 the second; what an MPI lacks is null.
extern "C" {
[[gnu::weak]] int MPI_Neighbor_alltoallv_init(const void*, const int*, const int*, MPI_Datatype, void*,
                                              const int*, const int*, MPI_Datatype, MPI_Comm, MPI_Info,
                                              MPI_Request*);
[[gnu::weak]] decltype(MPI_Neighbor_alltoallv_init) MPIX_Neighbor_alltoallv_init;
}

namespace keel {

// Counts and places in values. MPI reads the arrays until a persistent request is freed.
struct AllToAll {
    const void* send;
    std::vector<int> sent, sent_from;
    void* receive;
    std::vector<int> received, received_at;
    MPI_Datatype type;
    MPI_Comm graph;

    static bool can_persist() { return MPI_Neighbor_alltoallv_init || MPIX_Neighbor_alltoallv_init; }
    // Makes a persistent request. Collective over the graph, as post().
    MPI_Request init() {
        // Open MPI 4.1 refuses null pointers, which empty arrays have.
        for (std::vector<int>* const one : {&sent, &sent_from, &received, &received_at}) one->reserve(1);
        const auto init =
            MPI_Neighbor_alltoallv_init ? MPI_Neighbor_alltoallv_init : MPIX_Neighbor_alltoallv_init;
        MPI_Request request = MPI_REQUEST_NULL;
        require(init(send, sent.data(), sent_from.data(), type, receive, received.data(), received_at.data(),
                     type, graph, MPI_INFO_NULL, &request),
                "MPI_Neighbor_alltoallv_init");
        return request;
    }
    MPI_Request post() const {
        MPI_Request request = MPI_REQUEST_NULL;
        require(MPI_Ineighbor_alltoallv(send, sent.data(), sent_from.data(), type, receive, received.data(),
                                        received_at.data(), type, graph, &request),
                "MPI_Ineighbor_alltoallv");
        return request;
    }
};

}  // namespace keel
