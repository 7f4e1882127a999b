#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

// Forgeries with correct digests, hashes and checksums: only their content is wrong.
namespace winnow::test {

// The folder in which forgeries are made.
// - a cache with the selection "golden" and the features "made", a run trained on it, predictions
//   of its folds, an index of it
// - a cache with thumbnails, and an index of that with landmarks
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

// Which verbs may encounter it.
enum class Reads { kCache, kSelection, kRun, kIndex, kFeatures, kFolds, kThumbnails, kLandmarks };
inline constexpr std::size_t kReads = 8;

struct Forgery {
  std::string what;  // "manifest.json /inputs = -1"
  Reads read_by;
  std::function<void(const ForgeryPlaces&)> make;  // changes the files
};

// All forgeries for files like those in `places`: each differs in one field, or in its content.
std::vector<Forgery> forgeries(const ForgeryPlaces& places);

}  // namespace winnow::test
