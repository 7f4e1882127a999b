#include "train/backend/cudnn/plan_cache.h"

#include <cctype>
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

namespace winnow::train::cudnn {
namespace {

constexpr int kVersion = 1;

// Keeps letters, digits and dots; replaces every run of other characters by one dash.
std::string file_name(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    if (plain) {
      out.push_back(c);
    } else if (!out.empty() && out.back() != '-') {
      out.push_back('-');
    }
  }
  return out;
}

std::string sealed(std::string_view key, std::string_view plan) {
  const Json text{{"key", key}, {"plan", plan}, {"version", kVersion}};
  return with_digest_line(text.dump(2) + "\n");
}

std::optional<std::string> opened(const std::string& text, std::string_view key) {
  if (!digest_line_matches(text)) return std::nullopt;
  const JsonReader in(text, {"a stored plan"});
  if (in.at("version").number<int>() != kVersion || in.at("key").text() != key) return std::nullopt;
  return in.at("plan").text();
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

PlanCache::PlanCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

std::filesystem::path PlanCache::file_of(std::string_view key) const {
  return folder_ / (to_hex(xxh3_128(as_bytes(key))) + ".json");
}

std::optional<std::string> PlanCache::find(std::string_view key) const noexcept {
  try {
    if (folder_.empty() || !std::filesystem::exists(file_of(key))) return std::nullopt;
    return opened(read_text(file_of(key)), key);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void PlanCache::store(std::string_view key, std::string_view plan) const noexcept {
  try {
    if (folder_.empty()) return;
    make_directories(folder_);
    // Another process may be writing the same file.
    const std::filesystem::path mine = folder_ / (unique_name() + ".new");
    write_file_durably(mine, sealed(key, plan));
    std::error_code failed;
    std::filesystem::rename(mine, file_of(key), failed);
    if (failed) std::filesystem::remove(mine, failed);
  } catch (const std::exception&) {
    // The next program will make the plan again.
  }
}

std::string platform_name(const Card& card) {
  return file_name(card.name + "_sm" + std::to_string(card.capability) + "_cudnn-" + card.cudnn +
                   "_driver-" + card.driver);
}

std::filesystem::path default_plan_folder(const Card& card) {
  std::filesystem::path caches = environment_path("XDG_CACHE_HOME");
  if (caches.empty()) {
    caches = environment_path("HOME");
    if (caches.empty()) return {};
    caches /= ".cache";
  }
  return caches / "winnow" / "cudnn-plans" / platform_name(card);
}

}  // namespace winnow::train::cudnn
