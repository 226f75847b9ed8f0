#include "miniapp/deck/deck.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "miniapp/deck/spelling.hpp"
#include "miniapp/setup/modes.hpp"

namespace keel {

namespace {

std::string did_you_mean(const std::optional<std::string>& name) {
    return name ? fmt::format(" (did you mean \"{}\"?)", *name) : "";
}

// The key that `section.name` was probably meant to be. The key's own name counts first, so that a key in the
// wrong section is found; the section decides between equals.
const Key* nearest_key(const Table& table, const std::string& section, const std::string& name) {
    const Key* best = nullptr;
    std::pair<std::size_t, std::size_t> fewest;
    for (const Key& key : table.keys()) {
        const std::pair distance(edits(name, key.name), edits(section, key.section));
        if (is_near(distance.first, name) && (!best || distance < fewest)) {
            best = &key;
            fewest = distance;
        }
    }
    return best;
}

std::string key_list(const Table& table, const std::string& section) {
    std::vector<std::string> names;
    for (const Key& key : table.keys()) {
        if (key.section == section) names.push_back(key.name);
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// A value as the user would write it.
std::string shown(const toml::node& node) {
    if (const auto* text = node.as_string()) return quoted(text->get());
    if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
    if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
    if (const auto* real = node.as_floating_point()) {
        const double x = real->get();
        if (!std::isfinite(x)) return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
        return nlohmann::json(x).dump();  // keeps the .0
    }
    if (const auto* array = node.as_array()) {
        std::vector<std::string> elements;
        for (const toml::node& element : *array) elements.push_back(shown(element));
        return fmt::format("[{}]", fmt::join(elements, ","));
    }
    return node.is_table() ? "{...}" : "a date or time";
}

using Complaint = std::optional<std::string>;

Complaint unknown_word(const std::string& what, const std::string& word,
                       const std::vector<std::string>& names) {
    return fmt::format("unknown {}; choose {}{}", what, fmt::join(names, ", "),
                       did_you_mean(nearest(word, names)));
}

bool is_among(const std::vector<std::string>& names, const std::string& word) {
    return std::ranges::find(names, word) != names.end();
}

// Puts a TOML value into the parameters, or says why not. One overload a kind of key.
class Assignment {
  public:
    Assignment(const Key& key, const toml::node& node, Parameters& parameters)
        : key_(key), node_(node), parameters_(parameters) {}

    Complaint operator()(const IntegerKey& kind) const {
        const auto* integer = node_.as_integer();
        if (!integer) return "must be an integer, " + allowed_text(key_);
        if (integer->get() < kind.lowest) return outside();
        if (integer->get() > kind.highest)
            return fmt::format("must be from {} to {}", kind.lowest, kind.highest);
        kind.value.set(parameters_, integer->get());
        return {};
    }

    Complaint operator()(const RealKey& kind) const {
        const auto* integer = node_.as_integer();
        const auto* real = node_.as_floating_point();
        if (!integer && !real) return "must be a number, " + allowed_text(key_);
        const double x = real ? real->get() : static_cast<double>(integer->get());
        if (!std::isfinite(x)) return "must be a finite number, " + allowed_text(key_);
        if (!kind.allowed.contains(x)) return outside();
        kind.value.set(parameters_, x);
        return {};
    }

    Complaint operator()(const FlagKey& kind) const {
        const auto* flag = node_.as_boolean();
        if (!flag) return "must be true or false, without quotes";
        kind.value.set(parameters_, flag->get());
        return {};
    }

    Complaint operator()(const ChoiceKey& kind) const {
        const auto* word = node_.as_string();
        if (!word) return fmt::format("must be a string, one of {}", allowed_text(key_));
        if (!is_among(kind.names, word->get())) return unknown_word(key_.name, word->get(), kind.names);
        kind.value.set(parameters_, word->get());
        return {};
    }

    Complaint operator()(const TextKey& kind) const {
        const auto* text = node_.as_string();
        if (!text) return "must be a string, in quotes";
        kind.value.set(parameters_, text->get());
        return {};
    }

    Complaint operator()(const ListKey& kind) const {
        const auto* array = node_.as_array();
        if (!array) return "must be an array of strings, in quotes";
        std::vector<std::string> texts;
        for (const toml::node& element : *array) {
            const auto* text = element.as_string();
            if (!text) return "must be an array of strings, in quotes";
            texts.push_back(text->get());
        }
        kind.value.set(parameters_, texts);
        return {};
    }

    Complaint operator()(const TripleKey& kind) const {
        const std::string wanted = fmt::format("must be an array of three integers, {}", allowed_text(key_));
        const auto* array = node_.as_array();
        if (!array || array->size() != 3) return wanted;
        Index triple;
        for (std::size_t d = 0; d < 3; ++d) {
            const auto* integer = array->get(d)->as_integer();
            if (!integer) return wanted;
            if (integer->get() < kind.lowest || integer->get() > std::numeric_limits<int>::max())
                return wanted;
            triple[d] = static_cast<int>(integer->get());
        }
        kind.value.set(parameters_, triple);
        return {};
    }

    Complaint operator()(const BoundariesKey& kind) const {
        const std::string wanted =
            fmt::format("must be a string or an array of three, each one of {}", allowed_text(key_));
        const auto* array = node_.as_array();
        if (array ? array->size() != 3 : !node_.is_string()) return wanted;
        std::array<std::string, 3> words;
        for (std::size_t d = 0; d < 3; ++d) {
            const auto* word = array ? array->get(d)->as_string() : node_.as_string();
            if (!word) return wanted;
            if (!is_among(kind.names, word->get())) return unknown_word(key_.name, word->get(), kind.names);
            words[d] = word->get();
        }
        kind.value.set(parameters_, words);
        return {};
    }

  private:
    Complaint outside() const { return "must be " + allowed_text(key_); }

    const Key& key_;
    const toml::node& node_;
    Parameters& parameters_;
};

class Reader {
  public:
    explicit Reader(const Table& table) : table_(table) {
        for (const Key& key : table.keys()) deck_.origin[key.full_name()] = "default";
    }

    void read_file(const std::filesystem::path& file);
    void read_overrides(std::span<const std::string> overrides);
    Deck result() && { return std::move(deck_); }

  private:
    void read_section(const toml::key& name, const toml::node& content);
    void read_override(const std::string& word, std::map<std::string, std::string>& given);
    void take(const std::string& where, const Key& key, const toml::node& node);
    void unknown_key(const std::string& where, const std::string& section, const std::string& name);

    void complain(const std::string& where, const std::string& what) {
        deck_.errors.push_back(fmt::format("{}: {}", where, what));
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

void Reader::read_file(const std::filesystem::path& file) {
    file_ = file.string();
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored)) return lose_file("is a folder; give a deck file");
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
        return lose_file(fmt::format("cannot be read: {}; give the path of a deck",
                                     std::generic_category().message(errno)));
    }
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    try {
        const toml::table content = toml::parse(text, file_);
        for (const auto& [name, node] : in_file_order(content)) read_section(*name, *node);
    } catch (const toml::parse_error& error) {
        file_ = fmt::format("{}:{}:{}", file_, error.source().begin.line, error.source().begin.column);
        lose_file(fmt::format("not valid TOML: {}", error.description()));
    }
}

void Reader::read_section(const toml::key& name, const toml::node& content) {
    const std::vector<std::string> sections = table_.sections();
    std::string section{name.str()};
    const bool known = is_among(sections, section);
    const std::string where = place(name.source());
    if (!content.is_table()) {
        if (!known) return unknown_key(where, "", section);
        return complain(where, fmt::format("{} = {}: is a section; write [{}] and its keys below it", section,
                                           shown(content), section));
    }
    if (!known) {
        const auto meant = nearest(section, sections);
        complain(where, fmt::format("[{}]: unknown section; the sections are {}{}", section,
                                    fmt::join(sections, ", "), did_you_mean(meant)));
        if (!meant) return;
        section = *meant;  // so that the mistakes below it are found in the same go
    }
    for (const auto& [key_name, node] : in_file_order(*content.as_table())) {
        const std::string at = place(key_name->source());
        if (const Key* key = table_.find(section, key_name->str())) {
            take(at, *key, *node);
        } else {
            unknown_key(at, section, std::string(key_name->str()));
        }
    }
}

std::string trimmed(const std::string& text) {
    const char* const blanks = " \t";
    const auto first = text.find_first_not_of(blanks);
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// The TOML value that `text` is, if it is exactly one.
std::optional<toml::table> parse_value(const std::string& text) {
    try {
        auto table = toml::parse("value = " + text);
        if (table.size() == 1 && text.find('\n') == std::string::npos) return table;
    } catch (const toml::parse_error&) {
    }
    return {};
}

void Reader::read_overrides(std::span<const std::string> overrides) {
    std::map<std::string, std::string> given;  // key -> value, as written
    for (const std::string& word : overrides) read_override(word, given);
}

void Reader::read_override(const std::string& word, std::map<std::string, std::string>& given) {
    const std::string where = "command line";
    const auto equals = word.find('=');
    if (equals == std::string::npos) {
        return complain(where, fmt::format("{}: not understood; give section.key=value", quoted(word)));
    }
    const std::string name = trimmed(word.substr(0, equals));
    const std::string text = trimmed(word.substr(equals + 1));
    const auto dot = name.find('.');
    const std::string section = dot == std::string::npos ? "" : name.substr(0, dot);
    const Key* key = dot == std::string::npos ? nullptr : table_.find(section, name.substr(dot + 1));
    if (!key) return unknown_key(where, section, dot == std::string::npos ? name : name.substr(dot + 1));

    if (const auto [earlier, is_new] = given.emplace(name, text); !is_new) {
        deck_.refused.insert(name);
        return complain(where, fmt::format("{} = {}: given twice (before: {}); give it once", name, text,
                                           earlier->second));
    }
    auto value = parse_value(text);
    const bool bare = text.find_first_of(" \t\n\r'\"[]{},#=") == std::string::npos;
    if (!value && bare) value = parse_value("'" + text + "'");
    if (!value) {
        deck_.refused.insert(name);
        return complain(
            where, fmt::format("{} = {}: not a TOML value (a string may need quotes); allowed is {}", name,
                               text, allowed_text(*key)));
    }
    take(where, *key, *value->get("value"));
}

void Reader::take(const std::string& where, const Key& key, const toml::node& node) {
    const std::string name = key.full_name();
    deck_.origin[name] = where;
    if (const auto complaint = std::visit(Assignment(key, node, deck_.parameters), key.kind)) {
        complain(where, fmt::format("{} = {}: {}", name, shown(node), *complaint));
        deck_.refused.insert(name);
    }
}

void Reader::unknown_key(const std::string& where, const std::string& section, const std::string& name) {
    const auto sections = table_.sections();
    std::string message =
        fmt::format("{}: unknown key", section.empty() ? name : fmt::format("{}.{}", section, name));
    if (section.empty()) {
        message += fmt::format("; keys belong to the sections {}", fmt::join(sections, ", "));
    } else if (is_among(sections, section)) {
        message += fmt::format("; [{}] has {}", section, key_list(table_, section));
    } else {
        message += fmt::format("; the sections are {}", fmt::join(sections, ", "));
    }
    if (const Key* meant = nearest_key(table_, section, name)) {
        message += did_you_mean(meant->full_name());
        deck_.refused.insert(meant->full_name());
    } else if (!is_among(sections, section)) {
        message += did_you_mean(nearest(section.empty() ? name : section, sections));
    }
    complain(where, message);
}

}  // namespace

Deck read_deck(const Table& table, const std::optional<std::filesystem::path>& file,
               std::span<const std::string> overrides) {
    Reader reader(table);
    if (file) reader.read_file(*file);
    reader.read_overrides(overrides);
    Deck deck = std::move(reader).result();
    name_contestants(table, deck);
    return deck;
}

}  // namespace keel
