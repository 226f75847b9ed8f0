#pragma once

// Sums of the Keel benchmark over the solves that the solve mode measures.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "miniapp/modes/grids/benchmark/rules.hpp"
#include "miniapp/report/findings.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/report/tables/table.hpp"

namespace keel::benchmark {

// Keeps the records of a solve; the report of the first problem is the run's as well.
class KeptRecords : public Reporter {
  public:
    explicit KeptRecords(Reporter* shown) : shown_(shown) {}
    void begin(const RunFacts& facts) override {
        if (shown_) shown_->begin(facts);
    }
    void tell(const std::string& text) override {
        if (shown_) shown_->tell(text);
    }
    void record(const std::string& lines) override;

    std::vector<Json> solves, timers;

  private:
    Reporter* shown_;
};

// Sums over the problems on the grids of one spacing: of a solve each, whose seconds are medians, unless said
// otherwise.
struct GridSums {
    RunFacts facts;
    double seconds = 0;
    double setup_seconds = 0;  // with trials of communication schemes
    double cycles = 0;
    double moved = 0, sent = 0;           // bytes
    double busy = 0, busy_at_bottom = 0;  // seconds by operation
    double smoothing = 0, smoothed = 0;   // seconds and bytes of the smoother on the finest level
    double measured_seconds = 0;          // of all measured solves
    long solves = 0;                      // all measured ones
    long converged = 0;                   // of these
    double tolerance = 0;
    std::vector<std::optional<double>> digits = {};  // by problem
};

// Adds the checks, of which the worse of a name is kept, and the solves of a problem.
void add_findings(const Findings& one, Findings& all);

// Adds a problem. Its solves are alike: the first has the counts of all.
void add_problem(const char* spacing, const Case& problem, const Findings& one, const KeptRecords& kept,
                 GridSums& grid, ReportTable& problems);

// A solve of each problem together.
double dof_per_second(const GridSums& grid);

// The bandwidth of the smoother on the finest level, over those of the triad and of the devices' data sheet.
std::string smoother_text(const GridSums& grid);

void add_grid(const char* spacing, const GridSums& grid, ReportTable& grids);

}  // namespace keel::benchmark
