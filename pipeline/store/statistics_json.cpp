#include <algorithm>
#include <limits>
#include <utility>

#include "pipeline/store/json_internal.h"

namespace winnow::pipeline {
namespace {

constexpr int kMostBucket = 2 * kSquare;  // of any histogram

Json to_json(const Histogram& histogram) {
  return {{"first", histogram.first}, {"counts", histogram.counts}};
}

Json to_json(const Statistics::Picture& picture) {
  return {{"id", picture.id}, {"width_px", picture.width_px}, {"height_px", picture.height_px}};
}

// A split without labelled images needs no list of zeros.
Json to_json(const Statistics::OfSplit& split) {
  const bool any =
      std::ranges::any_of(split.classes, [](std::uint64_t count) { return count > 0; });
  return {{"unlabelled", split.unlabelled}, {"classes", any ? Json(split.classes) : Json::array()}};
}

Histogram parse_histogram(const JsonObject& in) {
  Histogram out;
  out.first = static_cast<int>(in.number_to("first", kMostBucket));
  out.counts = in.numbers("counts");
  const bool ends =
      out.counts.empty() ? out.first == 0 : out.counts.front() > 0 && out.counts.back() > 0;
  if (!ends || out.end() > kMostBucket + 1) in.fail("'counts' is no histogram's");
  return out;
}

Statistics::Picture parse_picture(const JsonObject& in) {
  constexpr std::uint64_t kMostSide = std::numeric_limits<std::uint32_t>::max();
  return {.id = in.number("id"),
          .width_px = static_cast<std::uint32_t>(in.number_to("width_px", kMostSide)),
          .height_px = static_cast<std::uint32_t>(in.number_to("height_px", kMostSide))};
}

}  // namespace

Json to_json(const Statistics& s) {
  Json splits = Json::object();
  for (std::size_t i = 0; i < s.splits.size(); ++i) {
    splits[std::string(split_name(static_cast<Split>(i)))] = to_json(s.splits[i]);
  }
  return {{"splits", std::move(splits)},
          {"short_side", to_json(s.short_side)},
          {"pixels", to_json(s.pixels)},
          {"aspect", to_json(s.aspect)},
          {"file_bytes", to_json(s.file_bytes)},
          {"total_pixels", s.total_pixels},
          {"total_file_bytes", s.total_file_bytes},
          {"smallest", to_json(s.smallest)},
          {"largest", to_json(s.largest)}};
}

Statistics parse_statistics(const JsonObject& in, std::size_t classes) {
  Statistics out(classes);
  const JsonObject splits = in.object("splits");
  for (std::size_t i = 0; i < out.splits.size(); ++i) {
    const JsonObject split = splits.object(std::string(split_name(static_cast<Split>(i))).c_str());
    out.splits[i].unlabelled = split.number("unlabelled");
    const std::vector<std::uint64_t> counts = split.numbers("classes");
    if (!counts.empty() && counts.size() != classes) split.fail("'classes' are not the manifest's");
    std::copy(counts.begin(), counts.end(), out.splits[i].classes.begin());
  }
  out.short_side = parse_histogram(in.object("short_side"));
  out.pixels = parse_histogram(in.object("pixels"));
  out.aspect = parse_histogram(in.object("aspect"));
  out.file_bytes = parse_histogram(in.object("file_bytes"));
  out.total_pixels = in.number("total_pixels");
  out.total_file_bytes = in.number("total_file_bytes");
  out.smallest = parse_picture(in.object("smallest"));
  out.largest = parse_picture(in.object("largest"));
  return out;
}

}  // namespace winnow::pipeline
