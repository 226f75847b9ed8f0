#include "miniapp/front/reporter.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "kernels/timing/ledger.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/report/records/records.hpp"

namespace keel {
namespace {

class ReporterOfRank : public Reporter {
  public:
    ReporterOfRank(bool speaks, const DeckFacts& deck, RecordFile& file)
        : speaks_(speaks), deck_(deck), file_(file) {}

    void begin(const RunFacts& facts) override {
        if (!speaks_) return;
        tell(header_text(deck_, facts) + "\n");
        record(line_of(run_record(deck_, facts)));
    }
    void tell(const std::string& text) override {
        if (!speaks_) return;
        fmt::print("{}", wrapped_lines(text));
        write_out();
    }
    void record(const std::string& lines) override {
        if (speaks_) file_.append(lines);
    }

  private:
    bool speaks_;
    const DeckFacts& deck_;
    RecordFile& file_;
};

// Whether somebody may be watching stderr: it is a terminal or, as under mpiexec, a pipe of a process that
// has one.
bool watched() {
    if (isatty(STDERR_FILENO) != 0) return true;
    struct stat about {};
    if (fstat(STDERR_FILENO, &about) != 0 || !S_ISFIFO(about.st_mode)) return false;
    const int terminal = open("/dev/tty", O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (terminal >= 0) close(terminal);
    return terminal >= 0;
}

class ProgressOnStderr : public Progress {
  public:
    ProgressOnStderr(bool speaks, bool verbose)
        : speaks_(speaks && (verbose || watched())), verbose_(verbose) {}

    void say(const std::string& what) override { print(what); }

    void say(const std::string& what, int done, int all) override {
        const double time = now();
        if (done == 1) begun_ = time;
        // The first tells how long one takes.
        const double left = done > 1 ? (time - begun_) / (done - 1) * (all - done) : 0;
        print(fmt::format("{} ({} of {}{}{})", what, done, done > all ? "at least " : "", all,
                          done > 1 && done < all ? ", " + seconds_text(left) + " left" : ""));
    }

  private:
    void print(const std::string& line) {
        if (!speaks_) return;
        const double time = now();
        if (!verbose_ && time < next_) return;
        next_ = time + 1;
        fmt::print(stderr, "keel: {}\n", line);
    }

    bool speaks_;
    bool verbose_;
    double next_ = 0;
    double begun_ = 0;
};

}  // namespace

void write_out() {
    if (std::fflush(stdout) != 0)
        fmt::print(stderr, "keel: standard output could not be written: {}\n",
                   std::generic_category().message(errno));
}

std::unique_ptr<Reporter> make_reporter(bool speaks, const DeckFacts& deck, RecordFile& file) {
    return std::make_unique<ReporterOfRank>(speaks, deck, file);
}

std::unique_ptr<Progress> make_progress(bool speaks, bool verbose) {
    return std::make_unique<ProgressOnStderr>(speaks, verbose);
}

}  // namespace keel
