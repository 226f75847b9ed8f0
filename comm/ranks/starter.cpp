#include "comm/ranks/starter.hpp"

#include <array>
#include <cstdlib>

namespace keel {

StartedTasks started_tasks() {
    // An mpiexec inside a job comes before the job's starter: the nearest one knows the number of ranks. A
    // job's starter may set the variables of an MPI as well, so of those with the same number the last one is
    // named.
    StartedTasks found;
    for (const auto& [variable, starter, remedy] : {
             std::array{"OMPI_COMM_WORLD_SIZE", "another MPI's mpiexec", ""},
             std::array{"MV2_COMM_WORLD_SIZE", "mpirun_rsh of MVAPICH", ""},
             std::array{"MPIRUN_NPROCS", "mpirun_rsh of MVAPICH", ""},
             std::array{"PMI_SIZE", "another MPI's mpiexec", ""},
             std::array{"JSM_NAMESPACE_SIZE", "jsrun, which does not know this MPI", ""},
             std::array{"FLUX_JOB_SIZE", "flux run without a PMI of this MPI",
                        "try flux run -o pmi=simple or -o pmi=pmix, or "},
             std::array{"SLURM_STEP_NUM_TASKS", "srun without this MPI's plugin",
                        "try a plugin of srun --mpi=list, or "},
         }) {
        const char* const value = std::getenv(variable);
        if (value == nullptr) continue;
        if (found.variable.empty())
            found = {variable, std::atoi(value), starter, remedy};
        else if (std::atoi(value) == found.count)
            found = {found.variable, found.count, starter, remedy};
    }
    if (const char* const value = std::getenv("SLURM_NTASKS"); value != nullptr && found.variable.empty())
        found = {"SLURM_NTASKS", std::atoi(value), "", ""};
    return found;
}

}  // namespace keel
