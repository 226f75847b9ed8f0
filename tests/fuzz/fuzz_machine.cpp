// Machine files: no text may break reading one, and a machine that is taken reads back to the same numbers.

#include "miniapp/files/machine_file.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace keel;
    const MachineFile file = parse_machine({"machine.toml", text_of(data, size), {}});
    if (!file.errors.empty()) return 0;
    const MachineFile again = parse_machine({"machine.toml", machine_toml(file.machine, {}), {}});
    require(again.errors.empty(), "a printed machine is taken");
    require(again.machine == file.machine, "a printed machine reads back to the same numbers");
    return 0;
}
