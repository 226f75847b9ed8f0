#pragma once

// The keys of decks. `Table` lists every key once; reading decks, --help, --keys, the table in docs/ and the
// JSON of a run are all made from it. A mode names the keys that play a part in it, and a key its needs
// of others; what was given but plays no part is refused on the command line, where it was meant for this
// run, and remarked on in a deck, which may serve several.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "miniapp/deck/values.hpp"

namespace keel {

// The value that another key must have for a key to play a part: a choice with one of these words, or a flag
// that is "true".
struct Condition {
    std::string key;
    std::vector<std::string> words;        // none: any but the others
    std::vector<std::string> others = {};  // words that will not do, where these are shorter to list
    std::string instead = {};              // what will, in place of the words that will not
};
// "multigrid.smoother = jacobi", "bottom.solver other than smooth", "problem.rhs = a file"
std::string text_of(const Condition& condition);

struct Key {
    std::string section;
    std::string name;
    std::string unit;                   // empty: a pure number or a word
    std::string meaning;                // a phrase that stands alone, of at most 80 characters
    std::string allowed;                // "from 1 to 1024", "V, F"
    std::vector<Word> words = {};       // all words that its value may be
    bool is_text = false;               // its value needs no quotes on the command line
    std::vector<Condition> needs = {};  // all of them
    bool expert = false;                // for ablations and rare wishes: not among the common keys

    // The key's value in the parameters; null: there is none.
    std::function<DeckValue(const Parameters&)> value;
    // Puts a value into the parameters; returns why it cannot, or nothing.
    std::function<std::optional<std::string>(const DeckValue&, Parameters&)> assign;

    std::string full_name() const { return section + "." + name; }
    void set_default(Parameters& parameters) const { assign(value({}), parameters); }
};

// Every key, in the order in which it is printed: section after section.
class Table {
  public:
    // Behind the keys of its section. Throws std::logic_error if the default is not a value that the key may
    // have. The reference is good until the next call.
    Key& add(Key key);

    std::span<const Key> keys() const { return keys_; }
    std::vector<std::string> sections() const;
    // The names that may stand in a section: its keys, then the sections within it, such as node in "host"
    // for the section "host.node". Those of "" are the outermost sections.
    std::vector<std::string> names(const std::string& section) const;
    // A null pointer if there is no such key.
    const Key* find(std::string_view section, std::string_view name) const;
    const Key* find(std::string_view full_name) const;

  private:
    std::vector<Key> keys_;
};

// The keys that modes share. The words of run.mode are given.
void add_common_keys(Table& table, const std::vector<Word>& modes);

// A key by its full name, or with a "section." all keys of it.
struct KeyUse {
    std::string key;
    // Conditions: for a full name in place of the key's own, unless `besides`; for a section besides them.
    std::vector<Condition> needs = {};
    std::string idle = {};  // not empty: the key plays no part; why, and what to do instead
    bool besides = false;
};

// The keys of a mode. A full name counts before its section, and where it stands twice either will do; what
// is not listed plays no part.
struct KeyUses {
    std::vector<KeyUse> uses;
    std::string otherwise;  // why a key that is not listed plays no part, and what to do instead
};

// Why a key plays no part, and what to do instead; empty if it does for at least one of the parameters, which
// are one solver's each where a mode compares solvers.
std::string why_idle(const Table& table, const Key& key, const KeyUses& uses,
                     std::span<const Parameters> solvers);

}  // namespace keel
