// Whole runs with one fault each: what they call VALID must be right. KEEL_FAULTS in the environment: how
// many (default: 60); KEEL_FAULTS_SEED: which.

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "kernels/hash.hpp"
#include "miniapp/front/agreement.hpp"
#include "miniapp/front/reporter.hpp"
#include "miniapp/modes/grids/benchmark/sums.hpp"
#include "miniapp/modes/mode.hpp"
#include "miniapp/modes/repeat.hpp"
#include "tests/faults/faults.hpp"

namespace {

using namespace keel;
using namespace keel::test;
using Words = std::vector<std::string>;

struct RunOutcome {
    bool valid = false;  // on rank 0
    std::string failed;  // checks, on rank 0
    std::vector<double> u_l2;
    Answer answer;  // this rank's
};

// A run on all ranks, as the executable makes one.
RunOutcome run(const Words& words) {
    const Communicator comm = Communicator::world();
    const Table table = make_table();
    const Deck deck = read_deck(table, std::nullopt, words);
    REQUIRE(deck.errors == Words());
    REQUIRE(validate(deck, {}, comm.size()) == Words());
    const Resolved resolved = resolve(deck, {}, comm);
    const auto mode = mode_of(deck).prepare(deck, resolved);
    const FaultyBackend backend(make_backend(resolved, comm),
                                deck.parameters.problem.box * deck.parameters.problem.boxes);
    const auto silence = make_progress(false, false);
    benchmark::KeptRecords kept(nullptr);
    Findings findings;
    Ending ending;
    mode->run({comm, backend, *silence, kept, ending}, findings);
    std::vector<double> u_l2;
    for (const auto& solve : kept.solves)
        if (solve.at("u_l2").is_number()) u_l2.push_back(solve.at("u_l2"));
    std::string failed;
    for (const Check& check : findings.checks)
        if (!check.passed) failed += (failed.empty() ? "" : ", ") + check.name;
    return {findings.valid(), failed, u_l2, backend.answer()};
}

enum class Norm { maximum, euclidean };

// A way to solve, and the norm in which it is claimed to have been.
struct Case {
    Words words;
    Norm norm;
};

constexpr double tolerance = 1e-6;

Words operator+(Words a, const Words& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

Words solved_to(const Case& what, const std::string& reached) {
    return what.words +
           Words{(what.norm == Norm::maximum ? "multigrid.tolerance=" : "bottom.tolerance=") + reached};
}

// With a = alpha = 1 no problem here amplifies a residual, in either norm: the row sums of L are at least 1.
const Words problem{"problem.box=4",
                    "problem.boxes=[2,2,2]",
                    "problem.a=1",
                    "problem.b=0.01",
                    "problem.coefficients=smooth",
                    "problem.contrast=10",
                    "problem.rhs=wave",
                    "problem.boundary=[\"dirichlet\",\"neumann\",\"periodic\"]",
                    "run.triad_mb=1",
                    "run.warmup=0",
                    "run.repeats=2",
                    "run.deterministic=true"};

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const Words& words : std::vector<Words>{
             {"bottom.solver=bicgstab"},
             {"bottom.solver=cg", "multigrid.cycle=F", "multigrid.smoother=chebyshev",
              "comm.scheme=three_step", "comm.ranks_per_node=1"},
             {"bottom.solver=ca_bicgstab", "multigrid.bottom_grid=consolidate"},
             {"run.mode=survey", "run.survey=[\"pipelined_bicgstab\",\"deep_pipelined_cg\",\"ca_cg\"]",
              "comm.overlap=true"}})
        all.push_back({problem + words + Words{"multigrid.bottom_box=2"}, Norm::maximum});
    for (const Words& words :
         std::vector<Words>{{"bottom.solver=bicgstab"},
                            {"bottom.solver=cg"},
                            {"bottom.solver=pipelined_cg", "comm.allreduce=recursive_doubling"},
                            {"bottom.solver=deep_pipelined_cg"},
                            {"bottom.solver=pipelined_bicgstab"},
                            {"bottom.solver=ca_bicgstab"},
                            {"bottom.solver=ca_cg"},
                            {"bottom.solver=enlarged_cg"},
                            {"bottom.solver=cg", "bottom.preconditioner=v_cycle", "multigrid.bottom_box=2"}})
        all.push_back({problem + words + Words{"run.mode=krylov", "bottom.scaling=none"}, Norm::euclidean});
    return all;
}

