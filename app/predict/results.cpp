#include "app/predict/results.h"

#include "common/checksum.h"
#include "common/error.h"

namespace winnow::app {
namespace {

constexpr std::string_view kMagic = "winnow predict 1";

void put_floats(ByteWriter& out, const std::vector<float>& values) {
  out.put<std::uint32_t>(static_cast<std::uint32_t>(values.size()));
  out.put_array(std::span(values));
}

std::vector<float> get_floats(ByteReader& in) {
  const auto count = in.get<std::uint32_t>();
  return in.get_array<float>(count);
}

void put(ByteWriter& out, const FoundBox& box) {
  out.put(box.label);
  for (const std::int64_t side : {box.top, box.left, box.height_px, box.width_px}) out.put(side);
  out.put(box.most);
  out.put(box.mean);
}

FoundBox get_box(ByteReader& in) {
  FoundBox box;
  box.label = in.get<std::int32_t>();
  for (std::int64_t* side : {&box.top, &box.left, &box.height_px, &box.width_px}) {
    *side = in.get<std::int64_t>();
  }
  box.most = in.get<float>();
  box.mean = in.get<float>();
  return box;
}

ImageResult get_result(ByteReader& in) {
  ImageResult result;
  const auto fate = in.get<std::uint8_t>();
  if (fate >= pipeline::kFateCount)
    throw FormatError(in.where() + " has a class that is not known");
  result.fate = static_cast<pipeline::Fate>(fate);
  result.reason = in.get_text(in.get<std::uint32_t>());
  result.probabilities = get_floats(in);
  result.features = get_floats(in);
  result.height_px = in.get<std::int64_t>();
  result.width_px = in.get<std::int64_t>();
  result.windows = in.get<std::uint64_t>();
  result.flat_windows = in.get<std::uint64_t>();
  const auto boxes = in.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < boxes; ++i) result.boxes.push_back(get_box(in));
  return result;
}

}  // namespace

Bytes pack_results(std::span<const ImageResult> results) {
  ByteWriter out;
  out.put_text(kMagic);
  out.put<std::uint64_t>(results.size());
  for (const ImageResult& result : results) {
    out.put(result.fate);
    out.put<std::uint32_t>(static_cast<std::uint32_t>(result.reason.size()));
    out.put_text(result.reason);
    put_floats(out, result.probabilities);
    put_floats(out, result.features);
    out.put(result.height_px);
    out.put(result.width_px);
    out.put(result.windows);
    out.put(result.flat_windows);
    out.put<std::uint64_t>(result.boxes.size());
    for (const FoundBox& box : result.boxes) put(out, box);
  }
  out.put<std::uint64_t>(xxh3_64(out.bytes()));
  return std::move(out).take();
}

std::vector<ImageResult> unpack_results(BytesView bytes, const std::string& where) {
  const auto damaged = [&] {
    return FormatError(where + " is damaged; remove it to have its pictures predicted again");
  };
  if (bytes.size() < kMagic.size() + 2 * sizeof(std::uint64_t)) throw damaged();
  const BytesView content = bytes.first(bytes.size() - sizeof(std::uint64_t));
  ByteReader sum(bytes.subspan(content.size()), where);
  if (sum.get<std::uint64_t>() != xxh3_64(content)) throw damaged();
  ByteReader in(content, where);
  if (in.get_text(kMagic.size()) != kMagic) throw damaged();
  const auto count = in.get<std::uint64_t>();
  std::vector<ImageResult> results;
  for (std::uint64_t i = 0; i < count; ++i) results.push_back(get_result(in));
  return results;
}

}  // namespace winnow::app
