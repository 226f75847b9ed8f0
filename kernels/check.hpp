#pragma once

// Programming mistakes (not user errors) end the run with a message; always on. C++17, for device compilers:
// the compiler gives the place, as std::source_location would, and a default argument is that of the caller.

#include <stdexcept>
#include <string>

namespace keel {

// Failures are functions of their own, so that checks stay short where they are inlined.
[[noreturn, gnu::noinline, gnu::cold]] inline void fail_check(const std::string& what, const char* file,
                                                              int line) {
    throw std::logic_error(std::string(file) + ":" + std::to_string(line) + ": " + what);
}
[[noreturn, gnu::noinline, gnu::cold]] inline void fail_check(const char* what, const char* file, int line) {
    fail_check(std::string(what), file, line);
}
template <class A, class B>
[[noreturn, gnu::noinline, gnu::cold]] void fail_comparison(const char* what, A value, const char* relation,
                                                            B bound, const char* file, int line) {
    fail_check(std::string(what) + " (" + std::to_string(value) + ", " + relation + " " +
                   std::to_string(bound) + ")",
               file, line);
}

inline void check(bool condition, const char* what, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
    if (!condition) fail_check(what, file, line);
}

// Checks of whole numbers. The message has the values: "plan.cpp:47: every rank has a node (3, expected 4)".
template <class A, class B>
void check_equal(A value, B expected, const char* what, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE()) {
    if (!(value == expected)) fail_comparison(what, value, "expected", expected, file, line);
}

template <class A, class B>
void check_at_least(A value, B least, const char* what, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
    if (!(value >= least)) fail_comparison(what, value, "at least", least, file, line);
}

template <class A, class B>
void check_at_most(A value, B most, const char* what, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE()) {
    if (!(value <= most)) fail_comparison(what, value, "at most", most, file, line);
}

}  // namespace keel
