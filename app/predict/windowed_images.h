#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/predict/inputs.h"
#include "app/predict/net.h"
#include "app/predict/results.h"
#include "app/predict/show.h"
#include "common/stop.h"

namespace winnow::app {

// How the windows of a picture become one answer: of each class their mean, the most, or the mean
// of the largest share of them.
struct Pool {
  enum class Kind : std::uint8_t { kMean, kMax, kTop };
  Kind kind = Kind::kMean;
  double share = 1;  // of kTop, above 0
};
Pool parse_pool(const std::string& text);  // "mean", "max", "top:0.1"; UsageError

// Maps of classes over a picture.
struct MapOptions {
  std::vector<std::string> classes{};  // names; none: no maps
  std::int64_t step_px = 0;            // of a point; 0: a quarter of the stride
  bool tiff = false;                   // in place of .npy
  std::optional<double> least{};       // boxes of what reaches this probability; none: no boxes
};

struct WindowOptions {
  int window = 0;        // pixels a side that the net is shown: the net's input
  double overlap = 0.5;  // of neighbours, in [0, 1)
  double scale = 1;      // of the picture: 0.5 looks from farther away
  Pool pool{};
  std::optional<int> skip_flat{};  // windows whose levels lie so close are left out
  MapOptions map{};
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;  // of one picture at a time
};

// The text of all that decides what comes of windows.
std::string text_of(const WindowOptions& options);
// The places of map.classes among the net's. Throws UsageError: a class that is not there, a window
// that is not the net's input, an overlap or a scale that cannot be.
std::vector<std::int32_t> check_windows(const WindowOptions& options, const Net& net);

// Images [first, first + results.size()) of the inputs, each gone over by windows. Each is decoded
// from the top to the bottom, as far as its format allows, and held a band of windows at a time.
// Its maps are written to folder/NAME.npy or .tiff when all its windows were taken.
class WindowedImages final : public Pictures {
 public:
  WindowedImages(const Net& net, const Inputs& inputs, const WindowOptions& options,
                 std::filesystem::path maps, std::uint64_t first, std::span<ImageResult> results,
                 StopRequested stop);
  ~WindowedImages() override;

  std::optional<MicroBatch> next() override;
  void take(const MicroBatch& batch, const Outputs& outputs) override;
  // Once all was taken: ends the pictures that no window follows.
  void finish();

 private:
  class Slide;
  struct Window;
  std::shared_ptr<Slide> open_next();

  const Net& net_;
  const Inputs& inputs_;
  const WindowOptions& options_;
  std::vector<std::int32_t> labels_;  // of the maps
  std::filesystem::path maps_;
  std::uint64_t first_;
  std::span<ImageResult> results_;
  StopRequested stop_;
  std::size_t opened_ = 0;
  std::shared_ptr<Slide> slide_;  // that windows come from
  std::mutex mutex_;              // guards issued_
  std::deque<Window> issued_;     // to be taken, in their order
};

}  // namespace winnow::app
