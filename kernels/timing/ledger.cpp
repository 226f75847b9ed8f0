#include "kernels/timing/ledger.hpp"

#include "kernels/check.hpp"

namespace keel {

Ledger& Ledger::operator+=(const Ledger& other) {
    check_equal(other.entries_.size(), entries_.size(), "ledgers of as many levels");
    for (std::size_t n = 0; n < entries_.size(); ++n) entries_[n] += other.entries_[n];
    return *this;
}

Ledger Ledger::below(int level, int levels) const {
    Ledger other(levels, price_);
    other.device_ = device_;
    other.first_row_ = first_row_ + static_cast<int>(entries_.size());
    if (!marks_) return other;
    other.marks_ = std::make_shared<Marks>();
    other.marks_->regions = marks_->regions;
    for (int l = 0; l < levels; ++l)
        for (std::size_t op = 0; op < op_count; ++op)
            other.marks_->names.emplace_back(mark_of(static_cast<Op>(op), level));
    return other;
}

void Ledger::leave(int before) {
    if (!device_) return;
    device_->enter(before);
    const int rows = static_cast<int>(entries_.size());
    for (const auto& [row, counts] : device_->take())
        if (row < first_row_ || row >= first_row_ + rows)
            device_->put_back(row, counts);  // another ledger's
        else
            entries_[static_cast<std::size_t>(row - first_row_)].device += counts;
}

void Ledger::fold(const Ledger& other, int levels, int level) {
    for (int l = 0; l < levels; ++l)
        for (std::size_t op = 0; op < op_count; ++op)
            at(static_cast<Op>(op), level) += other.at(static_cast<Op>(op), l);
}

void Ledger::mark(Regions* regions) {
    if (!regions) return;
    if (!marks_) {
        marks_ = std::make_shared<Marks>();
        for (int level = 0; level < levels_; ++level)
            for (std::size_t op = 0; op < op_count; ++op)
                marks_->names.push_back(std::string(name(static_cast<Op>(op))) + " level " +
                                        std::to_string(level));
    }
    marks_->regions.push_back(regions);
}

}  // namespace keel
