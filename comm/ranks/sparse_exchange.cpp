#include "comm/ranks/sparse_exchange.hpp"

#include "comm/ranks/mpi.hpp"

namespace keel {

Letters exchange_letters(const Communicator& comm, const Letters& outgoing, int tag) {
    MPI_Comm group = comm.impl().comm;
    std::vector<MPI_Request> sends;
    for (const auto& [rank, letter] : outgoing)  // synchronous: complete only when received
        require(MPI_Issend(letter.data(), static_cast<int>(letter.size()), MPI_INT64_T, rank, tag, group,
                           &sends.emplace_back()),
                "MPI_Issend");
    Letters incoming;
    MPI_Request barrier = MPI_REQUEST_NULL;
    for (int done = 0; done == 0;) {
        int found = 0;
        MPI_Status status;
        require(MPI_Iprobe(MPI_ANY_SOURCE, tag, group, &found, &status), "MPI_Iprobe");
        if (found != 0) {
            int length = 0;
            require(MPI_Get_count(&status, MPI_INT64_T, &length), "MPI_Get_count");
            std::vector<std::int64_t>& letter = incoming[status.MPI_SOURCE];
            letter.resize(static_cast<std::size_t>(length));
            require(MPI_Recv(letter.data(), length, MPI_INT64_T, status.MPI_SOURCE, tag, group,
                             MPI_STATUS_IGNORE),
                    "MPI_Recv");
        }
        if (barrier != MPI_REQUEST_NULL) {
            require(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE), "MPI_Test");
        } else {
            int sent = 0;
            require(MPI_Testall(static_cast<int>(sends.size()), sends.data(), &sent, MPI_STATUSES_IGNORE),
                    "MPI_Testall");
            if (sent != 0) require(MPI_Ibarrier(group, &barrier), "MPI_Ibarrier");
        }
    }
    return incoming;
}

}  // namespace keel
