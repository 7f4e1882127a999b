#include <utility>

#include "train/backend/cudnn/plan_cache.h"

// Replaces plan_cache.cpp if the libraries it needs are missing: nothing is cached.
namespace winnow::train::cudnn {

PlanCache::PlanCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
std::filesystem::path PlanCache::file_of(std::string_view) const { return {}; }
std::optional<std::string> PlanCache::find(std::string_view) const noexcept { return std::nullopt; }
void PlanCache::store(std::string_view, std::string_view) const noexcept {}
std::string platform_name(const Card& card) { return card.name; }
std::filesystem::path default_plan_folder(const Card&) { return {}; }

}  // namespace winnow::train::cudnn
