#include "datasets/skips.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace winnow::datasets {
namespace {

// Names used by Synology, QNAP, NetApp, ZFS, Windows, macOS and Linux for trash, snapshots and
// derived files.
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

bool fits(const std::string& glob, const std::string& text, int flags = 0) {
  return ::fnmatch(glob.c_str(), text.c_str(), flags) == 0;
}

// Visits the parts between '/' until `stop` returns true. Returns whether it did.
template <class Stop>
bool any_part(std::string_view path, const Stop& stop) {
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (stop(begin, path.substr(begin, end - begin))) return true;
    if (end == path.size()) return false;
    begin = end + 1;
  }
}

// Whether one of the globs matches the path, one of its parent folders, or one of its parts. Scans
// the path once a glob, not once a folder.
bool excluded_anywhere(const std::vector<std::string>& globs, std::string_view path) {
  if (globs.empty()) return false;  // archives have many names
  const auto fits_some = [&](const std::string& text, int flags) {
    return std::ranges::any_of(globs, [&](const auto& glob) { return fits(glob, text, flags); });
  };
  return fits_some(std::string(path), FNM_LEADING_DIR) ||
         any_part(path, [&](std::size_t /*begin*/, std::string_view part) {
           return fits_some(std::string(part), 0);
         });
}

std::optional<std::string_view> reason_of(std::string_view name, const OpenOptions& options) {
  if (!options.system && is_of_system(name)) return "of a NAS or an operating system";
  if (!options.hidden && name.starts_with('.') && !is_of_system(name)) return "hidden";
  return std::nullopt;
}

// Only short alphanumeric endings, so that there are few different ones.
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

std::optional<std::string_view> skip_reason(std::string_view path, const OpenOptions& options) {
  const std::string name(last_part(path));
  if (const auto reason = reason_of(name, options)) return reason;
  const std::string whole(path);
  const bool excluded = std::ranges::any_of(options.exclude, [&](const std::string& glob) {
    return fits(glob, whole) || fits(glob, name);
  });
  return excluded ? std::optional<std::string_view>("excluded") : std::nullopt;
}

std::optional<std::string_view> skip_reason_anywhere(std::string_view path,
                                                     const OpenOptions& options) {
  std::optional<std::string_view> reason;
  std::optional<std::string_view> before = path;  // the part before the first one with a reason
  any_part(path, [&](std::size_t begin, std::string_view name) {
    reason = reason_of(name, options);
    if (reason) before = begin == 0 ? std::nullopt : std::optional(path.substr(0, begin - 1));
    return reason.has_value();
  });
  if (before && excluded_anywhere(options.exclude, *before)) return "excluded";
  return reason;
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
      put("files that are not images (" + std::to_string(files) + ": " + row);
    } else {
      text += ", " + row;
    }
  }
  if (files > 0) text += by_count.size() > kShown ? " and others)" : ")";
  return text.empty() ? "" : "; skipped: " + text;
}

}  // namespace winnow::datasets
