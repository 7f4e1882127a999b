#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

// Forgeries whose digests, hashes and checksums are right, so that nothing but what the files say
// can be held against them.
namespace winnow::test {

// The folder that forgeries are made in: a cache with the selection "golden" and the features
// "made", a run trained on it, predictions of folds of it, an index of it; a cache with thumbnails,
// and an index of that with landmarks.
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

// Which verbs can come upon it.
enum class Reads { kCache, kSelection, kRun, kIndex, kFeatures, kFolds, kThumbnails, kLandmarks };
inline constexpr std::size_t kReads = 8;

struct Forgery {
  std::string what;  // "manifest.json /inputs = -1"
  Reads read_by;
  std::function<void(const ForgeryPlaces&)> make;  // changes what is there
};

// All there are, for files like those in `places`: each differs by a field, or by what it holds.
std::vector<Forgery> forgeries(const ForgeryPlaces& places);

}  // namespace winnow::test
