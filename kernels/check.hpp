#pragma once

// Programming mistakes (not user errors) end the run with a message; always on. C++17, for device compilers:
// the place that std::source_location would tell comes from the compiler, and a default argument is the
// caller's.

#include <stdexcept>
#include <string>

namespace keel {

[[noreturn]] inline void fail_check(const std::string& what, const char* file, int line) {
    throw std::logic_error(std::string(file) + ":" + std::to_string(line) + ": " + what);
}

inline void check(bool condition, const char* what, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
    if (!condition) fail_check(what, file, line);
}

// Checks of whole numbers, whose message has the values: "plan.cpp:47: every rank has a node (3, expected
// 4)".
template <class A, class B>
void check_equal(A value, B expected, const char* what, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE()) {
    if (!(value == expected))
        fail_check(
            std::string(what) + " (" + std::to_string(value) + ", expected " + std::to_string(expected) + ")",
            file, line);
}

template <class A, class B>
void check_at_least(A value, B least, const char* what, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
    if (!(value >= least))
        fail_check(
            std::string(what) + " (" + std::to_string(value) + ", at least " + std::to_string(least) + ")",
            file, line);
}

template <class A, class B>
void check_at_most(A value, B most, const char* what, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE()) {
    if (!(value <= most))
        fail_check(
            std::string(what) + " (" + std::to_string(value) + ", at most " + std::to_string(most) + ")",
            file, line);
}

}  // namespace keel
