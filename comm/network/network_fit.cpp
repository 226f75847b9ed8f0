#include "comm/network/network_fit.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "kernels/check.hpp"

namespace keel {
namespace {

constexpr std::size_t least_samples = 3;
// Relative residuals below this are no reason for another switch.
constexpr double resolution = 1e-3;

// The first sample of at least `bytes` bytes.
std::size_t first_from(std::span<const TimedMessage> samples, std::size_t bytes) {
    const auto first = std::partition_point(samples.begin(), samples.end(), [&](const TimedMessage& sample) {
        return sample.bytes < static_cast<double>(bytes);
    });
    return static_cast<std::size_t>(first - samples.begin());
}

// n times the logarithm of the mean squared relative residual of n samples of one class, with a line from
// each bound to the next; infinite where one has too few samples.
double misfit(std::span<const TimedMessage> samples, std::initializer_list<double> bounds) {
    double sum = 0;
    for (const double* from = bounds.begin(); from + 1 != bounds.end(); ++from) {
        std::vector<TimedMessage> inside;
        for (const TimedMessage& sample : samples)
            if (sample.bytes >= *from && sample.bytes < *(from + 1)) inside.push_back(sample);
        if (inside.size() < least_samples) return std::numeric_limits<double>::infinity();
        const double rms = fit_postal(inside).rms_residual;
        sum += rms * rms * static_cast<double>(inside.size());
    }
    const auto count = static_cast<double>(samples.size());
    return count * std::log(sum / count + resolution * resolution);
}

Fit fit_of(std::span<const TimedMessage> samples, const Postal& cost) {
    Fit fit{.cost = cost, .samples = samples.size()};
    for (const TimedMessage& sample : samples) {
        const double residual = std::abs(cost.time(sample.bytes) / sample.seconds - 1);
        fit.rms_residual += residual * residual;
        fit.max_residual = std::max(fit.max_residual, residual);
    }
    fit.rms_residual = std::sqrt(fit.rms_residual / static_cast<double>(samples.size()));
    return fit;
}

// The line through the shortest and the longest sample.
Fit fit_ends(std::span<const TimedMessage> samples) {
    const auto [shortest, longest] = std::ranges::minmax(samples, {}, &TimedMessage::bytes);
    check(longest.bytes > shortest.bytes, "a line needs two different lengths");
    const double beta = (longest.seconds - shortest.seconds) / (longest.bytes - shortest.bytes);
    return fit_of(samples, {shortest.seconds - beta * shortest.bytes, beta});
}

}  // namespace

Fit fit_postal(std::span<const TimedMessage> samples) {
    // Columns 1 / t and s / t, right side 1.
    double aa = 0, ab = 0, bb = 0, a1 = 0, b1 = 0;
    for (const TimedMessage& sample : samples) {
        const double a = 1 / sample.seconds;
        const double b = sample.bytes / sample.seconds;
        aa += a * a;
        ab += a * b;
        bb += b * b;
        a1 += a;
        b1 += b;
    }
    const double determinant = aa * bb - ab * ab;
    check(determinant > 0, "a line needs two different lengths");
    return fit_of(samples, {(a1 * bb - b1 * ab) / determinant, (aa * b1 - ab * a1) / determinant});
}

Switches find_switches(std::span<const std::vector<TimedMessage>> classes) {
    std::vector<double> lengths;
    double count = 0;
    for (const auto& samples : classes) {
        for (const TimedMessage& sample : samples) lengths.push_back(sample.bytes);
        count += static_cast<double>(samples.size());
    }
    std::sort(lengths.begin(), lengths.end());
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());

    const double end = std::numeric_limits<double>::infinity();
    const double lines = 2 * static_cast<double>(classes.size());  // parameters of a protocol
    const auto criterion = [&](std::initializer_list<double> bounds) {
        const auto switches = static_cast<double>(bounds.size()) - 2;
        double sum = ((switches + 1) * lines + switches) * std::log(count);
        for (const auto& samples : classes) sum += misfit(samples, bounds);
        return sum;
    };
    double best = criterion({0, end});
    Switches found;
    const auto consider = [&](double value, double eager, double rendezvous) {
        if (!(value < best)) return;
        best = value;
        found = {static_cast<std::size_t>(eager), static_cast<std::size_t>(rendezvous)};
    };
    for (std::size_t j = 1; j < lengths.size(); ++j) {
        consider(criterion({0, lengths[j], end}), 0, lengths[j]);
        for (std::size_t i = 1; i < j; ++i)
            consider(criterion({0, lengths[i], lengths[j], end}), lengths[i], lengths[j]);
    }
    return found;
}

std::vector<Fit> fit_protocols(Locality locality, std::span<const TimedMessage> samples,
                               const Switches& switches) {
    const std::size_t eager = first_from(samples, switches.eager_from);
    const std::size_t rendezvous = first_from(samples, switches.rendezvous_from);
    const auto line_of = [&](std::span<const TimedMessage> part) {
        if (part.size() >= 2)
            if (const Fit fit = fit_postal(part); fit.accepted()) return fit;
        Fit other = fit_postal(samples);
        other.through = LineThrough::all_lengths;
        if (other.accepted()) return other;
        other = fit_ends(samples);
        other.through = LineThrough::ends;
        return other;
    };
    std::vector<Fit> fits;
    const auto add = [&](Protocol protocol, std::span<const TimedMessage> part) {
        fits.push_back(line_of(part));
        fits.back().locality = locality;
        fits.back().protocol = protocol;
    };
    if (switches.eager_from > 0) add(Protocol::short_, samples.first(eager));
    if (switches.rendezvous_from > switches.eager_from)
        add(Protocol::eager, samples.subspan(eager, rendezvous - eager));
    add(Protocol::rendezvous, samples.subspan(rendezvous));
    return fits;
}

std::optional<Concurrency> fit_concurrency(std::span<const std::vector<Burst>> rounds,
                                           double seconds_of_bytes) {
    std::vector<double> shares;
    for (const auto& bursts : rounds) {
        std::vector<TimedMessage> samples;  // by messages in place of bytes
        for (const Burst& burst : bursts)
            samples.push_back({static_cast<double>(burst.messages), burst.seconds});
        const Postal line = fit_postal(samples).cost;
        const double alpha = line.alpha + line.beta - seconds_of_bytes;
        if (!(alpha > 0)) return {};
        shares.push_back(line.alpha / alpha);
    }
    if (shares.empty()) return {};
    std::ranges::sort(shares);
    return Concurrency{shares[shares.size() / 2], shares.front(), shares.back()};
}

std::optional<double> fit_injection(std::span<const TimedNode> samples, const MessageCosts& costs) {
    const auto& cost = costs.at(Locality::off_node, Protocol::rendezvous);
    if (!cost) return {};
    int most = 0;
    for (const TimedNode& sample : samples) most = std::max(most, sample.processes);
    double xt = 0;
    double xx = 0;
    for (const TimedNode& sample : samples) {
        const double message = sample.node_bytes / sample.processes;
        if (sample.processes < std::min(most, 4) || costs.protocol(message) != Protocol::rendezvous) continue;
        xt += sample.node_bytes * (sample.seconds - cost->alpha);
        xx += sample.node_bytes * sample.node_bytes;
    }
    if (!(xt > 0)) return {};
    return xt / xx;
}

}  // namespace keel
