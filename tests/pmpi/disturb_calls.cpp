// Makes a program's MPI the worst that the standard allows, by its profiling interface: to be preloaded
// (LD_PRELOAD). Messages leave and are asked for late, in another order where none may overtake another, and
// wait for their receivers; tests and probes say no for a while; ranks dawdle. The program has no buffer in
// flight: MPI works on copies, a buffer that receives or sums reads as NaN until it is waited for, and a
// program that writes to one, or to one being sent, is aborted. KEEL_DISTURB seeds the generator; at
// MPI_Finalize every rank writes what it did to disturbed_N.json in the folder that it runs in. Wrapped is
// what Keel calls while something may be in flight; tests/executable/test_interleavings.py holds that. One
// thread calls MPI.

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// MPI 4 has the first, Open MPI 4.1 the second.
extern "C" {
using NeighbourInit = int(const void*, const int*, const int*, MPI_Datatype, void*, const int*, const int*,
                          MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*);
[[gnu::weak]] NeighbourInit PMPI_Neighbor_alltoallv_init, PMPIX_Neighbor_alltoallv_init;
}

namespace {

enum class Kind { send, receive, sum, barrier };

// A request of the program's. MPI has the copy; the handle is MPI's own, a persistent request, so that it can
// be started later.
struct Pending {
    explicit Pending(Kind of) : kind(of) {}

