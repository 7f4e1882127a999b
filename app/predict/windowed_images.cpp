#include "app/predict/windowed_images.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "app/predict/blend.h"
#include "app/predict/map_file.h"
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

// A picture that is held whole.
class LoadedRows final : public pipeline::PictureRows {
 public:
  explicit LoadedRows(Loaded loaded) : loaded_(std::move(loaded)) {}
  pipeline::Size size() const noexcept override {
    return {loaded_.image.height_px, loaded_.image.width_px};
  }
  int channels() const noexcept override { return loaded_.image.channels; }
  int orientation() const noexcept override { return 1; }
  std::optional<pipeline::DecodeError> read(int rows, std::uint8_t* to) override {
    const std::size_t bytes = static_cast<std::size_t>(rows) *
                              static_cast<std::size_t>(loaded_.image.width_px) *
                              static_cast<std::size_t>(loaded_.image.channels);
    std::memcpy(to, loaded_.image.pixels.data() + at_, bytes);
    at_ += bytes;
    return std::nullopt;
  }
  std::string warning() const override { return loaded_.warning; }

 private:
  Loaded loaded_;
  std::size_t at_ = 0;
};

Expected<std::unique_ptr<pipeline::PictureRows>, Refused> open_picture(const Inputs& inputs,
                                                                       std::uint64_t at,
                                                                       const WindowOptions& options,
                                                                       const StopRequested& stop) {
  const std::optional<fs::path> path = inputs.file_of(at);
  if (path && inputs.bytes(at) > 0) {
    std::optional<InputFile> file;
    try {
      file.emplace(*path);
    } catch (const SystemError&) {  // which reading it whole says in the words of the ledger
    }
    if (file) {
      inputs.check_bytes(at, file->size());
      auto rows = pipeline::open_rows(pipeline::EncodedBytes(*std::move(file)),
                                      inputs.decode_settings(), {options.memory_bytes, stop});
      if (!rows) return refused(rows.error());
      return *std::move(rows);
    }
  }
  auto loaded = inputs.load(at, options.memory_bytes);
  if (!loaded) return loaded.error();
  return std::unique_ptr<pipeline::PictureRows>(std::make_unique<LoadedRows>(*std::move(loaded)));
}

// Some rows of a picture, from the top to the bottom.
class Band {
 public:
  explicit Band(pipeline::PictureRows& rows)
      : rows_(rows),
        row_bytes_(static_cast<std::size_t>(rows.size().width_px) *
                   static_cast<std::size_t>(rows.channels())) {}

  // Holds rows [from, to) afterwards. `from` never becomes less.
  std::optional<pipeline::DecodeError> reach(int from, int to) {
    if (from > first_) {
      const int gone = std::min(from, end_) - first_;
      const std::size_t bytes = static_cast<std::size_t>(gone) * row_bytes_;
      std::memmove(pixels_.data(), pixels_.data() + bytes, pixels_.size() - bytes);
      pixels_.resize(pixels_.size() - bytes);
      first_ += gone;
    }
    if (to <= end_) return std::nullopt;
    const std::size_t held = pixels_.size();
    const int more = to - end_;
    pixels_.resize(held + static_cast<std::size_t>(more) * row_bytes_);
    end_ = to;
    return rows_.read(more, pixels_.data() + held);
  }

  // A box of rows that are held.
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

// Probabilities of windows that become one.
class Pooled {
 public:
  Pooled(const Pool& pool, std::size_t classes) : pool_(pool), sums_(classes), most_(classes) {
    if (pool.kind == Pool::Kind::kTop) all_.resize(classes);
  }

  void add(std::span<const float> probabilities) {
    ++count_;
    for (std::size_t k = 0; k < probabilities.size(); ++k) {
      sums_[k] += double{probabilities[k]};
      most_[k] = std::max(most_[k], probabilities[k]);
      if (!all_.empty()) all_[k].push_back(probabilities[k]);
    }
  }

