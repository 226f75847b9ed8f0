// The main of all test executables: under mpiexec every rank runs the same tests, and one that fails anywhere
// fails.

#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "comm/ranks/communicator.hpp"

int main(int argc, char** argv) {
    keel::Session session(argc, argv);
    const int failed = Catch::Session().run(argc, argv);
    return static_cast<int>(keel::Communicator::world().max(failed));
}
