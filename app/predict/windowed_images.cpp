#include "app/predict/windowed_images.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "app/predict/blend.h"
#include "app/predict/map_file.h"
#include "app/predict/open_picture.h"
#include "app/predict/whole_images.h"
#include "app/predict/windows.h"
#include "common/error.h"
#include "common/file.h"
#include "pipeline/augment/augment.h"
#include "pipeline/augment/ops/geometry.h"
#include "pipeline/decode/orientation.h"
#include "pipeline/decode/rows.h"
#include "pipeline/export/names.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;
using pipeline::Refused;

// Some rows of a picture, moving from top to bottom.
class Band {
 public:
  explicit Band(pipeline::PictureRows& rows)
      : rows_(rows),
        row_bytes_(static_cast<std::size_t>(rows.size().width_px) *
                   static_cast<std::size_t>(rows.channels())) {}

  // Afterwards it holds rows [from, to). `from` never decreases.
  std::optional<pipeline::DecodeError> reach(int from, int to) {
    if (from > first_) {
      const int gone = std::min(from, end_) - first_;
      const std::size_t bytes = static_cast<std::size_t>(gone) * row_bytes_;
      std::memmove(pixels_.data(), pixels_.data() + bytes, pixels_.size() - bytes);
      pixels_.resize(pixels_.size() - bytes);
      first_ += gone;
    }
    if (from > end_) {
      if (auto error = rows_.skip(from - end_)) return error;
      first_ = end_ = from;
    }
    if (to <= end_) return std::nullopt;
    const std::size_t held = pixels_.size();
    const int more = to - end_;
    pixels_.resize(held + static_cast<std::size_t>(more) * row_bytes_);
    end_ = to;
    return rows_.read(more, pixels_.data() + held);
  }

  // A box of the rows that it holds.
  Image cut(const Box& box) const {
    const int channels = rows_.channels();
    const ImageView all{pixels_.data(), end_ - first_, rows_.size().width_px, channels,
                        static_cast<std::ptrdiff_t>(row_bytes_)};
    return pipeline::cut(all, {box.top - first_, box.left, box.height_px, box.width_px});
  }

 private:
  pipeline::PictureRows& rows_;
  std::size_t row_bytes_;
  std::vector<std::uint8_t> pixels_;
  int first_ = 0;
  int end_ = 0;
};

bool is_flat(const Image& image, int range) {
  std::array<std::uint8_t, 3> least{255, 255, 255};
  std::array<std::uint8_t, 3> most{};
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t i = 0; i < image.pixels.size(); i += channels) {
    for (std::size_t c = 0; c < channels; ++c) {
      least[c] = std::min(least[c], image.pixels[i + c]);
      most[c] = std::max(most[c], image.pixels[i + c]);
      if (most[c] - least[c] > range) return false;
    }
  }
  return true;
}

}  // namespace

// A picture and its windows, or those of a band. One thread cuts them, another takes their results.
class WindowedImages::Slide {
 public:
  Slide(WindowedImages& of, std::uint64_t at, ImageResult& result)
      : of_(of), at_(at), result_(result), span_(span_of(of.options_)) {}

  // False: the result says why it cannot be read.
  bool open() {
    auto rows = open_picture(of_.inputs_, at_, of_.options_.memory_bytes, of_.stop_);
    if (!rows) return fail(rows.error());
    rows_ = *std::move(rows);
    band_.emplace(*rows_);
    places_.emplace(rows_->size(), rows_->orientation(), span_, stride_of(of_.options_));
    result_.height_px = places_->turned().height_px;
    result_.width_px = places_->turned().width_px;
    const WindowRange range = of_.band_.value_or(WindowRange{0, places_->count()});
    if (range.end > places_->count()) {
      throw UsageError(
          "'" + of_.inputs_.name(at_) +
          "' has another size than when the work was cut into tasks: the source "
          "changed meanwhile; once the source no longer changes, predict into another folder");
    }
    next_ = range.begin;
    end_ = range.end;
    result_.windows = end_ - next_;
    return check_memory();
  }

