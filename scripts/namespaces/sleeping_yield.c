// Preloaded where hosts have more ranks than there are processors. Open MPI, with mpi_yield_when_idle, calls sched_yield
// while a rank waits; ranks that only yield keep the processors from those that compute, and each message takes
// milliseconds. From the fourth yield in a row on a rank sleeps 60 microseconds instead. A yield between pieces of work, as by
// MPI_Test, only yields. On Linux from 6.12 on ranks also ask for time slices of 0.1 ms.
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { sleep_ns = 60000, in_a_row_ns = 20000, patience = 4, slice_ns = 100000 };

static __thread long long last;
static __thread int in_a_row;

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

__attribute__((constructor)) static void ask_for_short_slices(void) {
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } wish = {sizeof wish, 0, 0, getpriority(PRIO_PROCESS, 0), 0, slice_ns, 0, 0};
    syscall(SYS_sched_setattr, 0, &wish, 0);  // refused by older kernels, which changes nothing
    prctl(PR_SET_TIMERSLACK, 1);
}

int sched_yield(void) {
    in_a_row = now() - last < in_a_row_ns ? in_a_row + 1 : 0;
    if (in_a_row >= patience) {
        const struct timespec rest = {0, sleep_ns};
        nanosleep(&rest, 0);
    } else {
        syscall(SYS_sched_yield);
    }
    last = now();
    return 0;
}
