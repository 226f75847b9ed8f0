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

// A text in lines of at most 100 columns; words that it has no room for are left out.
class Message {
  public:
    void add(const char* words) {
        for (const char* word = words; *word != '\0';) {
            const size_t length = strcspn(word, " ");
            if (column_ > 4) column_ + length > 98 ? break_line() : append(" ", 1);
            append(word, length);
            word += length;
            word += strspn(word, " ");
        }
    }
    void add(const bool* listed) {
        bool first = true;
        for (size_t n = 0; n < features; ++n) {
            if (!listed[n]) continue;
            if (!first) append(",", 1);
            add(names[n]);
            first = false;
        }
    }
    void break_line() {
        append("\n    ", 5);
        column_ = 4;
    }
    void print() {
        append("\n", 1);
        size_t done = 0;
        for (ssize_t n = 1; n > 0 && done < size_; done += static_cast<size_t>(n < 0 ? 0 : n))
            n = write(STDERR_FILENO, text_ + done, size_ - done);
    }

  private:
    void append(const char* text, size_t length) {
        if (size_ + length > sizeof text_) return;
        memcpy(text_ + size_, text, length);
        size_ += length;
        column_ += length;
    }
    char text_[2048];
    size_t size_ = 0;
    size_t column_ = 0;
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
    message.break_line();
    message.add("Keel was compiled for one that has");
    message.add(build_needs);
    message.break_line();
    message.add("compile it on such a node as it is to run on, or for all: cmake -DKEEL_NATIVE=OFF");
    message.print();
    _exit(2);
}

}  // namespace
}  // namespace keel
