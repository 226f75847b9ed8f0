#include "miniapp/deck/deck.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "miniapp/deck/text/spelling.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/deck/text/toml.hpp"

namespace keel {

namespace {

// The key that `section.name` was probably meant to be. The key's own name counts first, so that a key in the
// wrong section is found; the section decides between equals.
const Key* nearest_key(const Table& table, const std::string& section, const std::string& name) {
    const Key* best = nullptr;
    std::pair<std::size_t, std::size_t> fewest;
    for (const Key& key : table.keys()) {
        const std::size_t of_name = edits(name, key.name);
        if (!is_near(of_name, name)) continue;
        const std::pair distance(of_name, edits(section, key.section));
        if (!best || distance < fewest) {
            best = &key;
            fewest = distance;
        }
    }
    return best;
}

std::string key_list(const Table& table, const std::string& section) {
    return fmt::format("{}", fmt::join(table.names(section), ", "));
}

bool is_among(const std::vector<std::string>& names, const std::string& word) {
    return std::ranges::find(names, word) != names.end();
}

// The other keys of the reference path, unless they are given.
void take_reference_path(Deck& deck) {
    if (!deck.parameters.multigrid.reference_path) return;
    if (!deck.is_set("problem.storage")) deck.parameters.problem.storage = Storage::boxes;
    if (!deck.is_set("multigrid.ghost_colours")) deck.parameters.multigrid.ghost_colours = GhostColours::both;
}

class Reader {
  public:
    explicit Reader(const Table& table) : table_(table) {
        deck_.table = &table;
        for (const Key& key : table.keys()) deck_.origin[key.full_name()] = "default";
    }

    void read_file(const FileText& file);
    void read_content(const std::string& file, const toml::table& content) {
        file_ = deck_.file = file;
        read_table("", content);
    }
    void read_overrides(std::span<const std::string> overrides);
    Deck result() && {
        if (unknown_ > most_unknown)
            deck_.errors.push_back(
                fmt::format("and {} more unknown keys and sections", unknown_ - most_unknown));
        take_reference_path(deck_);
        return std::move(deck_);
    }

  private:
    static constexpr int most_unknown = 20;  // are reported; to find the nearest name takes time
    void read_table(const std::string& section, const toml::table& content);
    void read_section(const std::string& where, std::string section, const toml::node& content);
    void read_override(const std::string& word, std::map<std::string, std::string>& given);
    void take(const std::string& where, const Key& key, const DeckValue& value);
    void refuse(const std::string& where, const Key& key, const std::string& value, const std::string& what);
    void complain_of_section(const std::string& where, const std::string& section, const std::string& word);
    void unknown_key(const std::string& where, const std::string& section, const std::string& name);

    void complain(const std::string& where, const std::string& what) {
        deck_.errors.push_back(shown(fmt::format("{}: {}", where, what), std::string::npos));
    }
    std::string place(const toml::source_region& source) const {
        return fmt::format("{}:{}", file_, source.begin.line);
    }
    // After this nothing that the file says is known, so no key's value can be judged together with others.
    void lose_file(const std::string& what) {
        complain(file_, what);
        for (const Key& key : table_.keys()) deck_.refused.insert(key.full_name());
    }

