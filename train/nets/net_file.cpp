#include "train/nets/net_file.h"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <sstream>
#include <utility>

#include "common/error.h"
#include "common/file.h"

namespace winnow::train {
namespace {

constexpr std::string_view kSuffix = ".toml";
constexpr double kMostDropPath = 0.9;

// The start of a file's text, for messages.
std::string quoted_start(std::string_view text) {
  constexpr std::size_t kMost = 80;
  return std::string(text.substr(0, kMost)) + (text.size() > kMost ? "..." : "");
}

std::string short_number(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

void check_size(std::uintmax_t bytes, const std::string& where) {
  if (bytes <= kMostNetFileBytes || bytes == static_cast<std::uintmax_t>(-1)) return;
  throw UsageError(where + " has more than " + std::to_string(kMostNetFileBytes) +
                   " bytes, the limit for a description of a net");
}

// Reads one description. Anything outside the language is an error that names its line.
class DescriptionReader {
 public:
  explicit DescriptionReader(const std::string& where) { made_.where = where; }

  NetDescription read(const toml::table& top) && {
    for (const auto& [key, value] : top) {
      const std::string_view name = key.str();
      require_known(value, "key", name, kTopKeys);
      if (name == kSide.name) made_.image_size_px = static_cast<int>(number(value, kSide));
      if (name == kDropPath.name) made_.drop_path = number(value, kDropPath);
    }
    for (const std::string_view section : kSections) {
      if (const toml::node* found = top.get(section)) read_section(section, *found);
    }
    check_end();
    return std::move(made_);
  }

 private:
  static constexpr std::array<std::string_view, 3> kSections{"stem", "stages", "head"};
  static constexpr std::array<std::string_view, 5> kTopKeys{"image_size", "drop_path", "stem",
                                                            "stages", "head"};
  static constexpr BlockKey kSide{.name = "image_size", .least = 1, .most = kMostSidePx};
  static constexpr BlockKey kDropPath{
      .name = "drop_path", .kind = KeyKind::kReal, .least = 0, .most = kMostDropPath};
  static constexpr BlockKey kDepth{.name = "depth", .least = 1, .most = kMostBlocks};

  [[noreturn]] void fail(std::int64_t line, const std::string& what) const {
    throw UsageError(made_.where + ":" + std::to_string(line) + ": " + what);
  }
  [[noreturn]] void fail(const toml::node& at, const std::string& what) const {
    fail(at.source().begin.line, what);
  }

  void require_known(const toml::node& at, const std::string& kind, std::string_view name,
                     std::span<const std::string_view> known) const {
    if (std::ranges::find(known, name) != known.end()) return;
    std::string list;
    for (const std::string_view one : known) list += (list.empty() ? "" : ", ") + std::string(one);
    fail(at, "unknown " + kind + " '" + quoted_start(name) + "'; known are " + list);
  }

  double number(const toml::node& value, const BlockKey& key) const {
    const bool whole = key.kind == KeyKind::kWhole;
    const std::optional<double> found = value.value<double>();
    if (!value.is_number() || (whole && !value.is_integer()) || !found || !(*found >= key.least) ||
        !(*found <= key.most)) {
      fail(value, std::string(key.name) + " must be a " + (whole ? "whole " : "") + "number from " +
                      short_number(key.least) + " to " + short_number(key.most));
    }
    return *found;
  }

  double value_of(const toml::node& value, const BlockKey& key) const {
    if (key.kind == KeyKind::kWhole || key.kind == KeyKind::kReal) return number(value, key);
    if (key.kind == KeyKind::kSwitch) {
      const toml::value<bool>* on = value.as_boolean();
      if (on == nullptr) fail(value, std::string(key.name) + " must be true or false");
      return on->get() ? 1 : 0;
    }
    const std::string& word = text(value, key.name);
    require_known(value, std::string(key.name), word, key.words);
    return static_cast<double>(std::ranges::find(key.words, word) - key.words.begin());
  }

  const std::string& text(const toml::node& value, std::string_view key) const {
    const toml::value<std::string>* found = value.as_string();
    if (found == nullptr) fail(value, std::string(key) + " must be a string in quotes");
    return found->get();
  }

  void read_section(std::string_view section, const toml::node& value) {
    const toml::array* list = value.as_array();
    if (list == nullptr) {
      fail(value, std::string(section) + " must be a list of blocks, [{block = \"conv\", ...}]");
    }
    int place = 0;
    for (const toml::node& entry : *list) {
      read_entry(std::string(section) + "." + std::to_string(place++), entry);
    }
  }

  void read_entry(std::string name, const toml::node& value) {
    const toml::table* table = value.as_table();
    if (table == nullptr) fail(value, "a block must be a table, {block = \"conv\", ...}");
    const toml::node* kind = table->get("block");
    if (kind == nullptr)
      fail(value, "a block lacks the key 'block', which names the kind of block");
    BlockEntry entry{.line = value.source().begin.line,
                     .block = &find_block(*kind),
                     .name = std::move(name),
                     .values = {}};
    for (const BlockKey& key : entry.block->keys) entry.values.set(key.name, key.initial);
    for (const auto& [key, given] : *table) read_key(key.str(), given, entry);
    for (const BlockKey& key : entry.block->keys) {
      if (entry.values.real(key.name) == kMustBeGiven) {
        fail(value, std::string(entry.block->name) + " lacks the key " + std::string(key.name));
      }
    }
    blocks_ += std::max(1, entry.depth);
    if (blocks_ > kMostBlocks) {
      fail(value, "up to here the net has more than " + std::to_string(kMostBlocks) + " blocks");
    }
    made_.entries.push_back(std::move(entry));
  }

  const Block& find_block(const toml::node& value) const {
    const std::string& name = text(value, "block");
    std::vector<std::string_view> known;
    for (const Block& block : net_blocks()) known.push_back(block.name);
    require_known(value, "block", name, known);
    return *std::ranges::find(net_blocks(), name, &Block::name);
  }

  void read_key(std::string_view key, const toml::node& value, BlockEntry& entry) const {
    const Block& block = *entry.block;
    std::vector<std::string_view> known{"block", "name"};
    if (block.repeats) known.push_back("depth");
    for (const BlockKey& one : block.keys) known.push_back(one.name);
    require_known(value, "key of " + std::string(block.name), key, known);
    if (key == "block") return;
    if (key == "name") {
      entry.name = name_of(value);
    } else if (key == "depth") {
      entry.depth = static_cast<int>(number(value, kDepth));
    } else {
      const BlockKey& found = *std::ranges::find(block.keys, key, &BlockKey::name);
      entry.values.set(found.name, value_of(value, found));
    }
  }

  // The name becomes part of tensor names.
  std::string name_of(const toml::node& value) const {
    constexpr std::size_t kLongest = 64;
    constexpr std::string_view kAllowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.#";
    const std::string& name = text(value, "name");
    if (name.empty() || name.size() > kLongest || std::ranges::count(name, '#') > 1 ||
        name.find_first_not_of(kAllowed) != std::string::npos) {
      fail(value,
           "a name has 1 to " + std::to_string(kLongest) +
               " letters, digits, '_', '-' and '.', and at most one '#', which becomes a number");
    }
    return name;
  }

  // Only the last layer takes its width from the classes.
  void check_end() const {
    for (const BlockEntry& entry : made_.entries) {
      const bool last = &entry == &made_.entries.back();
      const bool linear = entry.block->name == "linear";
      const bool has_width = linear && entry.values.whole("width") > 0;
      if (last && (!linear || has_width)) {
        fail(entry.line,
             "the last block must be linear without width: it gets one output per class");
      }
      if (!last && linear && !has_width) {
        fail(entry.line, "linear needs a width; only the last block goes without");
      }
    }
    if (made_.entries.empty()) {
      throw UsageError(made_.where + " describes no net: the list of blocks is empty");
    }
  }

  NetDescription made_;
  int blocks_ = 0;
};

}  // namespace

NetDescription parse_net(std::string_view text, const std::string& where) {
  check_size(text.size(), where);
  try {
    return DescriptionReader(where).read(toml::parse(text, where));
  } catch (const toml::parse_error& error) {
    throw UsageError(where + ":" + std::to_string(error.source().begin.line) +
                     ": not valid TOML: " + quoted_start(error.description()));
  }
}

bool is_net_file(std::string_view net) { return net.ends_with(kSuffix); }

NetChoice read_net_file(const std::string& path) {
  require_file(path);
  std::error_code none;  // an unreadable file is reported below
  check_size(std::filesystem::file_size(path, none), path);
  NetChoice net{.name = std::filesystem::path(path).stem().string(),
                .description = read_text(path),
                .where = path};
  parse_net(net.description, net.where);
  return net;
}

namespace {

NetDescription description_of(const NetChoice& net) {
  return parse_net(net.description,
                   net.where.empty() ? net.name + std::string(kSuffix) : net.where);
}

}  // namespace

Graph make_net(const NetChoice& net, const NetOptions& options) {
  return net.description.empty() ? find_net(net.name).make(options)
                                 : make_net(description_of(net), options);
}

int default_side_px(const NetChoice& net) {
  return net.description.empty() ? find_net(net.name).default_side_px
                                 : description_of(net).image_size_px;
}

std::string why_no_toml(const std::string& path) {
  try {
    [[maybe_unused]] const toml::table read = toml::parse_file(path);
    return "";
  } catch (const toml::parse_error& error) {
    if (error.source().begin.line == 0) return "";
    return "line " + std::to_string(error.source().begin.line) +
           " is not valid TOML: " + std::string(error.description());
  }
}

}  // namespace winnow::train
