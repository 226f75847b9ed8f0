#include "miniapp/schemes/amg_schemes.hpp"

#include <map>
#include <memory>

#include "kernels/hash.hpp"
#include "miniapp/schemes/scheme_choice.hpp"

namespace keel {
namespace {

// Fetches items of any length, filled with distinct numbers.
class ItemTrial : public Trial {
  public:
    ItemTrial(const SetupContext& context, std::span<const Item> needed, const std::vector<SchemeRow>& rows)
        : needed_(needed), buffers_(context.buffers()) {
        for (const SchemeRow& row : rows)
            by_row_.emplace_back(*buffers_, context.negotiator->plan(needed, row.scheme), context.comm.rank(),
                                 TransportOptions{context.comm, context.topology});
    }

    void run(std::size_t row, int times) override {
        for (int n = 0; n < times; ++n) by_row_[row].run(give, [](const Item&, std::span<const double>) {});
    }
    std::vector<double> filled(std::size_t row) override {
        std::map<Item, double> sums;  // also of forwarded items, which differ from scheme to scheme
        by_row_[row].run(give, [&](const Item& item, std::span<const double> values) {
            double& sum = sums[item] = 0;
            for (const double value : values) sum += value;
        });
        std::vector<double> all;
        for (const Item& item : needed_) all.push_back(sums.at(item));
        return all;
    }

  private:
    // Integers, so that sums are exact.
    static void give(const Item& item, std::span<double> values) {
        for (std::size_t n = 0; n < values.size(); ++n)
            values[n] = static_cast<double>(scramble(static_cast<std::uint64_t>(item.name) + n) >> 32);
    }

    std::span<const Item> needed_;
    std::unique_ptr<Operations> buffers_;
    std::vector<ItemExchange> by_row_;
};

}  // namespace

Communication communication_for(VectorEntries::Use use, const Communication& all, const AmgOptions& options) {
    Communication one = all;
    if (use != VectorEntries::Use::amg_rows && use != VectorEntries::Use::amg_partial_rows) return one;
    if (const auto rows = candidate_named(options.rows_scheme, all.scheme)) {
        one.chooser = SchemeChooser::deck;
        one.scheme = *rows;
    }
    return one;
}

SchemeOptions AmgSchemeChoice::choose(Ranks& ranks, const Communication& how, std::span<const Item> needed) {
    const Communicator& comm = ranks.context.comm;
    std::vector<SchemeOptions> schemes{how.scheme};
    if (how.chooser != SchemeChooser::deck) schemes = candidates_without_axes(how.scheme);
    if (how.chooser == SchemeChooser::automatic) {
        const Setup setup{ranks.context.topology, resolved_.model()};
        std::vector<Share> mine;
        for (const SchemeOptions& scheme : schemes)
            mine.push_back(
                share_of(ranks.context.negotiator->plan(needed, scheme), comm.rank(), scheme.columns, setup));
        const std::vector<SchemeRow> rows = times_by_nodes(comm, ranks.node, schemes, mine, setup);
        schemes = {fastest(rows).scheme};
    }
    std::vector<SchemeTable> table{
        {.use = {0, block_layout(0), VectorEntries{VectorEntries::Use::solve}}, .rows = {}}};
    for (const SchemeOptions& scheme : schemes) table[0].rows.emplace_back().scheme = scheme;
    try_transports(how, table);
    if (table[0].rows.size() == 1) return table[0].rows[0].scheme;
    tried_.push_back(time_schemes(
                         comm, {},
                         [&](const SchemeTable& one) {
                             return std::make_unique<ItemTrial>(ranks.context, needed, one.rows);
                         },
                         table, [] { return Interruption::none; })
                         .check);
    choose_schemes(how, comm, table);
    return table[0].rows[*table[0].chosen].scheme;
}

SchemeFor AmgSchemeChoice::scheme_for(const Communicator& comm, const Topology& topology,
                                      const SchemeOptions& fixed) {
    const SchemeChooser chooser = resolved_.comm.chooser;
    const bool fixes = chooser == SchemeChooser::deck;
    if (fixes && resolved_.comm.transports.empty()) return always(fixed);
    Communication how = resolved_.comm;
    if (fixes) how.scheme = fixed;
    how.scheme.columns = 1;
    const auto ranks = std::make_shared<Ranks>(
        Ranks{SetupContext{comm, topology, backend_}, comm.split(topology.node(comm.rank()))});
    return [this, how, ranks](AmgMessages what, std::span<const Item> needed) {
        Communication here = how;
        // Rows travel once, by isend.
        if (what == AmgMessages::rows) here.transports.clear();
        return choose(*ranks, here, needed);
    };
}

std::vector<Check> AmgSchemeChoice::checks() const {
    if (tried_.empty()) return {};
    Check all = tried_.front();
    all.name = "amg_items_of_schemes";
    for (const Check& one : tried_) {
        all.passed = all.passed && one.passed;
        all.value = std::max(all.value, one.value);
    }
    return {all};
}

}  // namespace keel