    const Table& table_;
    std::string file_;
    int unknown_ = 0;  // keys and sections
    Deck deck_;
};

// The entries of a TOML table as they stand in the file; the table itself is sorted by name.
std::vector<std::pair<const toml::key*, const toml::node*>> in_file_order(const toml::table& table) {
    std::vector<std::pair<const toml::key*, const toml::node*>> entries;
    for (const auto& [key, node] : table) entries.emplace_back(&key, &node);
    std::ranges::stable_sort(entries, {}, [](const auto& entry) {
        const auto& at = entry.first->source().begin;
        return std::pair(at.line, at.column);
    });
    return entries;
}

void Reader::read_file(const FileText& file) {
    file_ = deck_.file = file.name;
    if (!file.error.empty()) return lose_file(file.error);
    const auto [content, error] = parse_toml(file.text);
    if (error) {
        file_ = fmt::format("{}:{}", file_, error->line);
        if (error->column > 0) file_ += fmt::format(":{}", error->column);
        return lose_file(error->reason);
    }
    read_content(file.name, content);
}

void Reader::read_table(const std::string& section, const toml::table& content) {
    const std::vector<std::string> names = table_.names(section);
    for (const auto& [key, node] : in_file_order(content)) {
        const std::string where = place(key->source());
        const std::string name(key->str());
        if (const Key* const found = table_.find(section, name))
            take(where, *found, value_of(*node));
        else if (is_among(names, name) || (section.empty() && node->is_table()))
            read_section(where, section.empty() ? name : section + "." + name, *node);
        else
            unknown_key(where, section, name);
    }
}

void Reader::read_section(const std::string& where, std::string section, const toml::node& content) {
    if (!content.is_table())
        return complain(where, fmt::format("{} = {}: is a section; write [{}] and its keys below it", section,
                                           shown_value(value_of(content)), section));
    if (table_.names(section).empty()) {
        if (++unknown_ > most_unknown) return;
        const std::vector<std::string> sections = table_.names("");
        const auto meant = nearest(section, sections);
        complain(where, fmt::format("[{}]: unknown section; the sections are {}{}", section,
                                    fmt::join(sections, ", "), did_you_mean(section, sections)));
        if (!meant) return;
        section = *meant;  // the mistakes below it are found in the same go
    }
    deck_.origin[section] = place(content.source());
    read_table(section, *content.as_table());
}

// The TOML value that `text` is, if it is exactly one.
std::optional<DeckValue> parse_value(const std::string& text) {
    const Toml read = parse_toml("value = " + text);
    if (read.error || read.table.size() != 1 || text.find('\n') != std::string::npos) return {};
    return value_of(*read.table.get("value"));
}

void Reader::read_overrides(std::span<const std::string> overrides) {
    std::map<std::string, std::string> given;  // key -> value, as written
    for (const std::string& word : overrides) read_override(word, given);
}

bool is_bare(const std::string& text) {
    return text.find_first_of(" \t\n\r'\"[]{},#=") == std::string::npos;
}

// The value of an override: TOML, or a text as it stands.
std::optional<DeckValue> value_of_word(const Key& key, const std::string& text) {
    if (const auto value = parse_value(text)) return value;
    const bool printable = std::ranges::none_of(text, [](unsigned char c) { return c < 0x20; });
    const bool quoted = text.starts_with('"') || text.starts_with('\'');
    if (is_bare(text) || (key.is_text && printable && !quoted && !text.starts_with('['))) return text;
    return {};
}

void Reader::read_override(const std::string& word, std::map<std::string, std::string>& given) {
    const std::string where = "command line";
    const auto equals = word.find('=');
    if (equals == std::string::npos)
        return complain(where, fmt::format("{}: not understood; give section.key=value", quoted(word)));
    const std::string name = trimmed(word.substr(0, equals));
    const std::string text = trimmed(word.substr(equals + 1));
    const auto dot = name.find('.');
    const std::string section = dot == std::string::npos ? "" : name.substr(0, dot);
    const Key* key = table_.find(name);
    if (!key && is_among(table_.sections(), name)) return complain_of_section(where, name, text);
    if (!key) return unknown_key(where, section, dot == std::string::npos ? name : name.substr(dot + 1));

    if (const auto [earlier, is_new] = given.emplace(name, text); !is_new)
        return refuse(where, *key, shown(text),
                      fmt::format("given twice (before: {}); give it once", shown(earlier->second)));
    if (text == "default") {  // the value in the file is forgotten
        deck_.refused.erase(name);
        return deck_.take_back(*key);
    }
    if (const auto value = value_of_word(*key, text)) return take(where, *key, *value);
    refuse(where, *key, shown(text),
           "not a TOML value (a string may need quotes); allowed is " + key->allowed);
}

// A section in place of a key; the key that takes such a word was probably meant.
void Reader::complain_of_section(const std::string& where, const std::string& section,
                                 const std::string& word) {
    std::string meant;
    for (const Key& key : table_.keys()) {
        const bool takes = key.is_text && std::ranges::find(key.words, word, &Word::name) != key.words.end();
        if (meant.empty() && key.section == section && takes)
            meant = fmt::format(" (did you mean \"{}={}\"?)", key.full_name(), word);
    }
    complain(where, fmt::format("{}: is a section; give one of its keys: {}{}", section,
                                key_list(table_, section), meant));
}

void Reader::take(const std::string& where, const Key& key, const DeckValue& value) {
    const std::string name = key.full_name();
    deck_.origin[name] = where;
    if (const auto complaint = key.assign(value, deck_.parameters))
        refuse(where, key, shown_value(value), *complaint);
}

void Reader::refuse(const std::string& where, const Key& key, const std::string& value,
                    const std::string& what) {
    complain(where, fmt::format("{} = {}: {}", key.full_name(), value, what));
    deck_.refused.insert(key.full_name());
}

void Reader::unknown_key(const std::string& where, const std::string& section, const std::string& name) {
    if (++unknown_ > most_unknown) return;
    const bool known = !section.empty() && !table_.names(section).empty();
    std::string message =
        fmt::format("{}: unknown key", section.empty() ? name : fmt::format("{}.{}", section, name));
    if (known)
        message += fmt::format("; [{}] has {}", section, key_list(table_, section));
    else
        message +=
            fmt::format("; {} {}", section.empty() ? "keys belong to the sections" : "the sections are",
                        key_list(table_, ""));
    if (const Key* meant = nearest_key(table_, section, name)) {
        message += fmt::format(" (did you mean \"{}\"?)", meant->full_name());
        deck_.refused.insert(meant->full_name());
    } else {
        message +=
            did_you_mean(known || section.empty() ? name : section, table_.names(known ? section : ""));
    }
    complain(where, message);
}

}  // namespace

bool Deck::is_set(const std::string& key) const {
    const auto found = origin.find(key);
    return found != origin.end() && found->second != "default";
}

void Deck::take_back(const Key& key) {
    key.set_default(parameters);
    origin[key.full_name()] = "default";
}

Deck read_deck(const Table& table, const std::optional<FileText>& file,
               std::span<const std::string> overrides) {
    Reader reader(table);
    if (file) reader.read_file(*file);
    reader.read_overrides(overrides);
    return std::move(reader).result();
}

Deck read_deck(const Table& table, const std::string& file, const toml::table& content) {
    Reader reader(table);
    reader.read_content(file, content);
    return std::move(reader).result();
}

}  // namespace keel
