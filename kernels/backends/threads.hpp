#pragma once

// The threads that work for this process on the host.

#include <functional>

namespace keel {

// Runs `task` once on each thread of a parallel region, at the same time, with the thread's number. Returns
// the number of threads. `task` must not throw.
int on_every_thread(const std::function<void(int)>& task);

// Runs task(n) for 0 <= n < count, each on the next thread that is free. `task` must not throw.
void on_all_threads(int count, const std::function<void(int)>& task);

// Backends that are made from now on have this number of threads, unless the system allows fewer.
void use_threads(int threads);

}  // namespace keel
