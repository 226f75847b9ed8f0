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
    PlannedExchange(Operations& operations, Plan plan, const Transport& transport)
        : operations_(operations), plan_(std::move(plan)), messages_(transport(plan_)) {
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
        reserve(1);
    }

    void begin(std::span<const Field> u) override {
        check(!under_way_, "an exchange is begun while the one before is under way");
        under_way_ = true;
        ++count_;
        reserve(u.size());
        fields_.assign(u.begin(), u.end());
        if (packed_.count > 0) operations_.pack(send_, packed_, u);
        if (!plan_.sends.empty() || !plan_.receives.empty())
            messages_->start(send_.data, receive_.data, u.size());
        if (copied_.count > 0) operations_.copy_cells(u, copied_);
    }

    void finish() override {
        check(under_way_, "no exchange is under way");
        under_way_ = false;
        if (!plan_.sends.empty() || !plan_.receives.empty()) messages_->wait();
        if (unpacked_.count > 0) operations_.unpack(fields_, unpacked_, receive_);
    }

    long count() const override { return count_; }
    const Plan& plan() const override { return plan_; }

  private:
    void reserve(std::size_t fields) {
        if (fields <= room_) return;
        send_ = operations_.make_buffer(plan_.send_values() * fields);
        receive_ = operations_.make_buffer(plan_.receive_values() * fields);
        fields_.reserve(fields);
        room_ = fields;
    }

    Operations& operations_;
    Plan plan_;
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

std::unique_ptr<Exchange> make_exchange(Operations& operations, Plan plan, const Transport& transport) {
    return std::make_unique<PlannedExchange>(operations, std::move(plan), transport);
}

}  // namespace keel
