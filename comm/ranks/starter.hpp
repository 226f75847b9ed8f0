#pragma once

// What the environment says of how this process was started. MPI itself may know of fewer ranks: where the mpiexec is not
// its own, each rank is alone.

#include <string>

namespace keel {

// How many processes were started together, by a variable of an MPI's starter or of a job.
struct StartedTasks {
    std::string variable;
    int count = 1;
    bool by_mpi = false;  // else a job's tasks, which a run need not all be
};
StartedTasks started_tasks();  // 1 if nothing tells of others

}  // namespace keel
