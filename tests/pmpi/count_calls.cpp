// Counts a program's MPI calls from outside, by MPI's profiling interface: to be preloaded (LD_PRELOAD). At
// MPI_Finalize every rank writes what it counted to counts_N.json in the folder that it runs in. Wrapped is
// what Keel calls of those counted; tests/executable/test_counts.py holds that. One thread calls MPI.

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

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
};
Counts counts;

long bytes_of(int count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return static_cast<long>(count) * size;
}

int in_world(MPI_Comm comm, int rank) {
    MPI_Group group, world;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    int translated = 0;
    PMPI_Group_translate_ranks(group, 1, &rank, world, &translated);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return translated;
}

void sends(int receiver, long bytes) {
    if (counts.sent.empty()) {
        int ranks = 0;
        PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
        counts.sent.resize(static_cast<std::size_t>(ranks));
    }
    Messages& to = counts.sent[static_cast<std::size_t>(receiver)];
    ++to.messages;
    to.bytes += bytes;
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

// Calls MPI to test or wait for requests, and counts those that this completes.
template <class Call>
int completes(int count, MPI_Request* requests, long& calls, long& idle_calls, const Call& call) {
    const auto open = [&] { return count - std::count(requests, requests + count, MPI_REQUEST_NULL); };
    const auto before = open();
    ++calls;
    if (count > 0 && before == 0) ++idle_calls;
    const int status = call();
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
                 "\"operations_left\": %ld}\n",
                 counts.sums, counts.words, counts.pending_sums, counts.collected, counts.tests, counts.waits,
                 counts.idle_tests, counts.idle_waits, counts.most_in_flight, counts.in_flight,
                 counts.communicators, counts.operations);
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
                     [&] { return PMPI_Test(request, flag, status); });
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
    return completes(count, requests, counts.tests, counts.idle_tests,
                     [&] { return PMPI_Testall(count, requests, flag, statuses); });
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    return completes(count, requests, counts.waits, counts.idle_waits,
                     [&] { return PMPI_Waitall(count, requests, statuses); });
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
    return completes(count, requests, counts.waits, counts.idle_waits,
                     [&] { return PMPI_Waitany(count, requests, index, status); });
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
    ++counts.communicators;
    return PMPI_Comm_split(comm, colour, key, part);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part) {
    ++counts.communicators;
    return PMPI_Comm_split_type(comm, type, key, info, part);
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
