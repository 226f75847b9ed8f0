#include "comm/reductions/tape.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/check.hpp"

namespace keel {
namespace {

class TapedReduction : public DecoratedReduction {
  public:
    TapedReduction(std::unique_ptr<Reduction> inner, Tape& tape)
        : DecoratedReduction(std::move(inner)), tape_(tape) {}

    void sum(std::span<const double> parts, std::span<double> totals) override {
        DecoratedReduction::sum(parts, totals);
        tape_.pass(totals);
    }
    void sum(std::span<const double> parts, std::span<DoubleDouble> totals) override {
        DecoratedReduction::sum(parts, totals);
        for (DoubleDouble& total : totals) {
            std::array words{total.high, total.low};
            tape_.pass(words);
            total = {words[0], words[1]};
        }
    }
    double max(double value) override {
        double result = DecoratedReduction::max(value);
        tape_.pass({&result, 1});
        return result;
    }

  protected:
    void finish(int slot, std::span<double> totals) override {
        DecoratedReduction::finish(slot, totals);
        tape_.pass(totals);
    }

  private:
    Tape& tape_;
};

}  // namespace

void Tape::begin(Mode mode) {
    mode_ = mode;
    next_ = next_part_ = 0;
    if (mode != Mode::record) return;
    totals_.clear();
    parts_.clear();
}

void Tape::begin_part() {
    if (mode_ == Mode::record) return parts_.push_back(totals_.size());
    check(!parts_.empty(), "a replayed solve has parts where the recorded one has");
    if (next_part_ == parts_.size() && next_part_ > 1) next_part_ = 1;
    next_ = parts_[std::min(next_part_, parts_.size() - 1)];
    ++next_part_;
}

void Tape::pass(std::span<double> totals) {
    if (mode_ == Mode::record) {
        totals_.insert(totals_.end(), totals.begin(), totals.end());
        return;
    }
    check_at_most(next_ + totals.size(), totals_.size(), "a replayed solve has the totals of a recorded one");
    std::copy_n(totals_.begin() + static_cast<std::ptrdiff_t>(next_), totals.size(), totals.begin());
    next_ += totals.size();
}

std::unique_ptr<Reduction> taped(std::unique_ptr<Reduction> inner, Tape& tape) {
    return std::make_unique<TapedReduction>(std::move(inner), tape);
}

}  // namespace keel
