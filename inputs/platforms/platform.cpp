// A machine for SimGrid, by the words "key=value" in KEEL_PLATFORM, which scripts/simulate makes of a
// machine's file and a platform's. Every node has a link of its own to the fabric and one inside: latency on
// a link can be overlapped, which what SMPI charges a process for a message cannot. SimGrid's XML has no such
// links. A message over h hops takes
//   overhead of both ends (smpi/os, smpi/or) + 2 nic_latency + h hop
// and its bytes; what one of another protocol takes besides is latency, too: SimGrid's factor on the rate
// would take as much more of the links that are shared.

#include <cstdlib>
#include <map>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace s4u = simgrid::s4u;
using simgrid::kernel::routing::NetPoint;

class Words {
  public:
    explicit Words(const std::string& text) {
        std::istringstream words(text);
        for (std::string word; words >> word;) {
            const std::size_t equals = word.find('=');
            values_[word.substr(0, equals)] = equals == std::string::npos ? "" : word.substr(equals + 1);
        }
    }
    const std::string& text(const std::string& key) const {
        const auto found = values_.find(key);
        if (found == values_.end())
            throw std::invalid_argument("KEEL_PLATFORM has no " + key + "; start keel with scripts/simulate");
        return found->second;
    }
    double number(const std::string& key) const { return std::stod(text(key)); }
    std::vector<unsigned> counts(const std::string& key) const {  // "4,4,2"
        std::vector<unsigned> all;
        std::istringstream parts(text(key));
        for (std::string part; std::getline(parts, part, ',');)
            all.push_back(static_cast<unsigned>(std::stoul(part)));
        return all;
    }

  private:
    std::map<std::string, std::string> values_;
};

// Seconds of a class's messages by their bytes, beyond the latency of links and bytes at the fastest rate.
class Protocols {
  public:
    // "bytes from which on:seconds:seconds a byte;..."
    explicit Protocols(const std::string& text) {
        std::istringstream parts(text);
        for (std::string part; std::getline(parts, part, ';');) {
            std::istringstream numbers(part);
            Protocol& one = all_.emplace_back();
            char colon = ':';
            numbers >> one.begin >> colon >> one.seconds >> colon >> one.each_byte;
        }
    }
    double more(double bytes) const {
        double seconds = 0;
        for (const Protocol& one : all_)
            if (one.begin <= bytes) seconds = one.seconds + bytes * one.each_byte;
        return seconds;
    }

  private:
    struct Protocol {
        double begin = 0, seconds = 0, each_byte = 0;
    };
    std::vector<Protocol> all_;
};

// Host "nid<id>", whose ranks send to each other through `inner` and to others through `nic`.
std::pair<NetPoint*, NetPoint*> make_node(s4u::NetZone* fabric, unsigned long id, const Words& words) {
    constexpr double flops = 1e9;  // a second; nothing is charged by them
    const std::string number = std::to_string(id);
    s4u::NetZone* const zone = s4u::create_star_zone("node" + number)->set_parent(fabric);
    s4u::Host* const host = zone->create_host("nid" + number, flops);
    host->set_core_count(static_cast<int>(words.number("cores")))->seal();
    const s4u::Link* const inner = zone->create_link("inner" + number, words.number("inside_rate"))
                                       ->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)
                                       ->set_latency(words.number("inner_latency"))
                                       ->seal();
    const s4u::Link* const nic = zone->create_split_duplex_link("nic" + number, words.number("nic_rate"))
                                     ->set_latency(words.number("nic_latency"))
                                     ->seal();
    const s4u::Link* const each =  // message by itself
        zone->create_link("each" + number, words.number("outside_rate"))
            ->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)
            ->seal();
    using Direction = s4u::LinkInRoute::Direction;
    zone->add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr, {{inner, Direction::NONE}},
                    false);
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {{each, Direction::NONE}, {nic, Direction::UP}}, true);
    NetPoint* const gate = zone->create_router("gate" + number);
    zone->seal();
    return {zone->get_netpoint(), gate};
}

}  // namespace

// What SimGrid looks for in a platform that is a library.
extern "C" void load_platform(const s4u::Engine&);
void load_platform(const s4u::Engine&) {
    const char* const given = std::getenv("KEEL_PLATFORM");
    const Words words(given != nullptr ? given : "");
    const std::string& name = words.text("name");
    const std::string& shape = words.text("shape");
    const std::vector<unsigned> n = words.counts("counts");
    const double rate = words.number("rate");
    const double hop = words.number("hop");
    const Protocols inside(words.text("inside"));
    const Protocols outside(words.text("outside"));
    const s4u::ClusterCallbacks nodes([&](s4u::NetZone* fabric, const std::vector<unsigned long>&,
                                          unsigned long id) { return make_node(fabric, id, words); });
    constexpr auto duplex = s4u::Link::SharingPolicy::SPLITDUPLEX;
    s4u::NetZone* zone = nullptr;
    if (shape == "torus") {
        zone = s4u::create_torus_zone(name, nullptr, {n.begin(), n.end()}, nodes, rate, hop, duplex);
    } else if (shape == "fat_tree") {  // nodes a leaf, leaves; cables up from a leaf
        zone = s4u::create_fatTree_zone(name, nullptr, {2, n, {1, words.counts("links").at(0)}, {1, 1}},
                                        nodes, rate, hop, duplex);
    } else if (shape ==
               "dragonfly") {  // groups, chassis, routers, nodes a router; cables between each of them
        const std::vector<unsigned> cables = words.counts("links");
        zone = s4u::create_dragonfly_zone(
            name, nullptr,
            {{n.at(0), cables.at(0)}, {n.at(1), cables.at(1)}, {n.at(2), cables.at(2)}, n.at(3)}, nodes, rate,
            hop, duplex);
    } else {
        throw std::invalid_argument("KEEL_PLATFORM: shape=" + shape + "; choose torus, fat_tree, dragonfly");
    }
    zone->seal();
    auto* const model = zone->get_network_model();
    model->set_lat_factor_cb([inside, outside](double bytes, const s4u::Host* from, const s4u::Host* to,
                                               const std::vector<s4u::Link*>& links, const auto&) {
        double latency = 0;
        for (const s4u::Link* link : links) latency += link->get_latency();
        return 1 + (from == to ? inside : outside).more(bytes) / latency;
    });
    model->set_bw_factor_cb([](double, const s4u::Host*, const s4u::Host*, const std::vector<s4u::Link*>&,
                               const auto&) { return 1.0; });
}