  std::vector<float> result() {
    if (pool_.kind == Pool::Kind::kMax) return most_;
    std::vector<float> means;
    for (std::size_t k = 0; k < sums_.size(); ++k) means.push_back(mean(k));
    return means;
  }

 private:
  float mean(std::size_t k) {
    if (pool_.kind == Pool::Kind::kMean) {
      return static_cast<float>(sums_[k] / static_cast<double>(count_));
    }
    std::vector<float>& values = all_[k];
    const auto wanted = std::ceil(pool_.share * static_cast<double>(values.size()) - 1e-9);
    const auto top = std::clamp<std::size_t>(static_cast<std::size_t>(wanted), 1, values.size());
    std::partial_sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(top),
                      values.end(), std::greater<>());
    double sum = 0;
    for (std::size_t i = 0; i < top; ++i) sum += double{values[i]};
    return static_cast<float>(sum / static_cast<double>(top));
  }

  Pool pool_;
  std::uint64_t count_ = 0;
  std::vector<double> sums_;
  std::vector<float> most_;
  std::vector<std::vector<float>> all_;
};

std::int64_t span_of(const WindowOptions& options) {
  return std::max<std::int64_t>(1, std::llround(options.window / options.scale));
}

std::int64_t map_step_of(const WindowOptions& options) {
  if (options.map.step_px > 0) return options.map.step_px;
  return std::max<std::int64_t>(1, stride_of(span_of(options), options.overlap) / 4);
}

}  // namespace

// A picture and its windows. Those are cut by one thread, and taken by another.
class WindowedImages::Slide {
 public:
  Slide(const WindowedImages& of, std::uint64_t at, ImageResult& result)
      : of_(of),
        at_(at),
        result_(result),
        span_(span_of(of.options_)),
        pool_(of.options_.pool, of.net_.classes.size()) {}

  // False: the result says why it cannot be read.
  bool open() {
    auto rows = open_picture(of_.inputs_, at_, of_.options_, of_.stop_);
    if (!rows) return fail(rows.error());
    rows_ = *std::move(rows);
    band_.emplace(*rows_);
    const pipeline::Size stored = rows_->size();
    const bool swaps = pipeline::swaps_sides(rows_->orientation());
    result_.height_px = swaps ? stored.width_px : stored.height_px;
    result_.width_px = swaps ? stored.height_px : stored.width_px;
    const std::int64_t stride = stride_of(span_, of_.options_.overlap);
    down_ = window_starts(result_.height_px, span_, stride);
    across_ = window_starts(result_.width_px, span_, stride);
    order_outer_axis(swaps);
    result_.windows = down_.size() * across_.size();
    return open_map();
  }

  // A window as it is seen, of span x span pixels, or as the net sees it where that is smaller.
  struct Cut {
    Extent at{};
    Image image;
  };
  // The next that is not flat; nothing at the end, or where the picture cannot be read further.
  std::optional<Cut> next() {
    for (; next_ < result_.windows && !failed_; ++next_) {
      std::optional<Cut> cut = cut_window(next_);
      if (!cut) continue;
      ++next_;
      return cut;
    }
    if (!failed_) result_.reason = rows_->warning();
    return std::nullopt;
  }

  void take(const Extent& at, std::span<const float> probabilities,
            std::span<const float> features) {
    pool_.add(probabilities);
    features_.resize(features.size());
    for (std::size_t i = 0; i < features.size(); ++i) features_[i] += double{features[i]};
    ++taken_;
    if (!map_) return;
    std::vector<float> of_map;
    for (const std::int32_t label : of_.labels_) {
      of_map.push_back(probabilities[static_cast<std::size_t>(label)]);
    }
    map_->add(at, of_map);
  }

  // All its windows were cut, and those that were not flat taken.
  void finish() {
    if (failed_) return;
    if (taken_ > 0) {
      std::vector<float> features;
      for (const double sum : features_) {
        features.push_back(static_cast<float>(sum / static_cast<double>(taken_)));
      }
      put_outputs(of_.net_, of_.inputs_, at_, pool_.result(), features, result_);
    }
    if (map_) write_map();
  }

