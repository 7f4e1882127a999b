#include "dedup/tune/finds.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "dedup/hash/hash_name.h"

namespace winnow::dedup {
namespace {

constexpr std::array<std::string_view, 4> kMeasured{"phash", "dhash", "phash16", "pdq"};
constexpr int kNever = 1 << 16;

// For each hash, the bits within which nine of ten of 200 photos are after an edit (winnow tune
// --images 200 --most 120 on the photos of tests/bench/dedup/recall).
struct EditBits {
  std::string_view what;
  std::string_view much;  // strength, for consecutive edits of one kind
  std::array<int, kMeasured.size()> bits;
};
constexpr std::array kEdits{
    EditBits{"JPEG", "", {2, 3, 8, 10}},
    EditBits{"scaling", "", {0, 1, 2, 24}},
    EditBits{"blur", "", {2, 2, 4, 14}},
    EditBits{"gamma", "", {8, 5, 30, 30}},
    EditBits{"watermarks", "", {10, 5, 36, 34}},
    EditBits{"borders of", "2 %", {12, 16, 60, 62}},
    EditBits{"borders of", "5 %", {22, 21, 108, 112}},
    EditBits{"crops to", "1 %", {4, 2, 16, 20}},
    EditBits{"crops to", "2 %", {6, 4, 30, 34}},
    EditBits{"crops to", "5 %", {10, 9, 64, 72}},
    EditBits{"crops to", "10 %", {18, 17, 110, 116}},
    EditBits{"turns to", "1 degree", {6, 5, 24, 32}},
    EditBits{"turns to", "2 degrees", {8, 8, 46, 52}},
    EditBits{"turns to", "5 degrees", {16, 15, 90, 96}},
};

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

std::string finds_in_words(std::string_view hash, int threshold) {
  const std::optional<HashName> name = parse_hash_name(hash);
  const auto* const column = std::ranges::find(kMeasured, name ? name->row : std::string_view());
  if (column == kMeasured.end()) return {};
  const auto at = static_cast<std::size_t>(column - kMeasured.begin());
  std::vector<std::string> found;
  std::vector<std::string> missed;
  std::string_view last_found;
  std::string_view last_missed;
  for (const EditBits& edit : kEdits) {
    const bool is_found = edit.bits[at] <= threshold;
    std::vector<std::string>& words = is_found ? found : missed;
    std::string_view& last = is_found ? last_found : last_missed;
    const std::string word =
        std::string(edit.what) + (edit.much.empty() ? "" : " ") + std::string(edit.much);
    // For each kind: the strongest edit that is found, and the weakest that is not.
    if (last != edit.what) {
      words.push_back(word);
    } else if (is_found) {
      words.back() = word;
    }
    last = edit.what;
  }
  if (name->orientations == 1) missed.emplace_back("mirrored pictures");
  (name->orientations == 8 ? found : missed).emplace_back("quarter turns");
  if (name->orientations > 1) found.emplace_back("mirrored pictures");
  return (found.empty() ? "finds equal codes only" : "finds " + listed(found)) +
         (missed.empty() ? "" : "; not " + listed(missed));
}

}  // namespace winnow::dedup