    Kind kind;
    char* data = nullptr;  // the program's
    std::vector<char> copy;
    std::tuple<MPI_Comm, int, int>
        way{};          // communicator, peer, tag: messages on it do not overtake each other
    bool kept = false;  // the program starts it again and again
    bool active = false;
    bool posted = false;
    int withheld = 0;  // tests that will say no, done or not
};

// A message put into a window, where it arrives when it is flushed.
struct Put {
    const char* data;  // the program's
    std::vector<char> copy;
    MPI_Datatype type;
    int count, to;
    MPI_Aint at;
    MPI_Win window;
};

struct Done {
    long late = 0, synchronous = 0, denied = 0, pauses = 0;
};

struct State {
    std::mt19937_64 random;
    std::map<MPI_Request, Pending> pending;
    std::vector<MPI_Request> late;  // active and not posted, in the order of the program
    std::vector<Put> puts;          // not flushed
    Done done;
};

int my_rank() {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

State& state() {
    static State only = [] {
        const char* const seed = std::getenv("KEEL_DISTURB");
        State made;
        made.random.seed((seed == nullptr ? 0 : std::strtoul(seed, nullptr, 10)) * 4096 +
                         static_cast<unsigned long>(my_rank()));
        return made;
    }();
    return only;
}

// Once in so many times.
bool chance(unsigned long times) {
    return state().random() % times == 0;
}

[[noreturn]] void abort_for(const char* what) {
    std::fprintf(stderr, "disturbed: rank %d: %s\n", my_rank(), what);
    std::fflush(nullptr);
    PMPI_Abort(MPI_COMM_WORLD, 99);
    std::abort();
}

std::size_t bytes_of(int count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

constexpr char poison = '\xff';  // doubles of it are NaN

void take_away(Pending& p) {
    std::memset(p.data, poison, p.copy.size());
}

void post(MPI_Request request) {
    Pending& p = state().pending.at(request);
    p.posted = true;
    PMPI_Start(&request);
}

// Posts some of the late requests, those of each way in their order, or all.
void post_late(bool all) {
    std::vector<MPI_Request>& late = state().late;
    if (late.empty()) return;
    std::vector<std::tuple<MPI_Comm, int, int>> held;  // ways on which something stays behind
    std::vector<MPI_Request> order = late, rest;
    if (chance(2)) {  // another order of the ways; on each a stable one
        std::map<std::tuple<MPI_Comm, int, int>, unsigned long> rank_of;
        for (const MPI_Request request : order)
            rank_of.try_emplace(state().pending.at(request).way, state().random());
        std::stable_sort(order.begin(), order.end(), [&](MPI_Request a, MPI_Request b) {
            return rank_of.at(state().pending.at(a).way) < rank_of.at(state().pending.at(b).way);
        });
    }
    for (const MPI_Request request : order) {
        const auto way = state().pending.at(request).way;
        const bool behind = std::find(held.begin(), held.end(), way) != held.end();
        if (!all && (behind || !chance(3))) {
            held.push_back(way);
            rest.push_back(request);
        } else {
            post(request);
        }
    }
    late = rest;
}

// At every call: the rank may dawdle, and late requests may be posted.
void dawdle(bool blocks) {
    if (chance(64)) {
        ++state().done.pauses;
        usleep(static_cast<useconds_t>(state().random() % 300));
    }
    post_late(blocks);
}

void begin(MPI_Request request) {
    Pending& p = state().pending.at(request);
    if (p.active) abort_for("a request is started again while it is in flight");
    p.active = true;
    p.posted = false;
    p.withheld = chance(2) ? 0 : static_cast<int>(state().random() % 8);
    if (p.kind == Kind::send)
        std::memcpy(p.copy.data(), p.data, p.copy.size());
    else
        take_away(p);
    state().late.push_back(request);
    if (chance(2)) {
        ++state().done.late;
    } else {  // the messages before it are then in flight
        std::vector<MPI_Request> rest;
        for (const MPI_Request other : state().late)
            if (state().pending.at(other).way == p.way)
                post(other);
            else
                rest.push_back(other);
        state().late = rest;
    }
}

// Gives a complete request back to the program.
void end(MPI_Request& request) {
    const auto found = state().pending.find(request);
    if (found == state().pending.end() || !found->second.active) return;
    Pending& p = found->second;
    p.active = false;
    if (p.kind == Kind::send) {
        if (std::memcmp(p.data, p.copy.data(), p.copy.size()) != 0)
            abort_for("a message changed while it was being sent");
    } else if (p.kind != Kind::barrier) {
        if (!std::all_of(p.data, p.data + p.copy.size(), [](char c) { return c == poison; }))
            abort_for("something was written to where a message or a sum was awaited");
        std::memcpy(p.data, p.copy.data(), p.copy.size());
    }
    if (p.kept) return;
    MPI_Request handle = request;
    if (p.kind == Kind::send || p.kind == Kind::receive) PMPI_Request_free(&handle);
    state().pending.erase(found);
    request = MPI_REQUEST_NULL;
}

// Whether a test of it may ask MPI.
bool answers(MPI_Request request) {
    const auto found = state().pending.find(request);
    if (found == state().pending.end() || !found->second.active) return true;
    Pending& p = found->second;
    if (p.withheld > 0) --p.withheld;
    return p.posted && p.withheld == 0;
}

int make_send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              bool synchronous, MPI_Request* request) {
    Pending p(Kind::send);
    p.data = static_cast<char*>(const_cast<void*>(data));
    p.copy.resize(bytes_of(count, type));
    p.way = {comm, to, tag};
    if (!synchronous && chance(2)) synchronous = true;
    state().done.synchronous += synchronous ? 1 : 0;
    const int status =
        (synchronous ? PMPI_Ssend_init : PMPI_Send_init)(p.copy.data(), count, type, to, tag, comm, request);
    state().pending.insert_or_assign(*request, std::move(p));
    return status;
}

int make_receive(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                 MPI_Request* request) {
    Pending p(Kind::receive);
    p.data = static_cast<char*>(data);
    p.copy.resize(bytes_of(count, type));
    p.way = {comm, -1 - from, tag};  // not the way of what is sent there
    const int status = PMPI_Recv_init(p.copy.data(), count, type, from, tag, comm, request);
    state().pending.insert_or_assign(*request, std::move(p));
    return status;
}

void write() {
    const std::string name = "disturbed_" + std::to_string(my_rank()) + ".json";
    std::FILE* file = std::fopen(name.c_str(), "w");
    if (file == nullptr) return;
    const Done& done = state().done;
    std::fprintf(file, "{\"late\": %ld, \"synchronous\": %ld, \"denied\": %ld, \"pauses\": %ld}\n", done.late,
                 done.synchronous, done.denied, done.pauses);
    std::fclose(file);
}

}  // namespace

extern "C" {

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    dawdle(true);
    return (chance(2) ? PMPI_Ssend : PMPI_Send)(data, count, type, to, tag, comm);
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
    dawdle(true);
    return PMPI_Recv(data, count, type, from, tag, comm, status);
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
    dawdle(false);
    const int status = make_send(data, count, type, to, tag, comm, false, request);
    begin(*request);
    return status;
}

int MPI_Issend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
    dawdle(false);
    const int status = make_send(data, count, type, to, tag, comm, true, request);
    begin(*request);
    return status;
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
    dawdle(false);
    const int status = make_receive(data, count, type, from, tag, comm, request);
    begin(*request);
    return status;
}

