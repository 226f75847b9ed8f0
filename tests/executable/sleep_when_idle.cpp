// Lets ranks that wait sleep: preloaded in tests of the executable (LD_PRELOAD). Where there are more ranks
// than cores, an MPI that waits gives its core away between two looks at its messages, and the kernel gives
// it back at once if the others wait, too: the more tests run beside each other, the more of their time goes
// into looking. Two of them take half as long with this (`ctest --preset ci -j2 -R
// 'executable.(decks|choice)$'`: 178 and 93 s). Runs that compute, the tests of solvers/, take longer.

#include <sched.h>
#include <time.h>

extern "C" int sched_yield() noexcept {
    const timespec pause = {0, 10'000};  // ns; the kernel makes it some 60 us
    return nanosleep(&pause, nullptr);
}
