#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

// Forged files with valid digests, hashes and checksums, so that only their contents can be
// refused.
namespace winnow::test {

// The folder in which forgeries are made. It has:
// - a cache with the selection "golden" and the features "made";
// - a run trained on it, predictions of its folds, and an index of it;
// - a cache with thumbnails, and an index of that cache with landmarks.
struct ForgeryPlaces {
  std::filesystem::path root;
  std::filesystem::path cache() const { return root / "cache"; }
  std::filesystem::path run() const { return root / "run"; }
  std::filesystem::path folds() const { return root / "folds"; }
  std::filesystem::path index() const { return root / "index"; }
  std::filesystem::path pictured() const { return root / "pictured"; }
  std::filesystem::path pictured_index() const { return root / "pictured-index"; }
  std::filesystem::path checkpoint() const { return run() / "checkpoints" / "step-2"; }
};

// Which verbs can read the file.
enum class Reads { kCache, kSelection, kRun, kIndex, kFeatures, kFolds, kThumbnails, kLandmarks };
inline constexpr std::size_t kReads = 8;

struct Forgery {
  std::string what;  // e.g. "manifest.json /inputs = -1"
  Reads read_by;
  std::function<void(const ForgeryPlaces&)> make;  // changes the files in place
};

// All forgeries of the files in `places`. Each changes one field or its contents.
std::vector<Forgery> forgeries(const ForgeryPlaces& places);

}  // namespace winnow::test
