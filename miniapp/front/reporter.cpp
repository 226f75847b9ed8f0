#include "miniapp/front/reporter.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <system_error>

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

}  // namespace

void write_out() {
    if (std::fflush(stdout) != 0)
        fmt::print(stderr, "keel: standard output could not be written: {}\n",
                   std::generic_category().message(errno));
}

std::unique_ptr<Reporter> make_reporter(bool speaks, const DeckFacts& deck, RecordFile& file) {
    return std::make_unique<ReporterOfRank>(speaks, deck, file);
}

}  // namespace keel
