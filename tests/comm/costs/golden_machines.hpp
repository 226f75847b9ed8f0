#pragma once

// The machines of tests/golden/models.json.

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "comm/costs/machine.hpp"

namespace keel::test {

inline const nlohmann::json& golden_models() {
    static const nlohmann::json models =
        nlohmann::json::parse(std::ifstream(std::string(KEEL_SOURCE_DIR) + "/tests/golden/models.json"));
    return models;
}

inline MessageCosts golden_costs(const nlohmann::json& set) {
    MessageCosts costs;
    costs.eager_from = set.at("cut").at(0);
    costs.rendezvous_from = set.at("cut").at(1);
    const std::pair<const char*, Locality> places[] = {
        {"on_socket", Locality::socket}, {"on_node", Locality::node}, {"off_node", Locality::off_node}};
    const std::pair<const char*, Protocol> protocols[] = {
        {"short", Protocol::short_}, {"eager", Protocol::eager}, {"rend", Protocol::rendezvous}};
    for (const auto& [place, locality] : places)
        for (const auto& [word, protocol] : protocols)
            if (set.at(place).contains(word)) {
                const nlohmann::json& cost = set.at(place).at(word);
                costs.at(locality, protocol) = Postal{cost.at(0), cost.at(1)};
            }
    return costs;
}

// "blue_waters", or "lassen" with its devices and copies.
inline Machine golden_machine(const nlohmann::json& golden, const std::string& name) {
    const nlohmann::json& sets = golden.at("machines");
    const nlohmann::json& host = sets.at(name);
    Machine machine;
    machine.name = name;
    machine.ranks_per_node = host.at("ppn").get<int>();
    machine.ranks_per_socket = host.at("pps").get<int>();
    machine.injection_beta = host.at("betaN").get<double>();
    machine.messages[0] = golden_costs(host);
    if (name != "lassen") return machine;
    machine.gpus_per_node = sets.at("lassen_gpu").at("gpn").get<int>();
    machine.gpus_per_socket = sets.at("lassen_gpu").at("gps").get<int>();
    machine.messages[1] = golden_costs(sets.at("lassen_gpu"));
    machine.messages[2] = golden_costs(sets.at("lassen_svm"));
    for (const int processes : {1, 4, 8, 10}) {
        const nlohmann::json& copy = sets.at("lassen_copy").at(std::to_string(processes));
        machine.copies.push_back({processes, Postal{copy.at("H2D").at(0), copy.at("H2D").at(1)},
                                  Postal{copy.at("D2H").at(0), copy.at("D2H").at(1)}});
    }
    return machine;
}

}  // namespace keel::test