 private:
  bool fail(Refused why) {
    failed_ = true;
    result_.fate = why.fate;
    result_.reason = std::move(why.reason);
    return false;
  }

  bool open_map() {
    if (of_.labels_.empty()) return true;
    const Extent side{1, result_.height_px, result_.width_px};
    const std::int64_t step = map_step_of(of_.options_);
    const std::uint64_t bytes = BlendedMean::bytes_of(side, {1, step, step}, of_.labels_.size());
    if (bytes > of_.options_.memory_bytes) {
      return fail({pipeline::Fate::kTooLarge,
                   "has maps that take " + std::to_string((bytes + (1u << 20) - 1) >> 20) +
                       " MiB, more than --memory-limit allows; take a larger --map-step, or "
                       "fewer classes"});
    }
    map_.emplace(side, Extent{1, step, step}, Extent{1, span_, span_}, of_.labels_.size());
    return true;
  }

  // Windows come in the order of the rows that are stored: by rows, or by columns where these
  // become rows, from the end where they are mirrored.
  void order_outer_axis(bool swaps) {
    by_columns_ = swaps;
    std::vector<std::int64_t>& outer = swaps ? across_ : down_;
    if (stored_box(0).top > stored_box(result_windows() - 1).top) std::ranges::reverse(outer);
  }
  std::uint64_t result_windows() const { return down_.size() * across_.size(); }

  Extent place(std::uint64_t window) const {
    if (by_columns_) {
      return {0, down_[window % down_.size()], across_[window / down_.size()]};
    }
    return {0, down_[window / across_.size()], across_[window % across_.size()]};
  }
  // The part of the picture as it is stored that a window is of.
  Box stored_box(std::uint64_t window) const {
    const Extent at = place(window);
    const Box seen{static_cast<int>(at[1]), static_cast<int>(at[2]),
                   static_cast<int>(std::min(span_, result_.height_px - at[1])),
                   static_cast<int>(std::min(span_, result_.width_px - at[2]))};
    const pipeline::Size stored = rows_->size();
    return pipeline::before_turn(seen, rows_->orientation(), stored.height_px, stored.width_px);
  }