int MPI_Send_init(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
    dawdle(false);
    const int status = make_send(data, count, type, to, tag, comm, false, request);
    state().pending.at(*request).kept = true;
    return status;
}

int MPI_Recv_init(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request* request) {
    dawdle(false);
    const int status = make_receive(data, count, type, from, tag, comm, request);
    state().pending.at(*request).kept = true;
    return status;
}

int MPI_Startall(int count, MPI_Request* requests) {
    dawdle(false);
    for (int n = 0; n < count; ++n) begin(requests[n]);
    return MPI_SUCCESS;
}

int MPI_Request_free(MPI_Request* request) {
    dawdle(false);
    if (state().pending.at(*request).active) abort_for("a request is freed while it is in flight");
    state().pending.erase(*request);
    return PMPI_Request_free(request);
}

// Its buffers are the program's, and so are those of the next; it is only late to be complete.
int MPI_Ineighbor_alltoallv(const void* from, const int* sent, const int* first_sent, MPI_Datatype type,
                            void* to, const int* received, const int* first, MPI_Datatype as, MPI_Comm comm,
                            MPI_Request* request) {
    dawdle(false);
    const int status =
        PMPI_Ineighbor_alltoallv(from, sent, first_sent, type, to, received, first, as, comm, request);
    Pending p(Kind::barrier);
    p.active = p.posted = true;
    p.withheld = static_cast<int>(state().random() % 8);
    state().pending.insert_or_assign(*request, std::move(p));
    return status;
}

int MPI_Neighbor_alltoallv_init(const void* from, const int* sent, const int* first_sent, MPI_Datatype type,
                                void* to, const int* received, const int* first, MPI_Datatype as,
                                MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    dawdle(false);
    const auto init =
        PMPI_Neighbor_alltoallv_init ? PMPI_Neighbor_alltoallv_init : PMPIX_Neighbor_alltoallv_init;
    const int status = init(from, sent, first_sent, type, to, received, first, as, comm, info, request);
    Pending p(Kind::barrier);
    p.kept = true;
    state().pending.insert_or_assign(*request, std::move(p));
    return status;
}

