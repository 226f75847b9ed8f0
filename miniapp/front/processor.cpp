// Ends a program that was compiled for another processor with a message, where the system would say "Illegal
// instruction". Constructors of the program's other objects run later.

#include <signal.h>
#include <unistd.h>

namespace {

// Calls the system alone: other code may be compiled for the processor that is not there.
extern "C" void refuse_foreign_processor(int /*signal*/) {
    static constexpr char message[] =
        "keel: an instruction that this processor does not know: Keel was compiled for another one.\n"
        "    Compile it on such a node as it is to run on, or for all: cmake -DKEEL_NATIVE=OFF\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    _exit(2);
}

// 101 is the first priority that is not the compiler's own.
__attribute__((constructor(101), used)) void watch_for_foreign_processor() {
    signal(SIGILL, refuse_foreign_processor);
}

}  // namespace
