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

// Where results of windows go: the folder for maps of whole images, or (for these windows of one
// image only) gathered().
struct WindowedPart {
  std::filesystem::path maps{};
  std::optional<WindowRange> band{};
};

// Images of the inputs, each predicted in windows.
// Reading  each is decoded from top to bottom, as far as its format allows, and held a band of
//          windows at a time
// Maps     are written to folder/NAME.npy or .tiff when all windows of the image were taken
class WindowedImages final : public Pictures {
 public:
  WindowedImages(const Net& net, const Inputs& inputs, const WindowOptions& options,
                 const ResultsFrom& images, WindowedPart part, StopRequested stop);
  ~WindowedImages() override;

  std::optional<MicroBatch> next() override;
  void take(const MicroBatch& batch, const Outputs& outputs) override;
  // Called once everything was taken: completes the pictures that no window follows.
  void finish();
  const GatheredWindows& gathered() const noexcept { return gathered_; }  // for a band

 private:
  class Slide;
  struct Window;
  std::shared_ptr<Slide> open_next();

  const Net& net_;
  const Inputs& inputs_;
  const WindowOptions& options_;
  std::vector<std::int32_t> labels_;  // classes of the maps
  std::filesystem::path maps_;
  std::uint64_t first_;
  std::span<ImageResult> results_;
  StopRequested stop_;
  std::optional<WindowRange> band_;
  GatheredWindows gathered_;
  std::size_t opened_ = 0;
  std::shared_ptr<Slide> slide_;  // picture that windows are cut from
  std::mutex mutex_;              // guards issued_
  std::deque<Window> issued_;     // windows whose results will be taken, in order
};

// A picture whose windows are all done.
struct GatheredPicture {
  std::uint64_t at;                // number of the picture among the inputs
  const GatheredWindows& windows;  // outputs for its windows
  ImageResult& result;             // height and width of the picture are set already
};

// Completes the result of a picture: answer, boxes, and the file of maps in the folder `maps`.
void conclude(const Net& net, const Inputs& inputs, const WindowOptions& options,
              const std::filesystem::path& maps, const GatheredPicture& picture);

// Path of the maps of an input with that name, in the folder of maps.
std::filesystem::path map_path(const std::string& name, const MapOptions& options);

}  // namespace winnow::app
