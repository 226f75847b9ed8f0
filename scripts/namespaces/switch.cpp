// A switch between hosts with a tap device each. It delivers every frame a given time after it came; frames
// of one host stay in order. Usage: switch PREFIX HOSTS makes the devices PREFIX1 to PREFIXn in the network
// namespace that it runs in. Lines "set DELAY JITTER RATE" on standard input change how frames travel: DELAY
// in microseconds, up to JITTER microseconds more, uniformly distributed, and RATE megabytes a second of a
// host's link (0: unlimited). A line "report" prints how late frames were delivered since the last one.
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using Nanoseconds = long long;
using Address = std::array<char, 6>;

constexpr int to_all = -1;

struct Frame {
    Nanoseconds due;
    int to;
    std::vector<char> bytes;
};

struct Link {
    int file;
    Nanoseconds free = 0;       // when the link has sent what came before
    std::deque<Frame> pending;  // in the order in which they are due
};

struct Travel {
    double delay = 0, jitter = 0, rate = 0;
};

Nanoseconds now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

int tap(const std::string& name) {
    const int file = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    ifreq request{};
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
    if (file < 0 || ioctl(file, TUNSETIFF, &request) < 0) {
        std::perror(("tap device " + name).c_str());
        std::exit(1);
    }
    return file;
}

Address address_at(const std::vector<char>& bytes, std::size_t offset) {
    Address address;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), address.size(), address.begin());
    return address;
}

class Switch {
  public:
    Switch(const std::string& prefix, int hosts) {
        for (int host = 1; host <= hosts; ++host)
            links_.push_back({tap(prefix + std::to_string(host)), 0, {}});
        for (const Link& link : links_) polled_.push_back({link.file, POLLIN, 0});
        polled_.push_back({STDIN_FILENO, POLLIN, 0});
    }

    void run() {
        for (;;) {
            wait();
            for (std::size_t host = 0; host < links_.size(); ++host) receive(static_cast<int>(host));
            deliver();
            if (polled_.back().revents != 0 && !obey()) return;
        }
    }

  private:
    void wait() {
        Nanoseconds next = -1;
        for (const Link& link : links_)
            if (!link.pending.empty() && (next < 0 || link.pending.front().due < next))
                next = link.pending.front().due;
        timespec left{};
        if (next >= 0) {
            const Nanoseconds span = std::max(0LL, next - now());
            left = {span / 1'000'000'000LL, span % 1'000'000'000LL};
        }
        ppoll(polled_.data(), polled_.size(), next < 0 ? nullptr : &left, nullptr);
    }

    void receive(int host) {
        Link& link = links_[static_cast<std::size_t>(host)];
        constexpr int at_once = 64;  // a busy sender must not hold up frames that are due
        for (int n = 0; n < at_once; ++n) {
            const auto length = read(link.file, bytes_.data(), bytes_.size());
            if (length < 14) return;  // an Ethernet header
            const Nanoseconds came = now();
            host_of_[address_at(bytes_, 6)] = host;
            const auto to = host_of_.find(address_at(bytes_, 0));
            const double sent = travel_.rate > 0 ? static_cast<double>(length) * 1000 / travel_.rate : 0;
            link.free = std::max(came, link.free) + static_cast<Nanoseconds>(sent);
            const double more = std::uniform_real_distribution<>(0, 1)(random_) * travel_.jitter;
            Nanoseconds due = link.free + static_cast<Nanoseconds>(1000 * (travel_.delay + more));
            if (!link.pending.empty()) due = std::max(due, link.pending.back().due);
            link.pending.push_back(
                {due, to == host_of_.end() ? to_all : to->second, {bytes_.begin(), bytes_.begin() + length}});
        }
    }

    void deliver() {
        const Nanoseconds time = now();
        for (std::size_t from = 0; from < links_.size(); ++from) {
            auto& pending = links_[from].pending;
            while (!pending.empty() && pending.front().due <= time) {
                const Frame& frame = pending.front();
                for (std::size_t host = 0; host < links_.size(); ++host)
                    if (frame.to == to_all ? host != from : static_cast<int>(host) == frame.to)
                        if (write(links_[host].file, frame.bytes.data(), frame.bytes.size()) < 0 &&
                            errno != EIO)
                            ++lost_;
                const double late = static_cast<double>(now() - frame.due) / 1000;
                ++frames_;
                late_ += late;
                latest_ = std::max(latest_, late);
                pending.pop_front();
            }
        }
    }

    // Reads what came on standard input; false at its end.
    bool obey() {
        std::array<char, 256> text;
        const auto length = read(STDIN_FILENO, text.data(), text.size());
        if (length <= 0) return false;
        line_.append(text.data(), static_cast<std::size_t>(length));
        for (std::size_t end; (end = line_.find('\n')) != std::string::npos; line_.erase(0, end + 1)) {
            Travel travel;
            if (std::sscanf(line_.c_str(), "set %lf %lf %lf", &travel.delay, &travel.jitter, &travel.rate) ==
                3)
                travel_ = travel;
            else if (line_.starts_with("report"))
                report();
        }
        return true;
    }

    void report() {
        std::printf("{\"frames\": %lld, \"lost\": %lld, \"late_mean_us\": %.1f, \"late_max_us\": %.1f}\n",
                    frames_, lost_, frames_ > 0 ? late_ / static_cast<double>(frames_) : 0.0, latest_);
        frames_ = lost_ = 0;
        late_ = latest_ = 0;
    }

    std::vector<Link> links_;
    std::vector<pollfd> polled_;
    std::map<Address, int> host_of_;
    std::vector<char> bytes_ = std::vector<char>(1 << 17);
    std::string line_;
    std::mt19937 random_;
    Travel travel_;
    long long frames_ = 0, lost_ = 0;
    double late_ = 0, latest_ = 0;  // microseconds
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: switch PREFIX HOSTS\n");
        return 2;
    }
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    sched_param priority{};
    priority.sched_priority = 20;
    const bool realtime = sched_setscheduler(0, SCHED_FIFO, &priority) == 0;  // ahead of ranks that spin
    prctl(PR_SET_TIMERSLACK, 1);
    Switch between(argv[1], std::atoi(argv[2]));
    std::printf("{\"ready\": true, \"realtime\": %s}\n", realtime ? "true" : "false");
    between.run();
}
