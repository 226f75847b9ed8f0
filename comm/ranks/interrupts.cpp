#include "comm/ranks/interrupts.hpp"

namespace keel {
namespace {

// A handler of signals can reach nothing but what is static.
volatile std::sig_atomic_t asked_here = 0;

extern "C" void note(int) {
    asked_here = 1;
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
}

void catch_unless_ignored(int signal, struct sigaction& before) {
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) return;
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
}

}  // namespace

Interrupts::Interrupts() {
    asked_here = 0;
    catch_unless_ignored(SIGINT, interrupt_before_);
    catch_unless_ignored(SIGTERM, terminate_before_);
}

Interrupts::~Interrupts() {
    sigaction(SIGINT, &interrupt_before_, nullptr);
    sigaction(SIGTERM, &terminate_before_, nullptr);
}

bool Interrupts::asked() const {
    return asked_here != 0;
}

}  // namespace keel
