#include "datasets/caffe_lmdb.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/lmdb/structure.h"
#include "datasets/look.h"
#include "datasets/records.h"
#include "datasets/wire.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFileName = "data.mdb";

bool is_database(const fs::path& folder) { return file_at(folder / kFileName); }

bool begins_as_lmdb(const fs::path& folder) {
  if (!is_database(folder)) return false;
  std::array<std::uint32_t, 6> words{};
  std::ifstream(folder / kFileName, std::ios::binary)
      .read(reinterpret_cast<char*>(words.data()), sizeof(words));
  return words[4] == 0xBEEFC0DE && words[5] == 1;  // after the page header
}

// The absolute folder, with a non-empty last part.
fs::path folder_of(const fs::path& path) {
  fs::path folder = fs::absolute(path).lexically_normal();
  if (folder.filename() == kFileName || !folder.has_filename()) folder = folder.parent_path();
  return folder;
}

// The message Datum of caffe.proto.
struct Datum {
  std::uint64_t channels = 0;
  std::uint64_t height_px = 0;
  std::uint64_t width_px = 0;
  WireRange data;
  std::optional<std::int64_t> label;
  bool encoded = false;
};

std::optional<Datum> parse_datum(const Look& look, WireRange message) {
  Datum datum;
  WireReader fields(look, message);
  for (WireField field; fields.next(field);) {
    if (field.is_range != (field.number == 4) && field.number <= 7 && field.number != 6) {
      return std::nullopt;
    }
    if (field.number == 1) datum.channels = field.value;
    if (field.number == 2) datum.height_px = field.value;
    if (field.number == 3) datum.width_px = field.value;
    if (field.number == 4) datum.data = field.range;
    if (field.number == 5) datum.label = static_cast<std::int32_t>(field.value);
    if (field.number == 7) datum.encoded = field.value != 0;
  }
  if (fields.bad()) return std::nullopt;
  return datum;
}

enum class Holds : std::uint8_t { kNoDatum, kNoPixels, kEncoded, kPixels };

struct Record {
  std::uint64_t data_at = 0;  // offset in the file
  std::uint16_t height_px = 0;
  std::uint16_t width_px = 0;
  std::uint8_t channels = 0;
  Holds holds = Holds::kNoDatum;
};

Record make_record(const std::optional<Datum>& datum) {
  constexpr std::uint64_t kMaxSide = std::numeric_limits<std::uint16_t>::max();
  Record record;
  if (!datum) return record;
  record.data_at = datum->data.begin;
  record.holds = datum->encoded ? Holds::kEncoded : Holds::kNoPixels;
  const auto [c, h, w] = std::tuple(datum->channels, datum->height_px, datum->width_px);
  if (datum->encoded || (c != 1 && c != 3) || h == 0 || w == 0 || h > kMaxSide || w > kMaxSide ||
      c * h * w != datum->data.size) {
    return record;
  }
  record.holds = Holds::kPixels;
  record.height_px = static_cast<std::uint16_t>(h);
  record.width_px = static_cast<std::uint16_t>(w);
  record.channels = static_cast<std::uint8_t>(c);
  return record;
}

// Planes B, G, R to interleaved R, G, B.
Image interleave(const Record& record, BytesView planes) {
  Image image(record.height_px, record.width_px, record.channels);
  const std::size_t channels = record.channels;
  const std::size_t plane = planes.size() / channels;
  for (std::size_t i = 0; i < planes.size(); ++i) {
    image.pixels[channels * (i % plane) + (channels - 1 - i / plane)] =
        static_cast<std::uint8_t>(planes[i]);
  }
  return image;
}

class CaffeLmdbSource final : public ListedSource {
 public:
  CaffeLmdbSource(const fs::path& path, const std::vector<Part>& parts, LabelsFrom labels)
      : ListedSource("caffe-lmdb") {
    RowGatherer rows(labels);
    for (const Part& part : parts) scan(part, parts.size() > 1, rows);
    if (images_ == 0 && !records_.empty()) {
      throw UsageError(path.string() + " is an LMDB without images: no value is a Caffe Datum " +
                       "with an encoded image or 8-bit pixels in 1 or 3 channels");
    }
    std::tie(entries_, class_names_) = rows.finish();
    description_ = "Caffe LMDB: " + counted(entries_, class_names_.size());
    if (parts.size() > 1) description_ += " in " + std::to_string(parts.size()) + " folders";
  }

  Expected<Payload, ReadError> read(std::size_t position) const override {
    const Record& record = records_[position];
    if (record.holds == Holds::kNoDatum) {
      return ReadError{ReadError::Kind::kCorrupt, "is a value that is no Datum"};
    }
    if (record.holds == Holds::kNoPixels) {
      return ReadError{ReadError::Kind::kCorrupt,
                       "is a Datum without 8-bit pixels that fit its 1 or 3 channels and size"};
    }
    Bytes data(entries_.input_bytes(position));
    if (data.empty()) return ReadError{ReadError::Kind::kEmpty, "has no bytes"};
    try {
      files_.use(position, [&](const InputFile& file) { file.read_at(record.data_at, data); });
    } catch (const SystemError& error) {
      return ReadError{ReadError::Kind::kIo, error.what()};
    }
    if (record.holds == Holds::kEncoded) return Payload(std::move(data));
    return Payload(interleave(record, data));
  }

 private:
  void scan(const Part& part, bool prefixed, RowGatherer& rows) {
    const fs::path path = part.path / kFileName;
    InputFile file(path);
    const Look look = look_into(file);
    const MappedFile mapped(path);
    std::uint64_t index = 0;
    lmdb::for_each_entry(mapped.bytes(), path.string(),
                         [&](BytesView key, std::uint64_t begin, std::uint64_t bytes) {
                           const std::optional<Datum> datum = parse_datum(look, {begin, bytes});
                           records_.push_back(make_record(datum));
                           const Holds holds = records_.back().holds;
                           Row row{.name = is_safe_name(as_text(key)) ? std::string(as_text(key))
                                                                      : numbered_name("", index),
                                   .split = part.split};
                           if (prefixed) row.name = part.name + "/" + row.name;
                           if (holds == Holds::kEncoded || holds == Holds::kPixels) {
                             ++images_;
                             row.input_bytes = datum->data.size;
                             if (datum->label) row.labels = {*datum->label};
                           }
                           rows.add(std::move(row), path, index++);
                         });
    files_.add(std::move(file), records_.size());
  }

  std::size_t images_ = 0;
  PartFiles files_;
  std::vector<Record> records_;
};

}  // namespace

bool caffe_lmdb_found_at(const fs::path& path) {
  const fs::path folder = folder_of(path);
  if (begins_as_lmdb(folder)) return true;
  return any_name_in(folder, [&](const std::string& name) {
    return (name.ends_with("lmdb") || name.ends_with("_db")) && begins_as_lmdb(folder / name);
  });
}

std::unique_ptr<Source> open_caffe_lmdb(const fs::path& path, const OpenOptions& options) {
  const std::vector<Part> parts =
      find_parts(folder_of(path), is_database, [](const std::string& name) { return name; });
  if (parts.empty())
    throw UsageError(path.string() + " contains no data.mdb, and no folder in it does");
  return std::make_unique<CaffeLmdbSource>(path, parts, options.labels);
}

}  // namespace winnow::datasets
