#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "train/backend/cudnn/device.h"

namespace winnow::train::cudnn {

// Cache of plans on disk, so that later programs on the same model of GPU get the same plans, and
// faster. It is a TextCache if the build has the libraries for that; else nothing is kept.
class PlanCache {
 public:
  explicit PlanCache(std::filesystem::path folder);  // empty: nothing is cached
  std::optional<std::string> find(std::string_view key) const noexcept;
  void store(std::string_view key, std::string_view plan) const noexcept;

  std::filesystem::path file_of(std::string_view key) const;

 private:
  std::filesystem::path folder_;
};

// Everything that determines whether a plan can be used: GPU, compute capability, cuDNN, driver.
std::string platform_name(const Card& card);  // "NVIDIA-H200_sm90_cudnn-9.19.0_driver-13.0"

// $XDG_CACHE_HOME/winnow/cudnn-plans/<platform>, otherwise in ~/.cache; empty if there is neither.
std::filesystem::path default_plan_folder(const Card& card);

}  // namespace winnow::train::cudnn
