// The regions of Caliper, without Caliper: its functions are those of this file.

#include <caliper/cali.h>

#include <catch2/catch.hpp>
#include <string>

#include "kernels/timing/ledger.hpp"
#include "kernels/timing/regions.hpp"

namespace {

std::string& told() {
    static std::string text;
    return text;
}

}  // namespace

void cali_begin_region(const char* name) {
    told() += "<" + std::string(name) + ">";
}
void cali_end_region(const char* name) {
    told() += "</" + std::string(name) + ">";
}

using namespace keel;

TEST_CASE("Caliper is told of what is timed, as a region each") {
    const auto regions = make_regions();
    REQUIRE(regions);
    Ledger ledger(4);
    ledger.mark(regions.get());
    told().clear();
    timed(ledger, Op::reduction, 3, [] {});
    timed(ledger, Op::smooth, 0, [&] { timed(ledger, Op::pack, 0, [] {}); });
    CHECK(told() ==
          "<reduction level 3></reduction level 3>"
          "<smooth level 0><exchange.pack level 0></exchange.pack level 0></smooth level 0>");
}
