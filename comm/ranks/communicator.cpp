#include "comm/ranks/communicator.hpp"

#include <dlfcn.h>
#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "comm/ranks/mpi.hpp"
#include "kernels/check.hpp"

namespace keel {

Session::Session(int& argc, char**& argv) {
    // Only the main thread calls MPI; a library that offers less than FUNNELED still runs one thread a rank.
    int provided = 0;
    require(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    require(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    require(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

Session::~Session() {
    MPI_Finalize();
}

std::string Session::library() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    require(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
    std::string all(text, static_cast<std::size_t>(length));
    std::replace(all.begin(), all.end(), '\t', ' ');  // MPICH has tabs
    return all.substr(0, all.find_first_of(",\n"));
}

// The functions that answer are extensions of some MPIs: looked up by name, a missing one means no.
bool Session::takes_device_memory(const std::string& backend) {
    const bool cuda = backend == "cuda";
    if (!cuda && backend != "hip") return false;
    const auto find = [](const char* name) { return dlsym(RTLD_DEFAULT, name); };
    // Open MPI
    if (void* const query = find(cuda ? "MPIX_Query_cuda_support" : "MPIX_Query_rocm_support"))
        return reinterpret_cast<int (*)()>(query)() == 1;
    // MPICH and its descendants
    if (void* const query = find("MPIX_GPU_query_support")) {
        const int kind = cuda ? 0 : 2;  // MPIX_GPU_SUPPORT_CUDA, MPIX_GPU_SUPPORT_HIP
        int supported = 0;
        return reinterpret_cast<int (*)(int, int*)>(query)(kind, &supported) == MPI_SUCCESS && supported != 0;
    }
    return false;
}

std::string Session::asynchronous_progress() {
    // MPICH 4 and before, Intel, Cray.
    for (const char* name : {"MPIR_CVAR_ASYNC_PROGRESS", "MPICH_ASYNC_PROGRESS", "I_MPI_ASYNC_PROGRESS",
                             "MPICH_NEMESIS_ASYNC_PROGRESS"})
        if (const char* value = std::getenv(name)) return std::string(name) + "=" + value;
    return "unknown";
}

std::string Session::progress_warning() {
    const auto is_set = [](const char* name, const std::string& value) {
        const char* const given = std::getenv(name);
        return given != nullptr && given == value;
    };
    const bool progress = is_set("MPICH_ASYNC_PROGRESS", "1");
    if (progress == is_set("MPICH_MAX_THREAD_SAFETY", "multiple")) return "";
    return progress ? "MPICH_ASYNC_PROGRESS=1 without MPICH_MAX_THREAD_SAFETY=multiple: Cray MPICH starts no "
                      "progress thread; set both"
                    : "MPICH_MAX_THREAD_SAFETY=multiple without MPICH_ASYNC_PROGRESS=1: MPI calls take locks "
                      "for threads that never call MPI; set both or neither";
}

void Session::abort(int status) {
    MPI_Abort(MPI_COMM_WORLD, status);
    std::terminate();
}

Communicator Communicator::world() {
    Impl world{MPI_COMM_WORLD, 0, 1};
    require(MPI_Comm_rank(world.comm, &world.rank), "MPI_Comm_rank");
    require(MPI_Comm_size(world.comm, &world.size), "MPI_Comm_size");
    return Communicator(std::make_shared<const Impl>(world));
}

Communicator Communicator::self() {
    return Communicator(std::make_shared<const Impl>(Impl{MPI_COMM_SELF, 0, 1}));
}

Communicator Communicator::virtual_rank(int rank, int size, KeptMessages* kept) {
    return Communicator(std::make_shared<const Impl>(Impl{MPI_COMM_NULL, rank, size, kept}));
}

bool Communicator::is_virtual() const {
    return impl_->comm == MPI_COMM_NULL;
}
KeptMessages* Communicator::kept_messages() const {
    return impl_->kept;
}

namespace {

// Frees the communicator too.
void free_both(const Communicator::Impl* impl) {
    MPI_Comm comm = impl->comm;
    MPI_Comm_free(&comm);
    delete impl;
}

}  // namespace

Communicator Communicator::duplicate() const {
    if (is_virtual()) return *this;
    impl_->tell(Collective::duplicate, 0);
    Impl copy{MPI_COMM_NULL, rank(), size()};
    require(MPI_Comm_dup(impl_->comm, &copy.comm), "MPI_Comm_dup");
    return Communicator(std::shared_ptr<const Impl>(new Impl(copy), free_both));
}

Communicator Communicator::watched(CollectiveWatch watch) const {
    const auto keep = [group = impl_](const Impl* impl) { delete impl; };
    return Communicator(std::shared_ptr<const Impl>(
        new Impl{impl_->comm, rank(), size(), impl_->kept, std::move(watch)}, keep));
}

Communicator Communicator::split(int colour) const {
    impl_->tell(Collective::split, 2);
    Impl part{MPI_COMM_NULL, 0, 1};
    require(MPI_Comm_split(impl_->comm, colour, rank(), &part.comm), "MPI_Comm_split");
    require(MPI_Comm_rank(part.comm, &part.rank), "MPI_Comm_rank");
    require(MPI_Comm_size(part.comm, &part.size), "MPI_Comm_size");
    return Communicator(std::shared_ptr<const Impl>(new Impl(part), free_both));
}

Communicator Communicator::among(std::span<const int> ranks) const {
    const auto found = std::ranges::lower_bound(ranks, rank());
    const bool is_one = found != ranks.end() && *found == rank();
    if (!is_virtual()) return split(is_one ? 0 : 1);
    const auto some = static_cast<int>(ranks.size());
    const auto before = static_cast<int>(found - ranks.begin());
    return is_one ? virtual_rank(before, some, kept_messages())
                  : virtual_rank(rank() - before, size() - some, kept_messages());
}

int Communicator::rank() const {
    return impl_->rank;
}
int Communicator::size() const {
    return impl_->size;
}

void Communicator::barrier() const {
    require(MPI_Barrier(impl_->comm), "MPI_Barrier");
}

namespace {

double all_reduce(const Communicator& group, double value, MPI_Op op) {
    if (group.is_virtual()) return value;
    group.impl().tell(Collective::reduction, 1);
    double result = 0;
    require(MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, op, group.impl().comm), "MPI_Allreduce");
    return result;
}

}  // namespace

double Communicator::max(double value) const {
    return all_reduce(*this, value, MPI_MAX);
}
std::vector<double> Communicator::max(std::vector<double> values) const {
    require(MPI_Allreduce(MPI_IN_PLACE, values.data(), mpi_count(values.size(), "MPI_Allreduce"), MPI_DOUBLE,
                          MPI_MAX, impl_->comm),
            "MPI_Allreduce");
    return values;
}
double Communicator::min(double value) const {
    return all_reduce(*this, value, MPI_MIN);
}
double Communicator::sum(double value) const {
    return all_reduce(*this, value, MPI_SUM);
}

std::vector<double> Communicator::gather(std::span<const double> values) const {
    const int count = mpi_count(values.size(), "MPI_Gather");
    std::vector<double> all(rank() == 0 ? values.size() * static_cast<std::size_t>(size()) : 0);
    require(MPI_Gather(values.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, impl_->comm),
            "MPI_Gather");
    return all;
}

std::vector<std::string> Communicator::gather(const std::string& text) const {
    const int length =
        mpi_count(1 + static_cast<std::size_t>(max(static_cast<double>(text.size()))), "MPI_Gather");
    std::string padded = text;
    padded.resize(static_cast<std::size_t>(length), '\0');
    std::string all(rank() == 0 ? padded.size() * static_cast<std::size_t>(size()) : 0, '\0');
    require(MPI_Gather(padded.data(), length, MPI_CHAR, all.data(), length, MPI_CHAR, 0, impl_->comm),
            "MPI_Gather");
    std::vector<std::string> texts;
    for (std::size_t at = 0; at < all.size(); at += padded.size())
        texts.emplace_back(all.substr(at, padded.size()).c_str());
    return texts;
}

namespace {

constexpr const char* as_known = "a rank gives as many values as all know of";

template <class T>
MPI_Datatype type_of() {
    return std::is_same_v<T, double> ? MPI_DOUBLE : MPI_INT64_T;
}

// The ranks' values, rank after rank, on all ranks, which all know the counts.
template <class T>
std::vector<T> all_gathered(const Communicator& group, std::span<const T> values,
                            std::span<const int> counts) {
    const std::vector<int> first = places_of(counts, "MPI_Allgatherv");
    std::vector<T> all(static_cast<std::size_t>(first.back() + counts.back()));
    require(MPI_Allgatherv(values.data(), counts[static_cast<std::size_t>(group.rank())], type_of<T>(),
                           all.data(), counts.data(), first.data(), type_of<T>(), group.impl().comm),
            "MPI_Allgatherv");
    return all;
}

// The same on rank 0, which alone needs the counts.
template <class T>
std::vector<T> gathered(const Communicator& group, std::span<const T> values, std::span<const int> counts) {
    const std::vector<int> first = places_of(counts, "MPI_Gatherv");
    std::vector<T> all(group.rank() == 0 ? static_cast<std::size_t>(first.back() + counts.back()) : 0);
    require(MPI_Gatherv(values.data(), mpi_count(values.size(), "MPI_Gatherv"), type_of<T>(), all.data(),
                        counts.data(), first.data(), type_of<T>(), 0, group.impl().comm),
            "MPI_Gatherv");
    return all;
}

}  // namespace

std::vector<std::int64_t> Communicator::all_gather(std::span<const std::int64_t> values) const {
    impl_->tell(Collective::gather, values.size());
    const int count = mpi_count(values.size(), "MPI_Allgatherv");
    std::vector<int> counts(static_cast<std::size_t>(size()));
    require(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, impl_->comm), "MPI_Allgather");
    return all_gathered(*this, values, counts);
}

std::vector<double> Communicator::all_gather(std::span<const double> values,
                                             std::span<const int> counts) const {
    check_equal(std::ssize(values), counts[static_cast<std::size_t>(rank())], as_known);
    return all_gathered(*this, values, counts);
}

std::vector<std::int64_t> Communicator::gather(std::span<const std::int64_t> values) const {
    const int count = mpi_count(values.size(), "MPI_Gatherv");
    std::vector<int> counts(rank() == 0 ? static_cast<std::size_t>(size()) : 0);
    require(MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, impl_->comm), "MPI_Gather");
    return gathered(*this, values, counts);
}

std::vector<double> Communicator::gather(std::span<const double> values, std::span<const int> counts) const {
    if (!counts.empty()) check_equal(std::ssize(values), counts[static_cast<std::size_t>(rank())], as_known);
    return gathered(*this, values, counts);
}

std::vector<double> Communicator::scatter(std::span<const double> values, std::span<const int> counts) const {
    const std::vector<int> first = places_of(counts, "MPI_Scatterv");
    const int count = counts[static_cast<std::size_t>(rank())];
    std::vector<double> mine(static_cast<std::size_t>(count));
    require(MPI_Scatterv(values.data(), counts.data(), first.data(), MPI_DOUBLE, mine.data(), count,
                         MPI_DOUBLE, 0, impl_->comm),
            "MPI_Scatterv");
    return mine;
}

std::string Communicator::broadcast(const std::string& text) const {
    std::int64_t length = static_cast<std::int64_t>(text.size());
    require(MPI_Bcast(&length, 1, MPI_INT64_T, 0, impl_->comm), "MPI_Bcast");
    std::string result = text;
    result.resize(static_cast<std::size_t>(length));
    constexpr std::int64_t most = 1 << 30;  // counts are ints
    for (std::int64_t at = 0; at < length; at += most)
        require(MPI_Bcast(result.data() + at, static_cast<int>(std::min(most, length - at)), MPI_CHAR, 0,
                          impl_->comm),
                "MPI_Bcast");
    return result;
}

std::vector<int> Communicator::node_leaders() const {
    MPI_Comm node = MPI_COMM_NULL;
    require(MPI_Comm_split_type(impl_->comm, MPI_COMM_TYPE_SHARED, rank(), MPI_INFO_NULL, &node),
            "MPI_Comm_split_type");
    int leader = rank();
    require(MPI_Bcast(&leader, 1, MPI_INT, 0, node), "MPI_Bcast");
    require(MPI_Comm_free(&node), "MPI_Comm_free");
    std::vector<int> leaders(static_cast<std::size_t>(size()));
    require(MPI_Allgather(&leader, 1, MPI_INT, leaders.data(), 1, MPI_INT, impl_->comm), "MPI_Allgather");
    return leaders;
}

}  // namespace keel
