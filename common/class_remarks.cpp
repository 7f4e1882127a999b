#include "common/class_remarks.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

namespace winnow {
namespace {

constexpr std::size_t kMostNamed = 3;
constexpr char32_t kAccented = 1;  // stands for a letter with its accents

// The code points of UTF-8; invalid bytes count as themselves.
std::u32string code_points(std::string_view text) {
  std::u32string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
    char32_t c = more == 0 ? lead : lead & (0x3FU >> more);
    for (std::size_t i = 1; i <= more; ++i) {
      const auto byte = at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
      c = c << 6 | (byte & 0x3FU);
    }
    out += c;
    at += more + 1;
  }
  return out;
}

bool is_in(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

bool is_accent(char32_t c) { return is_in(c, 0x300, 0x36F); }

// Latin, Greek and Cyrillic letters that can be decomposed into a letter and accents.
bool is_composed(char32_t c) {
  constexpr std::u32string_view kOthers =
      U"\u0386\u0388\u0389\u038A\u038C\u038E\u038F\u0390\u03AA\u03AB\u03AC\u03AD\u03AE\u03AF\u03B0"
      U"\u03CA\u03CB\u03CC\u03CD\u03CE\u0400\u0401\u0403\u0407\u040C\u040D\u040E\u0419\u0439\u0450"
      U"\u0451\u0453\u0457\u045C\u045D\u045E";
  return (is_in(c, 0xC0, 0x24F) && c != 0xD7 && c != 0xF7) || is_in(c, 0x1E00, 0x1FFF) ||
         kOthers.find(c) != kOthers.npos;
}

// Combines Korean letters to a syllable (Unicode 15, section 3.12).
std::optional<char32_t> joined_korean(char32_t before, char32_t c) {
  constexpr char32_t kFirst = 0xAC00;
  if (is_in(before, 0x1100, 0x1112) && is_in(c, 0x1161, 0x1175)) {
    return kFirst + ((before - 0x1100) * 21 + (c - 0x1161)) * 28;
  }
  const bool is_open = is_in(before, kFirst, 0xD7A3) && (before - kFirst) % 28 == 0;
  if (is_open && is_in(c, 0x11A8, 0x11C2)) return before + (c - 0x11A7);
  return std::nullopt;
}

// Appends a code point, or merges it into the last one.
void put(std::u32string& to, char32_t c) {
  if (!to.empty() && is_accent(c)) {
    to.back() = kAccented;
  } else if (!to.empty() && (c == 0x3099 || c == 0x309A)) {  // Japanese voicing marks
    to.back() += c - 0x3098;
  } else if (const auto joined = to.empty() ? std::nullopt : joined_korean(to.back(), c)) {
    to.back() = *joined;
  } else {
    to += is_composed(c) ? kAccented : c;
  }
}

std::string in_quotes(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) {
    text += (i == 0 ? "'" : ", '") + names[i] + "'";
  }
  if (names.size() > kMostNamed) {
    text += " and " + std::to_string(names.size() - kMostNamed) + " more";
  }
  return text;
}

std::uint64_t count_at(const ClassCounts& counts, Split split, std::size_t label) {
  const auto& of_split = counts[static_cast<std::size_t>(split)];
  return label < of_split.size() ? of_split[label] : 0;
}

bool are_numbers(std::span<const std::string> names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != std::to_string(i)) return false;
  }
  return true;
}

std::string remark_on_empty(std::span<const std::string> names, const ClassCounts& counts) {
  std::size_t empty = 0;
  for (std::size_t label = 0; label < names.size(); ++label) {
    const bool has_some = std::ranges::any_of(counts, [&](const auto& of_split) {
      return label < of_split.size() && of_split[label] > 0;
    });
    empty += has_some ? 0 : 1;
  }
  if (empty == 0 || empty == names.size()) return "";
  return std::to_string(empty) + " of " + std::to_string(names.size()) + " classes " +
         (empty == 1 ? "has" : "have") + " no image" +
         (are_numbers(names) ? ": labels are numbers with gaps, and every number up to the largest "
                               "is a class; number them from 0 without gaps, or use names"
                             : "");
}

std::string remark_on_spelling(std::span<const std::string> names) {
  std::map<std::string, std::string> first;
  std::vector<std::string> alike;
  for (const std::string& name : names) {
    const auto [at, is_new] = first.try_emplace(spelling_key(name), name);
    if (!is_new) alike.push_back(at->second + "' and '" + name);
  }
  if (alike.empty()) return "";
  return "some classes differ only by case, blanks or the form of accented letters, and count as "
         "different: " +
         in_quotes(alike) + "; if they are one class, spell them alike";
}

std::string remark_on_train(std::span<const std::string> names, const ClassCounts& counts) {
  std::vector<std::string> missing;
  bool is_any = false;
  for (std::size_t label = 0; label < names.size(); ++label) {
    const bool trains = count_at(counts, Split::kTrain, label) > 0;
    is_any = is_any || trains;
    const auto others =
        count_at(counts, Split::kVal, label) + count_at(counts, Split::kTest, label);
    if (!trains && others > 0) missing.push_back(names[label]);
  }
  if (!is_any || missing.empty()) return "";
  return std::string(missing.size() == 1 ? "1 class is"
                                         : std::to_string(missing.size()) + " classes are") +
         " in val or test but not in train, so training never sees " +
         (missing.size() == 1 ? "it: " : "them: ") + in_quotes(missing);
}

}  // namespace

std::string spelling_key(std::string_view name) {
  std::u32string key;
  bool is_gap = false;
  for (const char32_t c : code_points(name)) {
    if (c == ' ' || c == '\t' || c == 0xA0 || c == 0x3000) {
      is_gap = !key.empty();
      continue;
    }
    if (is_gap) key += U' ';
    is_gap = false;
    put(key, c < 0x80 ? static_cast<char32_t>(std::tolower(static_cast<int>(c))) : c);
  }
  return {reinterpret_cast<const char*>(key.data()), key.size() * sizeof(char32_t)};
}

std::vector<std::string> class_remarks(std::span<const std::string> names,
                                       const ClassCounts& counts) {
  std::vector<std::string> remarks{remark_on_empty(names, counts), remark_on_spelling(names),
                                   remark_on_train(names, counts)};
  std::erase(remarks, "");
  return remarks;
}

}  // namespace winnow
