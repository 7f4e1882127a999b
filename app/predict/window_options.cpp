#include "app/predict/window_options.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "app/predict/windows.h"
#include "common/error.h"

namespace winnow::app {

std::int64_t span_of(const WindowOptions& options) {
  return std::max<std::int64_t>(1, std::llround(options.window / options.scale));
}

std::int64_t stride_of(const WindowOptions& options) {
  return stride_of(span_of(options), options.overlap);
}

std::int64_t map_step_of(const WindowOptions& options) {
  if (options.map.step_px > 0) return options.map.step_px;
  return std::max<std::int64_t>(1, stride_of(options) / 4);
}

Pool parse_pool(const std::string& text) {
  if (text == "mean") return {Pool::Kind::kMean, 1};
  if (text == "max") return {Pool::Kind::kMax, 1};
  if (text.starts_with("top:")) {
    char* end = nullptr;
    std::string number = text.substr(4);
    const bool is_percent = number.ends_with('%');
    if (is_percent) number.pop_back();
    const double share = std::strtod(number.c_str(), &end) / (is_percent ? 100 : 1);
    if (!number.empty() && *end == '\0' && share > 0 && share <= 1) {
      return {Pool::Kind::kTop, share};
    }
  }
  throw UsageError("--pool " + text +
                   " is unknown; use mean, max, or top:SHARE, such as top:0.1 for the mean of the "
                   "largest tenth");
}

std::string text_of(const WindowOptions& options) {
  std::string text = std::to_string(options.window) + " px, overlap " +
                     std::to_string(options.overlap) + ", scale " + std::to_string(options.scale) +
                     ", pool " + std::to_string(static_cast<int>(options.pool.kind)) + " " +
                     std::to_string(options.pool.share);
  if (options.skip_flat) text += ", flat " + std::to_string(*options.skip_flat);
  text += ", memory " + std::to_string(options.memory_bytes);
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
    throw UsageError("the input of the net is " + std::to_string(geometry.width_px) + " x " +
                     std::to_string(geometry.height_px) + " pixels; use --window " +
                     std::to_string(geometry.height_px) +
                     (geometry.height_px == geometry.width_px
                          ? ", and --scale to look from farther away or nearer"
                          : " and a net of square images"));
  }
  if (!(options.overlap >= 0 && options.overlap < 1)) {
    throw UsageError("--overlap is a share of a window, from 0 to below 1, such as 0.5");
  }
  std::vector<std::int32_t> labels;
  for (const std::string& name : options.map.classes) {
    const auto found = std::ranges::find(net.classes, name);
    if (found == net.classes.end()) {
      throw UsageError("--map " + name + " is none of the net's " +
                       std::to_string(net.classes.size()) + " classes, such as '" +
                       net.classes.front() + "'");
    }
    const auto label = static_cast<std::int32_t>(found - net.classes.begin());
    if (std::ranges::find(labels, label) != labels.end()) {
      throw UsageError("--map " + name + " is given twice; name each class once");
    }
    labels.push_back(label);
  }
  return labels;
}

}  // namespace winnow::app
