#include "dedup/index/fitted.h"

#include <optional>
#include <string>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "common/json_text.h"
#include "dedup/index/open_index_internal.h"

namespace winnow::dedup {
namespace fs = std::filesystem;
namespace {

// Raised by any change that alters the model fitted to the same pictures.
constexpr std::uint64_t kFittedVersion = 1;

// A hash that identifies the live rows.
std::string content_of(const IndexManifest& manifest) {
  Xxh3Stream stream;
  const auto update = [&](const std::string& hex) { stream.update(as_bytes(hex)); };
  for (const Segment& segment : manifest.segments) update(segment.table.hash);
  if (manifest.tombstones) update(manifest.tombstones->hash);
  return to_hex(stream.digest());
}

Json to_json(const FittedModel& fitted, const IndexManifest& manifest) {
  const Calibration& by = fitted.calibration;
  Json json{{"format", "winnow-index-fitted"}, {"version", kFittedVersion},
            {"of", content_of(manifest)},      {"landmarks", fitted.landmarks},
            {"weights", by.model.weights},     {"same", by.same},
            {"strangers", by.non_duplicates},  {"tail_from", by.tail_from},
            {"tail_share", by.tail_share},     {"tail_scale", by.tail_scale}};
  if (by.copies) json["copies"] = *by.copies;
  return json;
}

// nullopt if the file is missing, damaged, of another version or of other rows.
std::optional<FittedModel> read_fitted(const fs::path& path, const IndexManifest& manifest) {
  if (!fs::exists(path)) return std::nullopt;
  try {
    const std::string text = read_text(path);
    if (!digest_line_matches(text)) return std::nullopt;
    const JsonReader in(text, {path.string()});
    if (in.at("version").number() != kFittedVersion || in.at("of").text() != content_of(manifest)) {
      return std::nullopt;
    }
    FittedModel fitted;
    fitted.landmarks = in.at("landmarks").real_from_0();
    Calibration& by = fitted.calibration;
    const std::vector<JsonReader> weights = in.at("weights").items(by.model.weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i) by.model.weights[i] = weights[i].real();
    by.same = in.at("same").number();
    by.non_duplicates = in.at("strangers").number();
    by.tail_from = in.at("tail_from").real();
    by.tail_share = in.at("tail_share").real();
    by.tail_scale = in.at("tail_scale").real();
    if (const auto copies = in.find("copies")) by.copies = copies->real();
    return fitted;
  } catch (const FormatError&) {
    return std::nullopt;
  } catch (const SystemError&) {
    return std::nullopt;
  }
}

fs::path path_of(const OpenIndex& index) {
  return index.folder() / fitted_name(index.manifest().segments.back());
}

}  // namespace

FittedModel StoredIndex::fitted(const StopRequested& stop) const {
  if (index_->manifest().segments.empty()) return {};
  const fs::path path = path_of(*index_);
  if (auto kept = read_fitted(path, index_->manifest())) return *kept;
  const ColumnSource all = columns();
  const PictureSource pictures = pictures_of(all({"widths_px", "heights_px"}), thumbnails());
  const std::vector<std::uint32_t> rows = matchable_rows(all({"quality"}), kind().hash);
  const FittedModel fitted{calibrate(rows, pictures, /*seed=*/0, stop), landmarks_a_picture()};
  keep_beside(*index_, index_->manifest().segments.back(), [&] {
    write_file_durably(path, with_digest_line(to_json(fitted, index_->manifest()).dump(2) + "\n"));
  });
  return fitted;
}

double StoredIndex::landmarks_a_picture() const {
  if (index_->manifest().segments.empty()) return 0;
  if (const auto kept = read_fitted(path_of(*index_), index_->manifest())) return kept->landmarks;
  const ColumnSource all = columns();
  return dedup::landmarks_a_picture(matchable_rows(all({"quality"})),
                                    pictures_of(all({"widths_px", "heights_px"}), thumbnails()));
}

}  // namespace winnow::dedup
