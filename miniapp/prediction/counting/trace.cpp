#include "miniapp/prediction/counting/trace.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace keel {
namespace {

class RecordedExchange : public Exchange {
  public:
    RecordedExchange(std::unique_ptr<Exchange> inner, Recorder& recorder, int level, ExchangeUse use,
                     std::size_t value_bytes)
        : inner_(std::move(inner)),
          recorder_(recorder),
          level_(level),
          use_(use),
          value_bytes_(value_bytes) {}

    void begin(std::span<const Field> u, std::optional<Colour> colour) override {
        recorder_.note({.kind = Event::Kind::exchange,
                        .level = level_,
                        .use = use_,
                        .fields = u.size(),
                        .value_bytes = value_bytes_,
                        .one_colour = colour.has_value()});
        inner_->begin(u, colour);
    }
    void finish() override { inner_->finish(); }
    void send_in(Precision precision) override {
        value_bytes_ = bytes_of_value(precision);
        inner_->send_in(precision);
    }
    void reserve(std::size_t fields) override { inner_->reserve(fields); }
    long count() const override { return inner_->count(); }
    bool overlaps() const override { return inner_->overlaps(); }
    std::optional<Items<BlockCopy>> copies_alone() const override { return inner_->copies_alone(); }
    const Plan& plan() const override { return inner_->plan(); }

  private:
    std::unique_ptr<Exchange> inner_;
    Recorder& recorder_;
    int level_;
    ExchangeUse use_;
    std::size_t value_bytes_;
};

class RecordedReduction : public DecoratedReduction {
  public:
    RecordedReduction(std::unique_ptr<Reduction> inner, Recorder& recorder, int level)
        : DecoratedReduction(std::move(inner)), recorder_(recorder), level_(level) {}

    void sum(std::span<const double> parts, std::span<double> totals) override {
        note({.kind = Event::Kind::all_reduce}, [&] { DecoratedReduction::sum(parts, totals); });
    }
    void sum(std::span<const double> parts, std::span<DoubleDouble> totals) override {
        note({.kind = Event::Kind::all_reduce, .summands = WordType::double_double},
             [&] { DecoratedReduction::sum(parts, totals); });
    }
    double max(double value) override {
        note({.kind = Event::Kind::all_reduce, .maximum = true},
             [&] { value = DecoratedReduction::max(value); });
        return value;
    }
    AllReduceRequest begin_sum(std::span<const double> parts, std::size_t sums) override {
        const long before = count().words;
        const int number = DecoratedReduction::begin_sum(parts, sums).slot();
        note_words({.kind = Event::Kind::begin_all_reduce, .number = number}, before);
        ++in_flight_;
        return {*this, number};
    }
    bool progress() override {
        if (in_flight_ > 0) recorder_.note({.kind = Event::Kind::progress, .level = level_});
        return DecoratedReduction::progress();
    }

  protected:
    void finish(int number, std::span<double> totals) override {
        recorder_.note({.kind = Event::Kind::finish_all_reduce, .level = level_, .number = number});
        --in_flight_;
        DecoratedReduction::finish(number, totals);
    }

  private:
    // The work before the sum is done when it begins; its words are known behind.
    template <class Action>
    void note(const Event& event, const Action& action) {
        const long before = count().words;
        action();
        note_words(event, before);
    }
    void note_words(Event event, long before) {
        event.level = level_;
        event.words = static_cast<std::size_t>(count().words - before);
        recorder_.note(event);
    }

    Recorder& recorder_;
    int level_;
    int in_flight_ = 0;
};

}  // namespace

