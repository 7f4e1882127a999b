#include "train/backend/cudnn/plan_cache.h"

#include <cctype>
#include <utility>

#include "common/text_cache.h"

namespace winnow::train::cudnn {
namespace {

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

}  // namespace

PlanCache::PlanCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

std::filesystem::path PlanCache::file_of(std::string_view key) const {
  return TextCache(folder_).file_of(key);
}

std::optional<std::string> PlanCache::find(std::string_view key) const noexcept {
  return TextCache(folder_).find(key);
}

void PlanCache::store(std::string_view key, std::string_view plan) const noexcept {
  TextCache(folder_).store(key, plan);
}

std::string platform_name(const Card& card) {
  return file_name(card.name + "_sm" + std::to_string(card.capability) + "_cudnn-" + card.cudnn +
                   "_driver-" + card.driver);
}

std::filesystem::path default_plan_folder(const Card& card) {
  return user_cache_folder(std::filesystem::path("cudnn-plans") / platform_name(card));
}

}  // namespace winnow::train::cudnn
