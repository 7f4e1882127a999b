#include "dedup/verify/landmark_file.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "common/error.h"
#include "dedup/column_file.h"

namespace winnow::dedup {
namespace {

constexpr FileKind kLandmarksKind{"WNWLANDM", kLandmarksVersion, "file of landmarks"};
constexpr std::size_t kWords = kLandmarkBits / 64;  // of a code
constexpr std::uint16_t kLeastScale = 2048;         // half a pixel

using Code = std::array<std::uint64_t, kWords>;
static_assert(sizeof(Code) == kLandmarkBits / 8 && sizeof(PackedPlace) == 8);

}  // namespace

void write_landmarks(const std::filesystem::path& path, const LandmarksOf& of,
                     const LandmarkTable& landmarks) {
  std::vector<std::uint64_t> offsets(of.rows + 1);
  for (std::uint32_t i = 0; i < landmarks.size(); ++i) ++offsets.at(landmarks.owner(i) + 1);
  for (std::uint64_t row = 0; row < of.rows; ++row) offsets[row + 1] += offsets[row];
  ColumnFileWriter out(path, kLandmarksKind, of.rows,
                       {{"table", sizeof(char), of.table.size()},
                        {"offsets", sizeof(std::uint64_t), offsets.size()},
                        {"codes", sizeof(Code), landmarks.size()},
                        {"places", sizeof(PackedPlace), landmarks.size()}});
  out.append(0, as_bytes(of.table));
  out.append(1, as_bytes(offsets));
  out.append(2, as_bytes(landmarks.codes().words));
  out.append(3, std::as_bytes(landmarks.places()));
  out.finish();
}

std::optional<LandmarkFile> LandmarkFile::find(const std::filesystem::path& path,
                                               const LandmarksOf& of) {
  try {
    LandmarkFile out;
    out.file_ = std::make_shared<const InputFile>(path);
    ColumnFileReader in(*out.file_, kLandmarksKind, ColumnFileReader::Content::kUnknown);
    if (in.version() != kLandmarksVersion || in.rows() != of.rows) return std::nullopt;
    if (in.take_text("table") != of.table) return std::nullopt;
    out.offsets_ = in.take<std::uint64_t>("offsets", of.rows + 1);
    const std::uint64_t count = out.offsets_.back();
    out.codes_at_ = in.locate<Code>("codes", count).offset;
    out.places_at_ = in.locate<PackedPlace>("places", count).offset;
    in.finish();
    if (out.offsets_.front() != 0 || !std::ranges::is_sorted(out.offsets_)) return std::nullopt;
    return out;
  } catch (const FormatError&) {
    return std::nullopt;
  } catch (const SystemError&) {  // no file, most often
    return std::nullopt;
  }
}

void LandmarkFile::append_to(LandmarkTable& landmarks,
                             const LandmarkTable::OwnerOf& owner_of) const {
  constexpr std::uint64_t kRowsAtOnce = 4096;
  std::vector<std::uint64_t> codes;
  std::vector<PackedPlace> places;
  const std::uint64_t rows = offsets_.size() - 1;
  for (std::uint64_t begin = 0; begin < rows; begin += kRowsAtOnce) {
    const std::uint64_t end = std::min(rows, begin + kRowsAtOnce);
    const std::uint64_t first = offsets_[begin];
    codes.resize(kWords * (offsets_[end] - first));
    places.resize(offsets_[end] - first);
    file_->read_at(codes_at_ + first * sizeof(Code), std::as_writable_bytes(std::span(codes)));
    file_->read_at(places_at_ + first * sizeof(PackedPlace),
                   std::as_writable_bytes(std::span(places)));
    // None is smaller, and no scale at all would lead astray.
    for (PackedPlace& place : places) place.scale = std::max(place.scale, kLeastScale);
    for (std::uint64_t row = begin; row < end; ++row) {
      const std::optional<std::uint32_t> owner = owner_of(static_cast<std::uint32_t>(row));
      if (!owner) continue;
      const std::uint64_t at = offsets_[row] - first;
      const std::uint64_t count = offsets_[row + 1] - offsets_[row];
      landmarks.append(*owner, std::span(codes).subspan(kWords * at, kWords * count),
                       std::span(places).subspan(at, count));
    }
  }
}

}  // namespace winnow::dedup
