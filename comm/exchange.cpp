#include "comm/exchange.hpp"

#include "kernels/check.hpp"

namespace keel {
namespace {

std::vector<Segment> segments(const std::vector<Message>& messages, const Layout& layout, int Need::*box,
                              Region Need::*cells) {
    std::vector<Segment> list;
    for (const Message& message : messages) {
        std::size_t offset = message.offset;
        for (const Need& need : message.needs) {
            list.push_back({layout.local_index(need.*box), need.*cells, offset});
            offset += need.source.cells();
        }
    }
    return list;
}

class PlannedExchange : public Exchange {
  public:
    PlannedExchange(Operations& operations, Plan plan, const ExchangeOptions& options,
                    const Transport& transport)
        : operations_(operations), plan_(std::move(plan)), options_(options), messages_(transport(plan_)) {
        const Layout& layout = operations.layout();
        const auto sends = segments(plan_.sends, layout, &Need::from, &Need::source);
        const auto receives = segments(plan_.receives, layout, &Need::to, &Need::target);
        std::vector<CopyItem> copies;
        for (const Need& need : plan_.copies)
            copies.push_back(
                {layout.local_index(need.from), need.source, layout.local_index(need.to), need.target});
        packed_ = operations.make_items(std::span<const Segment>(sends));
        unpacked_ = operations.make_items(std::span<const Segment>(receives));
        copied_ = operations.make_items(std::span<const CopyItem>(copies));
        PlannedExchange::reserve(1);
    }

    void begin(std::span<const Field> u) override {
        check(!under_way_, "an exchange is begun while the one before is under way");
        under_way_ = true;
        ++count_;
        reserve(u.size());
        fields_.assign(u.begin(), u.end());
        if (has_messages()) {
            operations_.pack(send_, packed_, u);
            messages_->start(send_.wire, receive_.wire, u.size());
        }
        if (copied_.count > 0) operations_.copy_cells(u, copied_);
    }

    void finish() override {
        check(under_way_, "no exchange is under way");
        under_way_ = false;
        if (!has_messages()) return;
        messages_->wait();
        operations_.unpack(fields_, unpacked_, receive_);
    }

    void reserve(std::size_t fields) override {
        if (fields <= room_) return;
        send_ = operations_.make_buffer(plan_.send_values() * fields, options_.wire);
        receive_ = operations_.make_buffer(plan_.receive_values() * fields, options_.wire);
        fields_.reserve(fields);
        room_ = fields;
    }

    long count() const override { return count_; }
    bool overlaps() const override { return options_.overlap && has_messages(); }
    const Plan& plan() const override { return plan_; }

  private:
    bool has_messages() const { return !plan_.sends.empty() || !plan_.receives.empty(); }

    Operations& operations_;
    Plan plan_;
    ExchangeOptions options_;
    std::unique_ptr<PointToPoint> messages_;
    Items<Segment> packed_, unpacked_;
    Items<CopyItem> copied_;
    Buffer send_, receive_;
    std::vector<Field> fields_;
    std::size_t room_ = 0;
    long count_ = 0;
    bool under_way_ = false;
};

}  // namespace

std::unique_ptr<Exchange> make_exchange(Operations& operations, Plan plan, const ExchangeOptions& options,
                                        const Transport& transport) {
    return std::make_unique<PlannedExchange>(operations, std::move(plan), options, transport);
}

}  // namespace keel
