#define KEEL_GPU_EMULATED
#include "solvers/krylov/single_launch/launch.hpp"
