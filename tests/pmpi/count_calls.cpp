// Counts a program's MPI calls from outside, by MPI's profiling interface: to be preloaded (LD_PRELOAD). At
// MPI_Finalize every rank writes what it counted to counts_N.json in the folder that it runs in. Wrapped is
// what Keel calls of those counted; tests/executable/test_counts.py holds that. One thread calls MPI.

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

// MPI 4 has the first, Open MPI 4.1 the second.
extern "C" {
using NeighbourInit = int(const void*, const int*, const int*, MPI_Datatype, void*, const int*, const int*,
                          MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*);
[[gnu::weak]] NeighbourInit PMPI_Neighbor_alltoallv_init, PMPIX_Neighbor_alltoallv_init;
}

namespace {

struct Messages {
    long messages = 0;
    long bytes = 0;
};

struct Counts {
    std::vector<Messages> sent;  // by receiver, a rank of MPI_COMM_WORLD
    long sums = 0;               // all-reduces that add up, blocking or not
    long words = 0;              // in these
    long pending_sums = 0;       // of them not blocking
    long collected = 0;  // doubles received in all-gathers, gathers and scatters with a length for each rank
    long tests = 0, waits = 0;
    long idle_tests = 0, idle_waits = 0;  // calls whose requests all were complete before
    long in_flight = 0, most_in_flight = 0;
    long communicators = 0;  // made and not freed
    long operations = 0;     // the same
    long windows = 0;        // the same
};
// A request that is started again and again, and what it sends each time: receivers and bytes.
struct Prepared {
    std::vector<std::pair<int, long>> sent;
    bool active = false;
};
std::map<MPI_Request, Prepared> prepared;
Counts counts;

long bytes_of(int count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return static_cast<long>(count) * size;
}

// The number in the world of a rank of a group, which is freed. Communicators and groups may be one type.
int rank_of_group(MPI_Group group, int rank) {
    MPI_Group world;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    int translated = 0;
    PMPI_Group_translate_ranks(group, 1, &rank, world, &translated);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return translated;
}

int in_world(MPI_Comm comm, int rank) {
    MPI_Group group;
    PMPI_Comm_group(comm, &group);
    return rank_of_group(group, rank);
}

void sends(int receiver, long bytes) {
    if (bytes == 0) return;  // says that another has come
    if (counts.sent.empty()) {
        int ranks = 0;
        PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
        counts.sent.resize(static_cast<std::size_t>(ranks));
    }
    Messages& to = counts.sent[static_cast<std::size_t>(receiver)];
    ++to.messages;
    to.bytes += bytes;
}

// Receivers and bytes of a neighbourhood collective.
std::vector<std::pair<int, long>> to_neighbours(MPI_Comm graph, const int* counts, MPI_Datatype type) {
    int in = 0, out = 0, weighted = 0;
    PMPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    std::vector<int> from(static_cast<std::size_t>(in)), to(static_cast<std::size_t>(out));
    PMPI_Dist_graph_neighbors(graph, in, from.data(), MPI_UNWEIGHTED, out, to.data(), MPI_UNWEIGHTED);
    std::vector<std::pair<int, long>> sent;
    for (std::size_t n = 0; n < to.size(); ++n)
        sent.emplace_back(in_world(graph, to[n]), bytes_of(counts[n], type));
    return sent;
}

void begins() {
    ++counts.in_flight;
    counts.most_in_flight = std::max(counts.most_in_flight, counts.in_flight);
}

// Maxima are not told: measurements of the machine take as many as there is time for.
void adds_up(MPI_Op op, long words) {
    if (op == MPI_MAX || op == MPI_MIN) return;
    ++counts.sums;
    counts.words += words;
}

void collects(MPI_Comm comm, const int* sizes, MPI_Datatype type) {
    int ranks = 0;
    PMPI_Comm_size(comm, &ranks);
    for (int rank = 0; type == MPI_DOUBLE && rank < ranks; ++rank) counts.collected += sizes[rank];
}

// Calls MPI to test or wait for requests, and counts those that this completes. The call returns its status,
// and whether all are complete.
template <class Call>
int completes(int count, MPI_Request* requests, long& calls, long& idle_calls, const Call& call) {
    const auto open = [&] {
        return std::count_if(requests, requests + count, [](MPI_Request request) {
            const auto found = prepared.find(request);
            return request != MPI_REQUEST_NULL && (found == prepared.end() || found->second.active);
        });
    };
    const auto before = open();
    ++calls;
    if (count > 0 && before == 0) ++idle_calls;
    const auto [status, all] = call();
    for (int n = 0; all && n < count; ++n)
        if (const auto found = prepared.find(requests[n]); found != prepared.end())
            found->second.active = false;
    counts.in_flight -= before - open();
    return status;
}

void write() {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const std::string name = "counts_" + std::to_string(rank) + ".json";
    std::FILE* file = std::fopen(name.c_str(), "w");
    if (file == nullptr) return;
    const auto list = [&](const char* name, long Messages::*number) {
        std::fprintf(file, "\"%s\": [", name);
        for (std::size_t n = 0; n < counts.sent.size(); ++n)
            std::fprintf(file, "%s%ld", n > 0 ? ", " : "", counts.sent[n].*number);
        std::fprintf(file, "], ");
    };
    std::fprintf(file, "{");
    list("messages", &Messages::messages);
    list("bytes", &Messages::bytes);
    std::fprintf(file,
                 "\"sums\": %ld, \"words\": %ld, \"pending_sums\": %ld, \"collected\": %ld, \"tests\": %ld, "
                 "\"waits\": %ld, "
                 "\"idle_tests\": %ld, \"idle_waits\": %ld, \"most_in_flight\": %ld, "
                 "\"requests_left\": %ld, \"communicators_left\": %ld, "
                 "\"operations_left\": %ld, \"windows_left\": %ld}\n",
                 counts.sums, counts.words, counts.pending_sums, counts.collected, counts.tests, counts.waits,
                 counts.idle_tests, counts.idle_waits, counts.most_in_flight,
                 counts.in_flight + static_cast<long>(prepared.size()), counts.communicators,
                 counts.operations, counts.windows);
    std::fclose(file);
}

}  // namespace

