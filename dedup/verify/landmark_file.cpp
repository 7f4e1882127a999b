#include "dedup/verify/landmark_file.h"

#include <algorithm>
#include <memory>
#include <span>

#include "common/error.h"
#include "common/file.h"
#include "dedup/table/column_file.h"

namespace winnow::dedup {
namespace {

constexpr FileKind kLandmarksKind{"WNWLANDM", kLandmarksVersion, "file of landmarks"};
static_assert(sizeof(LandmarkCode) == kLandmarkBits / 8 && sizeof(PackedPlace) == 8);

}  // namespace

void write_landmarks(const std::filesystem::path& path, const LandmarksOf& of,
                     const LandmarkPiece& landmarks) {
  ColumnFileWriter out(path, kLandmarksKind, of.rows,
                       {{"table", sizeof(char), of.table.size()},
                        {"offsets", sizeof(std::uint64_t), landmarks.offsets.size()},
                        {"codes", sizeof(LandmarkCode), landmarks.places.size()},
                        {"places", sizeof(PackedPlace), landmarks.places.size()}});
  out.append(0, as_bytes(of.table));
  out.append(1, std::as_bytes(std::span(landmarks.offsets)));
  out.append(2, std::as_bytes(landmarks.codes));
  out.append(3, std::as_bytes(landmarks.places));
  out.finish();
}

std::optional<LandmarkPiece> find_landmarks_in(const std::filesystem::path& path,
                                               const LandmarksOf& of) {
  try {
    const auto file = std::make_shared<const MappedFile>(path);
    ColumnFileReader in(file->bytes(), kLandmarksKind, path.string());
    if (in.version() != kLandmarksVersion || in.rows() != of.rows) return std::nullopt;
    if (in.take_text("table") != of.table) return std::nullopt;
    LandmarkPiece out{.memory = file, .codes = {}, .places = {}, .offsets = {}};
    out.offsets = in.take<std::uint64_t>("offsets", of.rows + 1);
    if (out.offsets.front() != 0 || !std::ranges::is_sorted(out.offsets)) return std::nullopt;
    const std::uint64_t count = out.offsets.back();
    const std::span codes = in.view<LandmarkCode>("codes", count);
    if (count > 0) out.codes = {codes.front().data(), kLandmarkWords * count};
    out.places = in.view<PackedPlace>("places", count);
    in.finish();
    return out;
  } catch (const FormatError&) {
    return std::nullopt;
  } catch (const SystemError&) {  // usually there is no file
    return std::nullopt;
  }
}

}  // namespace winnow::dedup
