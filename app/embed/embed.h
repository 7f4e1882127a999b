#pragma once

#include <filesystem>
#include <string>

#include "app/session.h"
#include "common/json.h"
#include "train/run/evaluations/embed_images.h"

namespace winnow::app {

struct EmbedRequest {
  train::EmbedOptions embed;
  std::filesystem::path names;  // file with the names of the images for the rows of a .npy file
  std::string name = "default";
  std::string dtype = "f16";
  std::string compute_dtype = "f32";
  int threads = 0;
  bool whiten = false;
  bool json = false;
};

// Computes feature vectors of a cache's images by a net, or takes given ones, and stores them.
void run_embed(const EmbedRequest& request, Session& session);

}  // namespace winnow::app
