#include "comm/ranks/windows.hpp"

#include "comm/ranks/mpi.hpp"

namespace keel {

bool makes_windows(const Communicator& comm) {
    void* base = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    const int status =
        MPI_Win_allocate(1, 1, MPI_INFO_NULL, comm.impl().comm, static_cast<void*>(&base), &window);
    const bool all = comm.min(status == MPI_SUCCESS ? 1 : 0) > 0;
    if (all) require(MPI_Win_free(&window), "MPI_Win_free");
    return all;
}

}  // namespace keel