  // A window with span x span pixels, or in the net's size if that is smaller.
  struct Cut {
    Extent at{};
    Image image;
  };
  // The next window that is not flat; nullopt at the end, or if the rest cannot be read.
  std::optional<Cut> next() {
    for (; next_ < end_ && !failed_; ++next_) {
      std::optional<Cut> cut = cut_window(next_);
      if (!cut) continue;
      ++next_;
      return cut;
    }
    if (!failed_) result_.reason = rows_->warning();
    return std::nullopt;
  }

  void take(const WindowOutputs& said) { gather(of_.options_, of_.labels_, said, gathered_); }

  // Called when all its windows were cut, and the results of those that are not flat taken.
  void finish() {
    if (failed_) return;
    if (of_.band_) {
      of_.gathered_ = std::move(gathered_);
    } else {
      conclude(of_.net_, of_.inputs_, of_.options_, of_.maps_, {at_, gathered_, result_});
    }
  }

 private:
  bool fail(Refused why) {
    failed_ = true;
    result_.fate = why.fate;
    result_.reason = std::move(why.reason);
    return false;
  }

  // Counts the whole picture, even for one band of it, because bands are joined later.
  bool check_memory() {
    const std::size_t labels = of_.labels_.size();
    const std::uint64_t bytes =
        gathered_bytes(of_.options_, labels, of_.net_.classes.size(), places_->count()) +
        blended_bytes(of_.options_, labels, places_->turned());
    if (bytes <= of_.options_.memory_bytes) return true;
    const std::string takes = " that take " + std::to_string((bytes + (1u << 20) - 1) >> 20) +
                              " MiB, more than --memory-limit allows; take a ";
    return fail({pipeline::Fate::kTooLarge,
                 labels > 0 ? "has maps" + takes + "larger --map-step, or fewer classes"
                            : "has windows" + takes + "smaller --overlap, or --pool mean"});
  }

  // Nullopt: it is flat, or cannot be read.
  std::optional<Cut> cut_window(std::uint64_t window) {
    const Box box = places_->stored_box(window);
    if (auto error = band_->reach(box.top, box.top + box.height_px)) {
      fail(refused(*error));
      return std::nullopt;
    }
    Cut cut{places_->place(window), band_->cut(box)};
    pipeline::turn(cut.image, rows_->orientation());
    const std::optional<int>& flat = of_.options_.skip_flat;
    if (flat && is_flat(cut.image, *flat)) {
      ++result_.flat_windows;
      return std::nullopt;
    }
    const int span = static_cast<int>(span_);
    if (cut.image.height_px < span || cut.image.width_px < span) {
      Image padded(span, span, cut.image.channels);
      pipeline::place_reflected(cut.image.view(), 0, 0, false,
                                {padded.pixels.data(), span, span, padded.channels});
      cut.image = std::move(padded);
    }
    if (span > of_.options_.window) {
      cut.image = resize(cut.image.view(), of_.options_.window, of_.options_.window,
                         ResampleFilter::kBilinear);
    }
    return cut;
  }

  WindowedImages& of_;
  const std::uint64_t at_;
  ImageResult& result_;
  const std::int64_t span_;
  std::unique_ptr<pipeline::PictureRows> rows_;
  std::optional<Band> band_;
  std::optional<WindowPlaces> places_;
  std::uint64_t next_ = 0;
  std::uint64_t end_ = 0;
  bool failed_ = false;
  GatheredWindows gathered_;
};

struct WindowedImages::Window {
  std::shared_ptr<Slide> slide;
  Extent at{};
  bool is_end = false;  // marks the end of the picture, without a window
};