extern "C" {

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    sends(in_world(comm, to), bytes_of(count, type));
    return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
    sends(in_world(comm, to), bytes_of(count, type));
    begins();
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Issend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
    sends(in_world(comm, to), bytes_of(count, type));
    begins();
    return PMPI_Issend(data, count, type, to, tag, comm, request);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
    begins();
    return PMPI_Irecv(data, count, type, from, tag, comm, request);
}

int MPI_Send_init(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
    const int status = PMPI_Send_init(data, count, type, to, tag, comm, request);
    prepared[*request] = {{{in_world(comm, to), bytes_of(count, type)}}};
    return status;
}

int MPI_Recv_init(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request* request) {
    const int status = PMPI_Recv_init(data, count, type, from, tag, comm, request);
    prepared[*request] = {};
    return status;
}

int MPI_Startall(int count, MPI_Request* requests) {
    for (int n = 0; n < count; ++n) {
        Prepared& one = prepared.at(requests[n]);
        for (const auto& [receiver, bytes] : one.sent) sends(receiver, bytes);
        one.active = true;
        begins();
    }
    return PMPI_Startall(count, requests);
}

int MPI_Request_free(MPI_Request* request) {
    prepared.erase(*request);
    return PMPI_Request_free(request);
}

int MPI_Ineighbor_alltoallv(const void* from, const int* sent, const int* first_sent, MPI_Datatype type,
                            void* to, const int* received, const int* first, MPI_Datatype as, MPI_Comm comm,
                            MPI_Request* request) {
    for (const auto& [receiver, bytes] : to_neighbours(comm, sent, type)) sends(receiver, bytes);
    begins();
    return PMPI_Ineighbor_alltoallv(from, sent, first_sent, type, to, received, first, as, comm, request);
}

int MPI_Neighbor_alltoallv_init(const void* from, const int* sent, const int* first_sent, MPI_Datatype type,
                                void* to, const int* received, const int* first, MPI_Datatype as,
                                MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    const auto init =
        PMPI_Neighbor_alltoallv_init ? PMPI_Neighbor_alltoallv_init : PMPIX_Neighbor_alltoallv_init;
    const int status = init(from, sent, first_sent, type, to, received, first, as, comm, info, request);
    prepared[*request] = {to_neighbours(comm, sent, type)};
    return status;
}

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    adds_up(op, bytes_of(count, type) / 8);
    return PMPI_Allreduce(from, to, count, type, op, comm);
}

