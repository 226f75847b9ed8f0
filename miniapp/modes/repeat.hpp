#pragma once

#include <functional>
#include <string>

#include "miniapp/modes/mode.hpp"

namespace keel {

// What is done again and again: some times to warm up, then those that count.
struct Repeats {
    std::string what;  // "solves"
    int warmup = 1;
    int counted = 5;
};

// Calls action(n) for n from -warmup on, and ends before the next where the run was asked to. How many of those that
// count were done: returned, and noted in the findings. Collective.
int repeat(const RunContext& context, const Repeats& repeats, Findings& findings,
           const std::function<void(int n)>& action);

}  // namespace keel
