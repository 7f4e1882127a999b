#include "app/predict/results.h"

#include "common/checksum.h"
#include "common/error.h"

namespace winnow::app {
namespace {

constexpr std::string_view kMagic = "winnow predict 1";
constexpr std::string_view kBandMagic = "winnow predict band 1";

template <class T>
void put_all(ByteWriter& out, const std::vector<T>& values) {
  out.put<std::uint64_t>(values.size());
  out.put_array(std::span(values));
}

template <class T>
void get_all(ByteReader& in, std::vector<T>& values) {
  values = in.get_array<T>(in.get<std::uint64_t>());
}

// In the order of the file.
void for_each_list(auto& windows, const auto& work) {
  work(windows.sums);
  work(windows.most);
  work(windows.all);
  work(windows.features);
  work(windows.places);
  work(windows.of_maps);
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
    throw FormatError(in.where() + " has an unknown outcome of an image");
  result.fate = static_cast<pipeline::Fate>(fate);
  result.reason = in.get_text(in.get<std::uint32_t>());
  get_all(in, result.probabilities);
  get_all(in, result.features);
  result.height_px = in.get<std::int64_t>();
  result.width_px = in.get<std::int64_t>();
  result.windows = in.get<std::uint64_t>();
  result.flat_windows = in.get<std::uint64_t>();
  const auto boxes = in.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < boxes; ++i) result.boxes.push_back(get_box(in));
  return result;
}

void put(ByteWriter& out, const ImageResult& result) {
  out.put(result.fate);
  out.put<std::uint32_t>(static_cast<std::uint32_t>(result.reason.size()));
  out.put_text(result.reason);
  put_all(out, result.probabilities);
  put_all(out, result.features);
  out.put(result.height_px);
  out.put(result.width_px);
  out.put(result.windows);
  out.put(result.flat_windows);
  out.put<std::uint64_t>(result.boxes.size());
  for (const FoundBox& box : result.boxes) put(out, box);
}

// The written bytes, followed by a checksum.
Bytes summed(ByteWriter out) {
  out.put<std::uint64_t>(xxh3_64(out.bytes()));
  return std::move(out).take();
}

// The bytes between the magic and the checksum. Throws FormatError if one of them is wrong.
BytesView content_of(BytesView bytes, std::string_view magic, const std::string& where) {
  const auto damaged = [&] {
    return FormatError(where + " is damaged; remove this file to predict its images again");
  };
  if (bytes.size() < magic.size() + sizeof(std::uint64_t)) throw damaged();
  const BytesView content = bytes.first(bytes.size() - sizeof(std::uint64_t));
  ByteReader sum(bytes.subspan(content.size()), where);
  if (sum.get<std::uint64_t>() != xxh3_64(content)) throw damaged();
  if (as_text(content.first(magic.size())) != magic) throw damaged();
  return content.subspan(magic.size());
}

}  // namespace

Bytes pack_results(std::span<const ImageResult> results) {
  ByteWriter out;
  out.put_text(kMagic);
  out.put<std::uint64_t>(results.size());
  for (const ImageResult& result : results) put(out, result);
  return summed(std::move(out));
}

std::vector<ImageResult> unpack_results(BytesView bytes, const std::string& where) {
  ByteReader in(content_of(bytes, kMagic, where), where);
  const auto count = in.get<std::uint64_t>();
  std::vector<ImageResult> results;
  for (std::uint64_t i = 0; i < count; ++i) results.push_back(get_result(in));
  return results;
}

Bytes pack_band(const BandResult& band) {
  ByteWriter out;
  out.put_text(kBandMagic);
  put(out, band.image);
  out.put(band.windows.windows);
  for_each_list(band.windows, [&](const auto& values) { put_all(out, values); });
  return summed(std::move(out));
}

BandResult unpack_band(BytesView bytes, const std::string& where) {
  ByteReader in(content_of(bytes, kBandMagic, where), where);
  BandResult band;
  band.image = get_result(in);
  band.windows.windows = in.get<std::uint64_t>();
  for_each_list(band.windows, [&](auto& values) { get_all(in, values); });
  return band;
}

void join(BandResult& picture, const BandResult& band) {
  ImageResult& image = picture.image;
  if (image.fate != pipeline::Fate::kOk) return;
  image.height_px = band.image.height_px;
  image.width_px = band.image.width_px;
  image.windows += band.image.windows;
  image.flat_windows += band.image.flat_windows;
  image.fate = band.image.fate;
  if (!band.image.reason.empty()) image.reason = band.image.reason;
  append(picture.windows, band.windows);
}

}  // namespace winnow::app
