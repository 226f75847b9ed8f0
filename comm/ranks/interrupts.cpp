#include "comm/ranks/interrupts.hpp"

#include <csignal>

namespace keel {
namespace {

// A handler of signals can reach nothing but what is static.
volatile std::sig_atomic_t noted = 0;

extern "C" void note(int) {
    noted = 1;
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

void note_interrupts() {
    for (const int signal : {SIGINT, SIGTERM})
        if (std::signal(signal, note) == SIG_IGN) std::signal(signal, SIG_IGN);
}

bool interrupt_noted() {
    return noted != 0;
}

}  // namespace keel