WindowedImages::WindowedImages(const Net& net, const Inputs& inputs, const WindowOptions& options,
                               const ResultsFrom& images, WindowedPart part, StopRequested stop)
    : net_(net),
      inputs_(inputs),
      options_(options),
      labels_(check_windows(options, net)),
      maps_(std::move(part.maps)),
      first_(images.first),
      results_(images.results),
      stop_(std::move(stop)),
      band_(part.band) {}

WindowedImages::~WindowedImages() = default;

std::shared_ptr<WindowedImages::Slide> WindowedImages::open_next() {
  while (opened_ < results_.size()) {
    const std::size_t at = opened_++;
    auto slide = std::make_shared<Slide>(*this, first_ + at, results_[at]);
    if (slide->open()) return slide;
  }
  return nullptr;
}

std::optional<Pictures::MicroBatch> WindowedImages::next() {
  auto cuts = std::make_shared<std::vector<Image>>();
  while (cuts->size() < net_.micro_batch()) {
    if (!slide_) slide_ = open_next();
    if (!slide_) break;
    std::optional<Slide::Cut> cut = slide_->next();
    const std::lock_guard lock(mutex_);
    if (cut) {
      issued_.push_back({slide_, cut->at});
      cuts->push_back(std::move(cut->image));
    } else {
      issued_.push_back({.slide = std::exchange(slide_, nullptr), .is_end = true});
    }
  }
  if (cuts->empty()) return std::nullopt;
  return MicroBatch{cuts->size(), [this, cuts](std::span<std::uint8_t> pixels) {
                      const std::size_t size = pixels.size() / net_.micro_batch();
                      std::ranges::fill(pixels, std::uint8_t{0});
                      for (std::size_t i = 0; i < cuts->size(); ++i) {
                        pipeline::augment((*cuts)[i].view(), pipeline::Recipe::kNone,
                                          net_.geometry(), {}, pixels.subspan(i * size, size));
                      }
                    }};
}

void WindowedImages::take(const MicroBatch& batch, const Outputs& outputs) {
  const std::size_t classes = outputs.probabilities.size() / net_.micro_batch();
  const std::size_t dimensions = outputs.features.size() / net_.micro_batch();
  for (std::size_t i = 0; i < batch.count;) {
    Window window;
    {
      const std::lock_guard lock(mutex_);
      window = std::move(issued_.front());
      issued_.pop_front();
    }
    if (window.is_end) {
      window.slide->finish();
      continue;
    }
    window.slide->take({window.at, std::span(outputs.probabilities).subspan(i * classes, classes),
                        std::span(outputs.features).subspan(i * dimensions, dimensions)});
    ++i;
  }
}

void WindowedImages::finish() {
  for (Window& window : issued_) window.slide->finish();
  issued_.clear();
}

void conclude(const Net& net, const Inputs& inputs, const WindowOptions& options,
              const fs::path& maps, const GatheredPicture& picture) {
  const auto& [at, gathered, result] = picture;
  if (gathered.windows > 0) {
    put_outputs(net, inputs, at, pooled(options.pool, gathered), mean_features(gathered), result);
  }
  const std::vector<std::int32_t> labels = check_windows(options, net);
  if (labels.empty()) return;
  const pipeline::Size size{static_cast<int>(result.height_px), static_cast<int>(result.width_px)};
  const ClassMaps of_classes = blended(options, labels.size(), size, gathered);
  if (options.map.least) {
    result.boxes = boxes_of(of_classes, labels, *options.map.least, map_step_of(options),
                            result.height_px, result.width_px);
  }
  const fs::path file = maps / map_path(inputs.name(at), options.map);
  make_directories(file.parent_path());
  write_file_durably(file, options.map.tiff ? map_as_tiff(of_classes) : map_as_npy(of_classes));
}

fs::path map_path(const std::string& name, const MapOptions& options) {
  const pipeline::TreePath path = pipeline::tree_path(name);
  return fs::path(path.folder) / (path.name + (options.tiff ? ".tiff" : ".npy"));
}

}  // namespace winnow::app
