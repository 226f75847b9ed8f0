#define KEEL_GPU_HIP
#include "solvers/krylov/single_launch/launch.hpp"
