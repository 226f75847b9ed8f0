#include "miniapp/report/records/origin.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <random>
#include <string_view>

namespace keel {
namespace {

constexpr std::array recorded_prefixes{"OMP_",       "KMP_",      "GOMP_",          "MPICH_",
                                       "MPIR_CVAR_", "OMPI_MCA_", "I_MPI_",         "FI_",
                                       "UCX_",       "KEEL_",     "SLURM_MEM_PER_", "SLURM_CPUS_ON_NODE"};
constexpr std::array launcher_prefixes{"OMPI_MCA_orte", "OMPI_MCA_ess", "OMPI_MCA_pmix",
                                       "OMPI_MCA_initial_wdir", "OMPI_MCA_shmem"};
constexpr std::array job_variables{
    "SLURM_JOB_ID", "SLURM_STEP_ID",        "PBS_JOBID",           "LSB_JOBID", "FLUX_JOB_ID",
    "COBALT_JOBID", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"};

bool is_recorded(std::string_view name) {
    const auto begins = [&](const char* prefix) { return name.starts_with(prefix); };
    return std::ranges::find(job_variables, name) != job_variables.end() ||
           (std::ranges::any_of(recorded_prefixes, begins) &&
            std::ranges::none_of(launcher_prefixes, begins));
}

std::string now_as(const char* format) {
    const std::time_t seconds = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    std::array<char, 32> text{};
    const std::size_t length = std::strftime(text.data(), text.size(), format, &utc);
    return {text.data(), length};
}

}  // namespace

Origin origin_of(std::span<char* const> command, const std::string& label) {
    Origin origin;
    origin.date = now_as("%Y-%m-%dT%H:%M:%SZ");
    origin.id = fmt::format("{}-{:08x}", now_as("%Y%m%dT%H%M%SZ"), std::random_device()());
    origin.label = label;
    origin.command.assign(command.begin(), command.end());
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::size_t name = text.find('=');
        if (name != text.npos && is_recorded(text.substr(0, name)))
            origin.environment.emplace_back(text.substr(0, name), text.substr(name + 1));
    }
    std::ranges::sort(origin.environment);
    return origin;
}

}  // namespace keel
