#pragma once

// The parts of a node, as its system describes them in /proc and /sys.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace keel {

struct NetworkDevice {
    std::string name;                       // "mlx5_0"
    std::string driver;                     // "mlx5_core"; empty if unknown
    std::optional<double> bits_per_second;  // of its port
};
struct Gpu {
    std::string model;   // "NVIDIA H200", or the numbers of vendor and device on the PCI bus
    std::string driver;  // "nvidia 550.54.15"
};

// Nothing where the system does not say; an empty list where it has none.
struct Hardware {
    std::optional<std::string> processor;  // the model
    std::optional<int> sockets;
    std::optional<int> cores;
    std::optional<int> threads;   // processors that the system schedules on
    std::optional<double> hertz;  // the highest clock; the present one where only that is known
    std::optional<double> memory_bytes;
    std::optional<std::string> memory_type;  // "Registered-DDR4"
    std::optional<std::vector<NetworkDevice>> network;
    std::optional<std::vector<Gpu>> gpus;
};
// `root` stands for / of the file system.
Hardware hardware_of(const std::filesystem::path& root = "/");

// "2 x AMD EPYC 7763 64-Core Processor, 128 cores, 3.5 GHz; 540 GB; ..." of what is known.
std::string text_of(const Hardware& hardware);

}  // namespace keel
