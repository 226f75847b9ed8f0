#pragma once

// The device of each rank, among those that the ranks of a node see.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "comm/ranks/topology.hpp"
#include "miniapp/setup/machine/processors.hpp"

namespace keel {

// The processors beside the device with this PCI address; none if the system does not list them.
Processors processors_beside(std::string pci_address, const std::filesystem::path& root = "/");

// A device as a rank sees it.
struct SeenDevice {
    std::int64_t id = 0;  // the same on all ranks of the node
    bool near = false;    // the rank may run on a processor beside it
};
// The device of each rank of a node, as an index into those that the rank sees: a near one while that has
// less than its share of the ranks, else the one with the fewest ranks.
std::vector<int> devices_of_ranks(const std::vector<std::vector<SeenDevice>>& of_ranks);

// The number of this rank's device. Collective.
int device_of_rank(const std::string& backend, const Topology& detected, const Communicator& comm);

}  // namespace keel
