// Preloaded (LD_PRELOAD) where ranks outnumber processors: by scripts/hosts, and by tests. Open MPI calls
// sched_yield while a rank waits; ranks that only yield keep the processors from those that compute, and
// each message takes milliseconds. From the fourth yield in a row on a rank sleeps 60 microseconds instead.
// A yield between pieces of work, as by MPI_Test, only yields. MPICH with UCX, Debian's, polls without a
// yield: it yields where UCX finds nothing. From Linux 6.12 on ranks also ask for time slices of 0.1 ms.
#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>

namespace {

constexpr long sleep_ns = 60'000, in_a_row_ns = 20'000;
constexpr int patience = 4;
constexpr std::uint64_t slice_ns = 100'000;

thread_local long long last = 0;
thread_local int in_a_row = 0;

long long now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

// sched_setattr(2), of which the C library of Debian 12 has no declaration.
struct Attributes {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
};

[[gnu::constructor]] void ask_for_short_slices() {
    Attributes wish{sizeof wish, 0, 0, getpriority(PRIO_PROCESS, 0), 0, slice_ns, 0, 0};
    syscall(SYS_sched_setattr, 0, &wish, 0);  // older kernels refuse, which changes nothing
    prctl(PR_SET_TIMERSLACK, 1);
}

}  // namespace

extern "C" int sched_yield() noexcept {
    in_a_row = now() - last < in_a_row_ns ? in_a_row + 1 : 0;
    if (in_a_row >= patience) {
        const timespec rest{0, sleep_ns};
        nanosleep(&rest, nullptr);
    } else {
        syscall(SYS_sched_yield);
    }
    last = now();
    return 0;
}

extern "C" unsigned ucp_worker_progress(void* worker) {
    using Progress = unsigned (*)(void*);
    static const auto progress = [] {
        void* found = dlsym(RTLD_NEXT, "ucp_worker_progress");
        // It may belong to a plugin alone, as in Open MPI.
        if (found == nullptr)
            found = dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD), "ucp_worker_progress");
        return reinterpret_cast<Progress>(found);
    }();
    const unsigned found = progress(worker);
    if (found == 0) sched_yield();
    return found;
}
