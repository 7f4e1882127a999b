#include <algorithm>
#include <utility>

#include "pipeline/store/json_internal.h"

namespace winnow::pipeline {
namespace {

constexpr int kMostBucket = 2 * kSquare;  // in any histogram

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

Histogram parse_histogram(const JsonReader& in) {
  Histogram out{.first = in.at("first").number(kMostBucket), .counts = in.at("counts").numbers()};
  const bool ends =
      out.counts.empty() ? out.first == 0 : out.counts.front() > 0 && out.counts.back() > 0;
  if (!ends || out.end() > kMostBucket + 1) in.at("counts").fail("is no histogram's");
  return out;
}

Statistics::Picture parse_picture(const JsonReader& in) {
  return {.id = in.at("id").number(),
          .width_px = in.at("width_px").number<std::uint32_t>(),
          .height_px = in.at("height_px").number<std::uint32_t>()};
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

Statistics parse_statistics(const JsonReader& in, std::size_t classes) {
  Statistics out(classes);
  const JsonReader splits = in.at("splits");
  for (std::size_t i = 0; i < out.splits.size(); ++i) {
    const JsonReader split = splits.at(split_name(static_cast<Split>(i)));
    out.splits[i].unlabelled = split.at("unlabelled").number();
    const std::vector<std::uint64_t> counts = split.at("classes").numbers();
    if (!counts.empty() && counts.size() != classes) {
      split.at("classes").fail("are not the manifest's");
    }
    std::copy(counts.begin(), counts.end(), out.splits[i].classes.begin());
  }
  out.short_side = parse_histogram(in.at("short_side"));
  out.pixels = parse_histogram(in.at("pixels"));
  out.aspect = parse_histogram(in.at("aspect"));
  out.file_bytes = parse_histogram(in.at("file_bytes"));
  out.total_pixels = in.at("total_pixels").number();
  out.total_file_bytes = in.at("total_file_bytes").number();
  out.smallest = parse_picture(in.at("smallest"));
  out.largest = parse_picture(in.at("largest"));
  return out;
}

}  // namespace winnow::pipeline