// The norm of values that all ranks hold parts of. Collective.
double norm_of(const std::vector<double>& values, Norm norm) {
    const Communicator comm = Communicator::world();
    double mine = 0;
    for (const double value : values)
        mine = norm == Norm::maximum ? std::max(mine, std::abs(value)) : mine + value * value;
    return norm == Norm::maximum ? comm.max(mine) : std::sqrt(comm.sum(mine));
}

std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> result(a.size());
    std::transform(a.begin(), a.end(), b.begin(), result.begin(), std::minus<>());
    return result;
}

// A case without a fault.
struct Reference {
    Case what;
    std::vector<double> u;  // solved further
    double u_l2;
    double bound;  // bound of the error of a valid answer
    double bound_l2;
    std::array<long, 3> moments;  // on this rank
};

Reference reference(const Case& what) {
    faults().plan_none();
    const RunOutcome further = run(solved_to(what, "1e-11"));
    faults().plan_none();
    const RunOutcome plain = run(solved_to(what, "1e-6"));
    Reference made{what, further.answer.u, 0, 0, 0, {}};
    for (const Place place : {Place::field, Place::message, Place::sum})
        made.moments[static_cast<std::size_t>(place)] = faults().moments(place);
    REQUIRE(Communicator::world().max(plain.valid && further.valid ? 1 : 0) == 1);
    made.bound = 1.01 * tolerance * norm_of(plain.answer.f, what.norm);
    const double h = 1.0 / 8;
    made.bound_l2 = made.bound * (what.norm == Norm::maximum ? 1 : std::sqrt(h * h * h));
    made.u_l2 = norm_of(further.answer.u, Norm::euclidean) * std::sqrt(h * h * h);
    REQUIRE(norm_of(difference(plain.answer.u, made.u), what.norm) <= made.bound);
    return made;
}

int number_from(const char* variable, int otherwise) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? otherwise : std::atoi(text);
}

}  // namespace

TEST_CASE("what is valid is right, whatever bit flips") {
    const Communicator comm = Communicator::world();
    const int tries = number_from("KEEL_FAULTS", 60);
    std::uint64_t random = scramble(static_cast<std::uint64_t>(number_from("KEEL_FAULTS_SEED", 1)));
    std::vector<Reference> references;
    for (const Case& what : cases()) references.push_back(reference(what));

    std::map<std::string, int> tally;
    for (int n = 0; n < tries; ++n) {
        const Reference& plain = references[static_cast<std::size_t>(n) % references.size()];
        random = scramble(random + 1);
        Place place = std::array{Place::field, Place::field, Place::message, Place::sum}[random % 4];
        if (place == Place::message && comm.size() == 1) place = Place::field;
        const bool mine =
            static_cast<int>(random / 4 % static_cast<std::uint64_t>(comm.size())) == comm.rank();
        const auto moments = static_cast<std::uint64_t>(plain.moments[static_cast<std::size_t>(place)]);
        REQUIRE(moments > 0);
        const std::uint64_t choice = scramble(random);
        if (mine)
            faults().plan({place, static_cast<long>(scramble(choice) % moments), choice});
        else
            faults().plan_none();

        alarm(600);  // seconds, after which a run that hangs is killed
        const RunOutcome outcome = run(solved_to(plain.what, "1e-6"));
        alarm(0);
        faults().call_off();

        const bool valid = comm.max(outcome.valid ? 1 : 0) == 1;
        const double error = norm_of(difference(outcome.answer.u, plain.u), plain.what.norm);
        const bool told = std::ranges::all_of(outcome.u_l2, [&](double norm) {
            return std::abs(norm - plain.u_l2) <= plain.bound_l2;  // known on rank 0
        });
        const bool right = error <= plain.bound && comm.min(told ? 1 : 0) == 1;
        if (valid && !right) {
            INFO("fault " << n << " of the words " << Catch::Detail::stringify(plain.what.words) << ": "
                          << faults().what_happened() << "; error " << error << ", at most " << plain.bound);
            CHECK(right);
        }
        const bool happened = comm.max(faults().what_happened().empty() ? 0 : 1) == 1;
        ++tally[std::string(name(place)) + (!happened ? ": later than the run"
                                            : valid   ? ": valid and right"
                                                      : ": refused by " + outcome.failed)];
    }
    if (comm.rank() == 0)
        for (const auto& [what, times] : tally) std::printf("%6d %s\n", times, what.c_str());
}
