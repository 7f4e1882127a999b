#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "train/backend/cudnn/device.h"

namespace winnow::train::cudnn {

// Cache of cuDNN's plans on disk, so that later runs on the same model of GPU get the same plans
// faster. It is a TextCache if the build has the libraries for that; otherwise nothing is kept.
class PlanCache {
 public:
  explicit PlanCache(std::filesystem::path folder);  // empty folder: nothing is cached
  std::optional<std::string> find(std::string_view key) const noexcept;
  void store(std::string_view key, std::string_view plan) const noexcept;

  std::filesystem::path file_of(std::string_view key) const;

 private:
  std::filesystem::path folder_;
};

// Names the platform on which plans can be used: GPU, compute capability, cuDNN and driver.
std::string platform_name(const Card& card);  // such as "NVIDIA-H200_sm90_cudnn-9.19.0_driver-13.0"

// Default folder of cached plans: $XDG_CACHE_HOME/winnow/cudnn-plans/<platform>, or in ~/.cache
// without that variable. Empty if neither variable nor home exists.
std::filesystem::path default_plan_folder(const Card& card);

}  // namespace winnow::train::cudnn
