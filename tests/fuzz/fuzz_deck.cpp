// Decks: no text may break reading or checking one, and a deck that is taken reads back to the same.

#include "miniapp/deck/text/key_text.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/mode.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace keel;
    static const Table table = make_table();
    const auto none_idle = [](const Key&) { return false; };
    const Deck deck = read_deck(table, FileText{"deck.toml", text_of(data, size), {}}, {});
    for (const std::string& error : deck.errors)
        require(!wrapped(error, 4).empty(), "every complaint says something");
    if (!deck.errors.empty()) return 0;
    const CommOptions& comm = deck.parameters.comm;
    if (comm.machine.empty() && comm.node_map.empty()) validate(deck, {}, 4);
    const std::string printed = print_deck(table, deck.parameters, none_idle);
    const Deck again = read_deck(table, FileText{"again.toml", printed, {}}, {});
    require(again.errors.empty(), "a printed deck is taken");
    require(print_deck(table, again.parameters, none_idle) == printed,
            "a printed deck reads back to the same parameters");
    return 0;
}