  // Nothing: it is flat, or cannot be read.
  std::optional<Cut> cut_window(std::uint64_t window) {
    const Box box = stored_box(window);
    if (auto error = band_->reach(box.top, box.top + box.height_px)) {
      fail(refused(*error));
      return std::nullopt;
    }
    Cut cut{place(window), band_->cut(box)};
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

  void write_map() const {
    const Extent& points = map_->points();
    const std::vector<float> mean = map_->mean();
    ClassMaps maps{static_cast<std::int64_t>(of_.labels_.size()), points[1], points[2]};
    maps.values.resize(mean.size());
    const std::size_t classes = of_.labels_.size();
    const std::size_t count = mean.size() / classes;
    for (std::size_t point = 0; point < count; ++point) {
      for (std::size_t c = 0; c < classes; ++c) {
        maps.values[c * count + point] = mean[point * classes + c];
      }
    }
    const MapOptions& options = of_.options_.map;
    if (options.least) {
      result_.boxes = boxes_of(maps, of_.labels_, *options.least, map_step_of(of_.options_),
                               result_.height_px, result_.width_px);
    }
    const pipeline::TreePath path = pipeline::tree_path(of_.inputs_.name(at_));
    const fs::path folder = of_.maps_ / path.folder;
    make_directories(folder);
    write_file_durably(folder / (path.name + (options.tiff ? ".tiff" : ".npy")),
                       options.tiff ? map_as_tiff(maps) : map_as_npy(maps));
  }

  const WindowedImages& of_;
  const std::uint64_t at_;
  ImageResult& result_;
  const std::int64_t span_;
  std::unique_ptr<pipeline::PictureRows> rows_;
  std::optional<Band> band_;
  std::vector<std::int64_t> down_;
  std::vector<std::int64_t> across_;
  bool by_columns_ = false;
  std::uint64_t next_ = 0;
  bool failed_ = false;
  Pooled pool_;
  std::vector<double> features_;
  std::uint64_t taken_ = 0;
  std::optional<BlendedMean> map_;
};

struct WindowedImages::Window {
  std::shared_ptr<Slide> slide;
  Extent at{};
  bool is_end = false;  // of the slide: no window
};

Pool parse_pool(const std::string& text) {
  if (text == "mean") return {Pool::Kind::kMean, 1};
  if (text == "max") return {Pool::Kind::kMax, 1};
  if (text.starts_with("top:")) {
    char* end = nullptr;
    const std::string number = text.substr(4);
    const double share = std::strtod(number.c_str(), &end);
    if (!number.empty() && *end == '\0' && share > 0 && share <= 1) {
      return {Pool::Kind::kTop, share};
    }
  }
  throw UsageError("--pool " + text +
                   " is none; take mean, max, or top:SHARE, as top:0.1 for the mean of the "
                   "largest tenth");
}

std::string text_of(const WindowOptions& options) {
  std::string text = std::to_string(options.window) + " px, overlap " +
                     std::to_string(options.overlap) + ", scale " + std::to_string(options.scale) +
                     ", pool " + std::to_string(static_cast<int>(options.pool.kind)) + " " +
                     std::to_string(options.pool.share);
  if (options.skip_flat) text += ", flat " + std::to_string(*options.skip_flat);
  if (options.map.classes.empty()) return text;
  text +=
      ", maps every " + std::to_string(map_step_of(options)) + (options.map.tiff ? " tiff" : "");
  for (const std::string& name : options.map.classes) text += " '" + name + "'";
  if (options.map.least) text += ", boxes from " + std::to_string(*options.map.least);
  return text;
}

std::vector<std::int32_t> check_windows(const WindowOptions& options, const Net& net) {
  const pipeline::Geometry geometry = net.geometry();
  if (options.window != geometry.height_px || options.window != geometry.width_px) {
    throw UsageError("the net is shown " + std::to_string(geometry.width_px) + " x " +
                     std::to_string(geometry.height_px) + " pixels; take --window " +
                     std::to_string(geometry.height_px) +
                     (geometry.height_px == geometry.width_px
                          ? ", and --scale to look from farther away or nearer"
                          : " and a net of square images"));
  }
  if (!(options.overlap >= 0 && options.overlap < 1)) {
    throw UsageError("--overlap is a share of a window below 1, as 0.5");
  }
  std::vector<std::int32_t> labels;
  for (const std::string& name : options.map.classes) {
    const auto found = std::ranges::find(net.classes, name);
    if (found == net.classes.end()) {
      throw UsageError("--map " + name + " is none of the net's " +
                       std::to_string(net.classes.size()) + " classes, as '" + net.classes.front() +
                       "'");
    }
    labels.push_back(static_cast<std::int32_t>(found - net.classes.begin()));
  }
  return labels;
}

WindowedImages::WindowedImages(const Net& net, const Inputs& inputs, const WindowOptions& options,
                               fs::path maps, std::uint64_t first, std::span<ImageResult> results,
                               StopRequested stop)
    : net_(net),
      inputs_(inputs),
      options_(options),
      labels_(check_windows(options, net)),
      maps_(std::move(maps)),
      first_(first),
      results_(results),
      stop_(std::move(stop)) {}

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
    window.slide->take(window.at, std::span(outputs.probabilities).subspan(i * classes, classes),
                       std::span(outputs.features).subspan(i * dimensions, dimensions));
    ++i;
  }
}

void WindowedImages::finish() {
  for (Window& window : issued_) window.slide->finish();
  issued_.clear();
}

}  // namespace winnow::app
