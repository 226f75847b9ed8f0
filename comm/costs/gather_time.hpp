#pragma once

// The time that gathering takes on a machine: its rounds one after the other, each from its real messages, as a phase of a plan. Pure.

#include <cstddef>

#include "comm/costs/machine.hpp"
#include "comm/ranks/locality.hpp"

namespace keel {

// Seconds until each rank has so many doubles of every other: Bruck's rounds, as many as doublings, in which a rank passes on
// twice what it passed on before (Bruck and others, "Efficient algorithms for all-to-all communications in multiport
// message-passing systems", TPDS 1997). Throws MissingParameter.
double all_gather_time(const Machine& machine, const RankPlaces& ranks, std::size_t words);

// Until the first rank has them, up a binomial tree; as long as it takes down again. Throws MissingParameter.
double gather_time(const Machine& machine, const RankPlaces& ranks, std::size_t words);

}  // namespace keel
