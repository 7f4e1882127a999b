#include "common/text_cache.h"

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <random>
#include <system_error>
#include <utility>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/file.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "common/json_text.h"

namespace winnow {
namespace {

constexpr int kVersion = 1;
constexpr std::uintmax_t kMostBytes = 1 << 24;  // files that are larger are not read

std::string sealed(std::string_view key, std::string_view text) {
  const Json whole{{"key", key}, {"text", text}, {"version", kVersion}};
  return with_digest_line(whole.dump(2) + "\n");
}

std::optional<std::string> opened(const std::string& file, std::string_view key) {
  if (!digest_line_matches(file)) return std::nullopt;
  const JsonReader in(file, {"a stored text"});
  if (in.at("version").number<int>() != kVersion || in.at("key").text() != key) return std::nullopt;
  return in.at("text").text();
}

std::string unique_name() {
  std::random_device random;
  return to_hex((std::uint64_t{random()} << 32) | random());
}

std::filesystem::path environment_path(const char* name) {
  const char* value = std::getenv(name);
  const std::filesystem::path path = value == nullptr ? "" : value;
  return path.is_absolute() ? path : std::filesystem::path();
}

}  // namespace

TextCache::TextCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

std::filesystem::path TextCache::file_of(std::string_view key) const {
  return folder_ / (to_hex(xxh3_128(as_bytes(key))) + ".json");
}

std::optional<std::string> TextCache::find(std::string_view key) const noexcept {
  try {
    if (folder_.empty() || !std::filesystem::is_regular_file(file_of(key)) ||
        std::filesystem::file_size(file_of(key)) > kMostBytes) {
      return std::nullopt;
    }
    return opened(read_text(file_of(key)), key);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void TextCache::store(std::string_view key, std::string_view text) const noexcept {
  try {
    if (folder_.empty()) return;
    make_directories(folder_);
    // Another process may be writing the same file.
    const std::filesystem::path mine = folder_ / (unique_name() + ".new");
    write_file_durably(mine, sealed(key, text));
    std::error_code failed;
    std::filesystem::rename(mine, file_of(key), failed);
    if (failed) std::filesystem::remove(mine, failed);
  } catch (const std::exception&) {
    // The next program works it out again.
  }
}

std::filesystem::path user_cache_folder(const std::filesystem::path& name) {
  std::filesystem::path caches = environment_path("XDG_CACHE_HOME");
  if (caches.empty()) {
    caches = environment_path("HOME");
    if (caches.empty()) return {};
    caches /= ".cache";
  }
  return caches / "winnow" / name;
}

}  // namespace winnow