int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
    dawdle(false);
    if (from != MPI_IN_PLACE) abort_for("only sums in place are disturbed");
    Pending p(Kind::sum);
    p.data = static_cast<char*>(to);
    p.copy.assign(p.data, p.data + bytes_of(count, type));
    p.active = true;
    p.posted = true;  // all ranks begin them in the same order
    p.withheld = static_cast<int>(state().random() % 8);
    const int status = PMPI_Iallreduce(MPI_IN_PLACE, p.copy.data(), count, type, op, comm, request);
    take_away(p);
    state().pending.insert_or_assign(*request, std::move(p));
    return status;
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
    dawdle(false);
    bool ask = true;
    for (int n = 0; n < count; ++n)
        if (!answers(requests[n])) ask = false;
    if (!ask) {
        ++state().done.denied;
        *flag = 0;
        return MPI_SUCCESS;
    }
    // MPI forgets a sum that is complete; what it was is looked up by the handle before.
    std::vector<MPI_Request> before(requests, requests + count);
    const int status = PMPI_Testall(count, requests, flag, statuses);
    if (*flag != 0)
        for (int n = 0; n < count; ++n) {
            MPI_Request request = before[static_cast<std::size_t>(n)];
            end(request);
            requests[n] = request;
        }
    return status;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    return MPI_Testall(1, request, flag, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status*) {
    dawdle(true);
    std::vector<int> order;
    for (int n = 0; n < count; ++n)
        if (requests[n] != MPI_REQUEST_NULL) order.push_back(n);
    std::shuffle(order.begin(), order.end(), state().random);
    for (const int n : order) {
        MPI_Request request = requests[n];
        PMPI_Wait(&requests[n], MPI_STATUS_IGNORE);
        end(request);
        requests[n] = request;
    }
    return MPI_SUCCESS;
}

// Any that is done, not the first.
int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status*) {
    dawdle(true);
    std::vector<int> order;
    for (int n = 0; n < count; ++n)
        if (requests[n] != MPI_REQUEST_NULL) order.push_back(n);
    *index = MPI_UNDEFINED;
    while (!order.empty()) {
        std::shuffle(order.begin(), order.end(), state().random);
        for (const int n : order) {
            MPI_Request request = requests[n];
            int done = 0;
            PMPI_Test(&requests[n], &done, MPI_STATUS_IGNORE);
            if (done == 0) continue;
            end(request);
            requests[n] = request;
            *index = n;
            return MPI_SUCCESS;
        }
    }
    return MPI_SUCCESS;
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
    dawdle(false);
    if (chance(2)) {
        ++state().done.denied;
        *flag = 0;
        return MPI_SUCCESS;
    }
    return PMPI_Iprobe(from, tag, comm, flag, status);
}

// A blocking call must not keep back messages that others wait for.
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    dawdle(true);
    return PMPI_Allreduce(from, to, count, type, op, comm);
}

int MPI_Allgather(const void* from, int sent, MPI_Datatype type, void* to, int received, MPI_Datatype as,
                  MPI_Comm comm) {
    dawdle(true);
    return PMPI_Allgather(from, sent, type, to, received, as, comm);
}

int MPI_Allgatherv(const void* from, int sent, MPI_Datatype type, void* to, const int* received,
                   const int* first, MPI_Datatype as, MPI_Comm comm) {
    dawdle(true);
    return PMPI_Allgatherv(from, sent, type, to, received, first, as, comm);
}

int MPI_Barrier(MPI_Comm comm) {
    dawdle(true);
    return PMPI_Barrier(comm);
}

int MPI_Put(const void* data, int count, MPI_Datatype type, int to, MPI_Aint at, int, MPI_Datatype,
            MPI_Win window) {
    dawdle(false);
    const char* const bytes = static_cast<const char*>(data);
    ++state().done.late;
    state().puts.push_back({bytes, {bytes, bytes + bytes_of(count, type)}, type, count, to, at, window});
    return MPI_SUCCESS;
}

int MPI_Win_flush(int to, MPI_Win window) {
    dawdle(true);
    std::erase_if(state().puts, [&](const Put& put) {
        if (put.to != to || put.window != window) return false;
        if (std::memcmp(put.data, put.copy.data(), put.copy.size()) != 0)
            abort_for("a message changed while it was being put");
        PMPI_Put(put.data, put.count, put.type, to, put.at, put.count, put.type, window);
        return true;
    });
    return PMPI_Win_flush(to, window);
}

int MPI_Finalize() {
    dawdle(true);
    for (const auto& [request, p] : state().pending)
        if (p.active) abort_for("the program ends while something is in flight");
    if (!state().puts.empty()) abort_for("the program ends before a message is flushed");
    write();
    return PMPI_Finalize();
}
}
