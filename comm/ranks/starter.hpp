#pragma once

// How this process was started, by the environment. MPI itself may know of fewer ranks: where the starter is
// not one that it knows, each rank is alone.

#include <string>

namespace keel {

// How many processes were started together, by a variable of the starter or of a job.
struct StartedTasks {
    std::string variable;
    int count = 1;
    std::string starter;  // empty for the tasks of a job, of which a run need not be all
    std::string remedy;   // for this starter; may be empty
};
StartedTasks started_tasks();  // 1 if no variable is set

}  // namespace keel