int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
    adds_up(op, bytes_of(count, type) / 8);
    ++counts.pending_sums;
    begins();
    return PMPI_Iallreduce(from, to, count, type, op, comm, request);
}

int MPI_Allgatherv(const void* from, int count, MPI_Datatype type, void* to, const int* sizes,
                   const int* first, MPI_Datatype received, MPI_Comm comm) {
    collects(comm, sizes, received);
    return PMPI_Allgatherv(from, count, type, to, sizes, first, received, comm);
}

int MPI_Gatherv(const void* from, int count, MPI_Datatype type, void* to, const int* sizes, const int* first,
                MPI_Datatype received, int root, MPI_Comm comm) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    if (rank == root) collects(comm, sizes, received);
    return PMPI_Gatherv(from, count, type, to, sizes, first, received, root, comm);
}

int MPI_Scatterv(const void* from, const int* sizes, const int* first, MPI_Datatype type, void* to, int count,
                 MPI_Datatype received, int root, MPI_Comm comm) {
    if (received == MPI_DOUBLE) counts.collected += count;
    return PMPI_Scatterv(from, sizes, first, type, to, count, received, root, comm);
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    return completes(1, request, counts.tests, counts.idle_tests,
                     [&] { return std::pair(PMPI_Test(request, flag, status), *flag != 0); });
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
    return completes(count, requests, counts.tests, counts.idle_tests,
                     [&] { return std::pair(PMPI_Testall(count, requests, flag, statuses), *flag != 0); });
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    return completes(count, requests, counts.waits, counts.idle_waits,
                     [&] { return std::pair(PMPI_Waitall(count, requests, statuses), true); });
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
    return completes(count, requests, counts.waits, counts.idle_waits,
                     [&] { return std::pair(PMPI_Waitany(count, requests, index, status), false); });
}

int MPI_Op_create(MPI_User_function* function, int commutes, MPI_Op* op) {
    ++counts.operations;
    return PMPI_Op_create(function, commutes, op);
}

int MPI_Op_free(MPI_Op* op) {
    --counts.operations;
    return PMPI_Op_free(op);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
    ++counts.communicators;
    return PMPI_Comm_dup(comm, copy);
}

int MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm* part) {
    const int status = PMPI_Comm_split(comm, colour, key, part);
    counts.communicators += *part == MPI_COMM_NULL ? 0 : 1;
    return status;
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part) {
    ++counts.communicators;
    return PMPI_Comm_split_type(comm, type, key, info, part);
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int from_count, const int* from, const int* from_weights,
                                   int to_count, const int* to, const int* to_weights, MPI_Info info,
                                   int reorder, MPI_Comm* graph) {
    ++counts.communicators;
    return PMPI_Dist_graph_create_adjacent(comm, from_count, from, from_weights, to_count, to, to_weights,
                                           info, reorder, graph);
}

int MPI_Win_allocate_shared(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void* base,
                            MPI_Win* window) {
    ++counts.windows;
    return PMPI_Win_allocate_shared(bytes, unit, info, comm, base, window);
}

int MPI_Win_allocate(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window) {
    ++counts.windows;
    return PMPI_Win_allocate(bytes, unit, info, comm, base, window);
}

int MPI_Put(const void* data, int count, MPI_Datatype type, int to, MPI_Aint at, int there, MPI_Datatype as,
            MPI_Win window) {
    MPI_Group group;
    PMPI_Win_get_group(window, &group);
    sends(rank_of_group(group, to), bytes_of(count, type));
    return PMPI_Put(data, count, type, to, at, there, as, window);
}

int MPI_Win_free(MPI_Win* window) {
    --counts.windows;
    return PMPI_Win_free(window);
}

int MPI_Comm_free(MPI_Comm* comm) {
    --counts.communicators;
    return PMPI_Comm_free(comm);
}

int MPI_Finalize() {
    write();
    return PMPI_Finalize();
}
}
