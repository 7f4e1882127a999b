#pragma once

#include <filesystem>

#include "app/session.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "pipeline/export/choice.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// Which samples the contact sheet of `winnow info` shows.
struct SheetSamples {
  std::string split;
  std::string label;
  std::string groups;  // show the duplicate groups of this selection instead of samples
  bool removed = false;
};

// Options of the contact sheet, a picture of some samples.
struct SheetOptions {
  std::filesystem::path path;
  SheetSamples of;
  std::string augment;
  std::string image_size;
  std::uint64_t count = 64;
  std::uint64_t columns = 8;
  std::optional<std::uint64_t> seed;
};

struct InfoRequest {
  std::filesystem::path cache;
  std::filesystem::path report;
  std::string selection;
  SheetOptions sheet;
  // The issues whose images are listed (may be none), if issues were asked for; else nullopt.
  std::optional<std::vector<std::string>> issues;
  bool json = false;
};

// Prints the content of a cache.
void run_info(const InfoRequest& request, const Session& session);

}  // namespace winnow::app
