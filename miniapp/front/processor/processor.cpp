// Ends a program that was compiled for another processor with a message, where it would end with an illegal
// instruction. It runs before constructors of the program's other objects, and is compiled for every
// processor of the architecture. It calls functions of C alone: of an inline function or a template of the
// C++ library the linker may keep a copy that was compiled for the build's processor.

#include <string.h>
#include <unistd.h>

#include "features.hpp"

#define KEEL_NAME(macro, name, present) name,
#define KEEL_PRESENT(macro, name, present) static_cast<bool>(present),

namespace keel {

extern const bool build_needs[];  // for each feature whether the build may use it

namespace {

constexpr const char* names[] = {KEEL_FEATURES(KEEL_NAME)};
constexpr size_t features = sizeof names / sizeof names[0];

// A text in lines of at most 100 columns; words beyond its room are left out.
struct Message {
    char text[2048] = {};
    size_t size = 0;
    size_t column = 0;

    void add(const char* word, const char* behind = "") {
        const size_t length = strlen(word) + strlen(behind);
        if (size + length + 6 > sizeof text) return;
        const bool breaks = column + length > 99;
        size += strlen(strcat(text + size, breaks ? "\n    " : column > 4 ? " " : ""));
        size += strlen(strcat(text + size, word));
        size += strlen(strcat(text + size, behind));
        column = (breaks ? 4 : column + (column > 4 ? 1 : 0)) + length;
    }
    void add(const bool* marked) {
        size_t left = 0;
        for (size_t n = 0; n < features; ++n) left += marked[n] ? 1 : 0;
        for (size_t n = 0; n < features; ++n)
            if (marked[n]) add(names[n], --left > 0 ? "," : "");
    }
    void end_line() { column = 100; }
};

// 101 is the first priority that is not the compiler's own.
__attribute__((constructor(101), used)) void refuse_foreign_processor() {
    const bool present[] = {KEEL_FEATURES(KEEL_PRESENT)};
    bool lacking[features];
    bool fits = true;
    for (size_t n = 0; n < features; ++n) {
        lacking[n] = build_needs[n] && !present[n];
        fits = fits && !lacking[n];
    }
    if (fits) return;
    char host[65] = {};
    gethostname(host, sizeof host - 1);
    Message message;
    message.add("keel: the processor of");
    message.add(host);
    message.add("lacks");
    message.add(lacking);
    message.end_line();
    message.add("Keel was compiled for one that has");
    message.add(build_needs);
    message.end_line();
    message.add("compile it on such a node as it is to run on, or for all: cmake -DKEEL_NATIVE=OFF");
    message.text[message.size] = '\n';
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, message.text, message.size + 1);
    _exit(2);
}

}  // namespace
}  // namespace keel
