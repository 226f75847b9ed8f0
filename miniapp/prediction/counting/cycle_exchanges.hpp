#pragma once

// The exchanges of a cycle in the middle of a solve, by executing it on a counting backend.

#include <cstddef>
#include <map>
#include <tuple>

#include "miniapp/schemes/scheme_table.hpp"
#include "miniapp/setup/grid_setup.hpp"

namespace keel {

struct ExchangeCount {
    int all = 0;
    int of_one_colour = 0;  // want one colour alone
};

class CycleExchanges {
  public:
    // A V-cycle of a solve and its test, of full approximation, or of a preconditioner; the bottom is relaxed
    // in place of its solver. As the rank that `grids` names makes it.
    CycleExchanges(const GridSetup& grids, const Topology& topology);

    ExchangeCount of(const SchemeUse& use) const;

  private:
    std::map<std::tuple<int, ExchangeUse, std::size_t>, ExchangeCount>
        counts_;  // by level and bytes of a value
};

}  // namespace keel
