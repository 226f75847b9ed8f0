#define KEEL_GPU_CUDA
#include "solvers/krylov/single_launch/launch.hpp"
