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

#include "app/predict/bands.h"
#include "app/predict/gathered.h"
#include "app/predict/inputs.h"
#include "app/predict/net.h"
#include "app/predict/results.h"
#include "app/predict/show.h"
#include "app/predict/window_options.h"
#include "common/stop.h"

namespace winnow::app {

// Where results of windows go: the folder `maps`, for whole images; or gathered(), if only the
// windows `band` of one image are predicted.
struct WindowedPart {
  std::filesystem::path maps{};
  std::optional<WindowRange> band{};
};

// Images that are predicted in windows.
// Reading  Each image is decoded from top to bottom, as far as its format allows. Only a band of
//          windows is in memory.
// Maps     Written to folder/NAME.npy or .tiff after the last window of the image.
class WindowedImages final : public Pictures {
 public:
  WindowedImages(const Net& net, const Inputs& inputs, const WindowOptions& options,
                 const ResultsFrom& images, WindowedPart part, StopRequested stop);
  ~WindowedImages() override;

  std::optional<MicroBatch> next() override;
  void take(const MicroBatch& batch, const Outputs& outputs) override;
  // Completes the last pictures. Call it after everything was taken.
  void finish();
  // The net's outputs for the windows of the band, if only a band is predicted.
  const GatheredWindows& gathered() const noexcept { return gathered_; }

 private:
  class Slide;
  struct Window;
  std::shared_ptr<Slide> open_next();

  const Net& net_;
  const Inputs& inputs_;
  const WindowOptions& options_;
  std::vector<std::int32_t> labels_;  // classes with maps
  std::filesystem::path maps_;
  std::uint64_t first_;
  std::span<ImageResult> results_;
  StopRequested stop_;
  std::optional<WindowRange> band_;
  GatheredWindows gathered_;
  std::size_t opened_ = 0;
  std::shared_ptr<Slide> slide_;  // picture that windows are now cut from
  std::mutex mutex_;              // guards issued_
  std::deque<Window> issued_;     // windows whose outputs are still awaited, in order
};

// A picture for whose windows all outputs have arrived.
struct GatheredPicture {
  std::uint64_t at;                // index of the picture among the inputs
  const GatheredWindows& windows;  // outputs for the picture's windows
  ImageResult& result;             // result of the picture; height and width are already set
};

// Completes the result of a picture: probabilities, boxes, and the file of maps in the folder
// `maps`.
void conclude(const Net& net, const Inputs& inputs, const WindowOptions& options,
              const std::filesystem::path& maps, const GatheredPicture& picture);

// Path of the map file of an input with that name, within the folder of maps.
std::filesystem::path map_path(const std::string& name, const MapOptions& options);

}  // namespace winnow::app
