// The main of the test executables that need MPI: under mpiexec every rank runs the same tests, and one that
// fails anywhere fails. The linker's --wrap=main starts it in place of Catch2's own, which it calls.

#include "comm/ranks/communicator.hpp"

extern "C" int __real_main(int argc, char** argv);

extern "C" int __wrap_main(int argc, char** argv) {
    const keel::Session session(argc, argv);
    return static_cast<int>(keel::Communicator::world().max(__real_main(argc, argv)));
}
