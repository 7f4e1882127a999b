#include "datasets/skips.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace winnow::datasets {
namespace {

// Of Synology, QNAP, NetApp, ZFS, Windows, macOS and Linux: what is thrown away, kept of former
// times, or made of the user's files.
constexpr std::array<std::string_view, 21> kOfSystems{"@eaDir",
                                                      "@Recycle",
                                                      "@Recently-Snapshot",
                                                      "#recycle",
                                                      "#snapshot",
                                                      "~snapshot",
                                                      ".snapshot",
                                                      ".snapshots",
                                                      ".zfs",
                                                      ".thumbnails",
                                                      "$RECYCLE.BIN",
                                                      "RECYCLER",
                                                      "System Volume Information",
                                                      "lost+found",
                                                      "__MACOSX",
                                                      ".DS_Store",
                                                      "Thumbs.db",
                                                      ".AppleDouble",
                                                      ".Trashes",
                                                      ".Spotlight-V100",
                                                      "desktop.ini"};

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Whether one of the globs fits all of the path or its last part.
bool fits(const std::vector<std::string>& globs, std::string_view path) {
  if (globs.empty()) return false;  // the copies below would be many: one path has many folders
  const std::string whole(path);
  const std::string name(last_part(path));
  return std::ranges::any_of(globs, [&](const std::string& glob) {
    return ::fnmatch(glob.c_str(), whole.c_str(), 0) == 0 ||
           ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
  });
}

// Of a few letters and digits, so that there are not many.
std::string ending_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos || name.size() - dot > 6) return "others";
  std::string ending(name.substr(dot));
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const bool plain = std::all_of(ending.begin() + 1, ending.end(),
                                 [](unsigned char c) { return c < 0x80 && std::isalnum(c) != 0; });
  return plain && ending.size() > 1 ? ending : "others";
}

}  // namespace

bool is_of_system(std::string_view name) {
  return name.starts_with("._") || name.starts_with(".Trash-") ||
         std::find(kOfSystems.begin(), kOfSystems.end(), name) != kOfSystems.end();
}

std::optional<std::string_view> passed_over(std::string_view path, const OpenOptions& options) {
  const std::string_view name = last_part(path);
  if (!options.system && is_of_system(name)) return "of a NAS or an operating system";
  if (!options.hidden && name.starts_with('.') && !is_of_system(name)) return "hidden";
  if (fits(options.exclude, path)) return "excluded";
  return std::nullopt;
}

std::optional<std::string_view> passed_over_anywhere(std::string_view path,
                                                     const OpenOptions& options) {
  for (std::size_t end = path.find('/'); end != path.npos; end = path.find('/', end + 1)) {
    if (const auto reason = passed_over(path.substr(0, end), options)) return reason;
  }
  return passed_over(path, options);
}

void Skips::add(std::string_view reason) { ++reasons_[std::string(reason)]; }

void Skips::add_no_image(std::string_view path) { ++endings_[ending_of(last_part(path))]; }

void Skips::add(const Skips& other) {
  for (const auto& [reason, count] : other.reasons_) reasons_[reason] += count;
  for (const auto& [ending, count] : other.endings_) endings_[ending] += count;
}

std::vector<Skipped> Skips::rows() const {
  std::vector<Skipped> rows;
  for (const auto& [reason, count] : reasons_) rows.push_back({reason, count});
  for (const auto& [ending, count] : endings_) {
    rows.push_back({"no image by its name: " + ending, count});
  }
  return rows;
}

std::string Skips::note() const {
  std::string text;
  const auto put = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  for (const auto& [reason, count] : reasons_) put(reason + " (" + std::to_string(count) + ")");
  std::vector<std::pair<std::uint64_t, std::string>> by_count;
  std::uint64_t files = 0;
  for (const auto& [ending, count] : endings_) {
    by_count.emplace_back(count, ending);
    files += count;
  }
  std::stable_sort(by_count.begin(), by_count.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t kShown = 5;
  for (std::size_t i = 0; i < std::min(kShown, by_count.size()); ++i) {
    const std::string row = std::to_string(by_count[i].first) + " " + by_count[i].second;
    if (i == 0) {
      put("no images by their names (" + std::to_string(files) + ": " + row);
    } else {
      text += ", " + row;
    }
  }
  if (files > 0) text += by_count.size() > kShown ? " and others)" : ")";
  return text.empty() ? "" : "; passed over: " + text;
}

}  // namespace winnow::datasets