Recorder::Recorder(Hierarchy& hierarchy, const Ledger& ledger) : ledger_(ledger), seen_(ledger) {
    const auto record_level = [&](int l, Level& level, Precision precision) {
        const auto record = [&](std::unique_ptr<Exchange>& exchange, GhostCells::Purpose purpose) {
            if (exchange)
                exchange = std::make_unique<RecordedExchange>(std::move(exchange), *this, l, purpose,
                                                              bytes_of_value(precision));
        };
        record(level.ghosts, GhostCells::Purpose::stencil);
        record(level.all_ghosts, GhostCells::Purpose::interpolation);
        record(level.deep_ghosts,
               level.fused > 0 ? GhostCells::Purpose::smoothing : GhostCells::Purpose::powers);
        if (!level.reduction) return;
        level.reduction = std::make_unique<RecordedReduction>(std::move(level.reduction), *this, l);
    };
    const auto record_moves = [&](int l, LevelRedistribution& moved, Precision precision) {
        moved.before_moves([this, l, precision](Way way) {
            note({.kind = Event::Kind::exchange,
                  .level = l,
                  .use = way,
                  .fields = 1,
                  .value_bytes = bytes_of_value(precision)});
        });
    };
    for (int l = 0; l < hierarchy.levels(); ++l) {
        const Precision of_cycles = hierarchy.mixed() ? Precision::fp32 : Precision::fp64;
        if (LevelRedistribution* const moved = hierarchy.redistribution(l)) {
            record_level(l, moved->before(), of_cycles);
            record_moves(l, *moved, of_cycles);
        }
        if (!hierarchy.has(l)) continue;
        record_level(l, hierarchy.level(l), Precision::fp64);
        if (hierarchy.mixed()) record_level(l, hierarchy.cycled(l), Precision::fp32);
    }
}

Recorder::Recorder(SparseMatrix& matrix, const Ledger& ledger) : ledger_(ledger), seen_(ledger) {
    record(matrix, 0, VectorEntries::Use::solve);
}

Recorder::Recorder(AmgHierarchy& hierarchy, const Ledger& ledger) : ledger_(ledger), seen_(ledger) {
    using Use = VectorEntries::Use;
    for (std::size_t l = 0; l < hierarchy.levels(); ++l) {
        const int level = static_cast<int>(l);
        AmgLevel& at = hierarchy.level(l);
        record(*at.A, level, Use::amg_values);
        if (at.transfer)
            at.transfer->decorate(recorded(level, Use::amg_transfers), recorded(level, Use::amg_returns));
    }
}

std::function<std::unique_ptr<Exchange>(std::unique_ptr<Exchange>)> Recorder::recorded(
    int level, VectorEntries::Use use) {
    return [this, level, use](std::unique_ptr<Exchange> exchange) {
        return std::make_unique<RecordedExchange>(std::move(exchange), *this, level, use, sizeof(double));
    };
}

void Recorder::record(SparseMatrix& matrix, int level, VectorEntries::Use use) {
    matrix.decorate(recorded(level, use), [this, level](std::unique_ptr<Reduction> reduction) {
        return std::make_unique<RecordedReduction>(std::move(reduction), *this, level);
    });
}

Trace Recorder::take() {
    note_work();
    move_.reset();
    return std::exchange(trace_, {});
}

void Recorder::note(const Event& event) {
    note_work();
    if (event.kind == Event::Kind::exchange) {
        packs_ = !std::holds_alternative<VectorEntries::Use>(event.use);
        move_ = std::holds_alternative<Way>(event.use) ? std::optional(trace_.size()) : std::nullopt;
    }
    trace_.push_back(event);
}

void Recorder::note_work() {
    for (int level = 0; level < ledger_.levels(); ++level)
        for (std::size_t n = 0; n < op_count; ++n) {
            const Op op = static_cast<Op>(n);
            const Entry& now_there = ledger_.at(op, level);
            const Entry& seen = seen_.at(op, level);
            if (now_there.calls == seen.calls && now_there.device == seen.device &&
                now_there.work.bytes == seen.work.bytes)
                continue;
            const Entry before = std::exchange(seen_.at(op, level), now_there);
            if (move_ && op == Op::send) trace_[*move_].sent = volume_of(now_there.traffic - before.traffic);
            // The rest of an exchange is known by its plan, and a reduction has an event.
            const bool packs = op == Op::pack || op == Op::unpack;
            if (op == Op::send || op == Op::wait || (packs && !packs_) || is_reduction(op)) continue;
            trace_.push_back(
                {.kind = Event::Kind::work,
                 .level = level,
                 .op = op,
                 .calls = now_there.calls - before.calls,
                 .work = {now_there.work.flops - before.work.flops, now_there.work.bytes - before.work.bytes},
                 .device = now_there.device - before.device});
        }
}

}  // namespace keel
