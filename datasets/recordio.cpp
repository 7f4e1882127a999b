#include "datasets/recordio.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/list_text.h"
#include "datasets/look.h"
#include "datasets/records.h"
#include "datasets/wire.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

constexpr std::uint32_t kMagic = 0xCED7230A;
constexpr std::size_t kPartHeaderBytes = 8;    // the magic number; flag and length
constexpr std::size_t kImageHeaderBytes = 24;  // IRHeader: flag, label, id, id2

template <class T>
T word_at(BytesView bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// Whether a part is a whole record, or one of several.
enum class PlaceInRecord : std::uint32_t { kWhole = 0, kFirst = 1, kMiddle = 2, kLast = 3 };

struct PartOfRecord {
  PlaceInRecord place;
  std::uint64_t begin;
  std::uint64_t size;

  std::uint64_t next() const noexcept { return begin + (size + 3) / 4 * 4; }
};

// The part at `at`, which must lie in the file.
PartOfRecord part_at(const InputFile& file, const Look& look, std::uint64_t at, bool goes_on) {
  const auto refuse = [&](const char* what) {
    throw UsageError(file.path().string() + " is damaged or cut short at byte " +
                     std::to_string(at) + ": " + what + "; get it again");
  };
  if (file.size() < at || file.size() - at < kPartHeaderBytes) {
    refuse("a record ends after the end of the file");
  }
  const BytesView header = look(at, kPartHeaderBytes);
  if (word_at<std::uint32_t>(header, 0) != kMagic) refuse("no record begins there");
  const auto packed = word_at<std::uint32_t>(header, 4);
  const PartOfRecord part{static_cast<PlaceInRecord>(packed >> 29), at + kPartHeaderBytes,
                          packed & ((1U << 29) - 1)};
  const bool fits =
      goes_on ? part.place == PlaceInRecord::kMiddle || part.place == PlaceInRecord::kLast
              : part.place == PlaceInRecord::kWhole || part.place == PlaceInRecord::kFirst;
  if (!fits) refuse("the parts of a record are not in order");
  if (file.size() - part.begin < part.size) refuse("a record ends after the end of the file");
  return part;
}

// A record of any number of parts, joined by the magic number that the writer removed.
class Joined {
 public:
  Joined(const InputFile& file, const Look& look, std::uint64_t at) : file_(file) {
    parts_.push_back(part_at(file, look, at, false));
    size_ = parts_[0].size;
    while (parts_.back().place == PlaceInRecord::kFirst ||
           parts_.back().place == PlaceInRecord::kMiddle) {
      parts_.push_back(part_at(file, look, parts_.back().next(), true));
      size_ += sizeof(kMagic) + parts_.back().size;
    }
  }

  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t next() const noexcept { return parts_.back().next(); }

  // Fills `out` with the bytes from `offset` on, which must exist. SystemError.
  void read(std::uint64_t offset, std::span<std::byte> out) const {
    std::uint64_t at = 0;  // in the joined record
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (i > 0) {
        const auto magic = std::as_bytes(std::span(&kMagic, 1));
        for (std::size_t k = 0; k < magic.size(); ++k, ++at) {
          if (at >= offset && at - offset < out.size()) out[at - offset] = magic[k];
        }
      }
      const std::uint64_t from = std::max(at, offset);
      const std::uint64_t to = std::min(at + parts_[i].size, offset + out.size());
      if (from < to) {
        file_.read_at(parts_[i].begin + (from - at), out.subspan(from - offset, to - from));
      }
      at += parts_[i].size;
    }
  }

 private:
  const InputFile& file_;
  std::vector<PartOfRecord> parts_;
  std::uint64_t size_ = 0;
};

struct ImageHeader {
  std::uint64_t bytes = 0;  // size of header and labels; 0: the record is too small for them
  std::uint64_t id = 0;
  std::vector<float> labels;
};

ImageHeader read_header(const Joined& record) {
  ImageHeader header;
  if (record.size() < kImageHeaderBytes) return header;
  std::array<std::byte, kImageHeaderBytes> raw{};
  record.read(0, raw);
  const std::uint64_t more = word_at<std::uint32_t>(raw, 0);
  const std::uint64_t bytes = kImageHeaderBytes + more * sizeof(float);
  if (bytes > record.size()) return header;
  header.bytes = bytes;
  header.id = word_at<std::uint64_t>(raw, 8);
  header.labels = {word_at<float>(raw, 4)};
  if (more > 0) {
    header.labels.resize(more);
    record.read(kImageHeaderBytes, std::as_writable_bytes(std::span(header.labels)));
  }
  return header;
}

// -1 for an invalid class.
std::int64_t class_of(float label) {
  constexpr float kMost = 1 << 24;  // floats are exact integers up to here
  return label >= 0 && label <= kMost && std::floor(label) == label
             ? static_cast<std::int64_t>(label)
             : -1;
}

// The path of each id, from lines "12<tab>labels<tab>path" of NAME.lst.
using Paths = std::unordered_map<std::uint64_t, std::string>;

Paths read_list(const fs::path& path) {
  Paths paths;
  if (!file_at(path)) return paths;
  for (const std::string& line : read_list_lines(path)) {
    std::uint64_t id = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), id);
    const std::size_t tab = line.rfind('\t');
    if (error != std::errc() || tab == std::string::npos || *end != '\t') continue;
    std::string name = line.substr(tab + 1);
    if (is_safe_name(name)) paths.emplace(id, std::move(name));
  }
  return paths;
}

bool has_ending(const fs::path& path) { return path.extension() == ".rec" && file_at(path); }

bool begins_as_recordio(const fs::path& path) {
  if (!has_ending(path)) return false;
  std::uint32_t magic = 0;
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&magic), sizeof(magic));
  return magic == kMagic;
}

class RecordioSource final : public ListedSource {
 public:
  RecordioSource(const std::vector<Part>& parts, LabelsFrom labels) : ListedSource("recordio") {
    RowGatherer rows(labels);
    for (const Part& part : parts) scan(part, rows);
    std::tie(entries_, class_names_) = rows.finish();
    description_ = "RecordIO: " + counted(entries_, class_names_.size()) + " in " +
                   std::to_string(parts.size()) + (parts.size() == 1 ? " file" : " files");
  }

  Expected<Payload, ReadError> read(std::size_t position) const override {
    const Record& row = records_[position];
    if (row.header_bytes == 0) {
      return ReadError{ReadError::Kind::kCorrupt, "is a record that is too small for its header"};
    }
    Bytes image(entries_.input_bytes(position));
    if (image.empty()) return ReadError{ReadError::Kind::kEmpty, "has no bytes"};
    bool fits = false;
    try {
      files_.use(position, [&](const InputFile& file) {
        const Look look = look_into(file);
        const Joined record(file, look, row.begin);
        fits = record.size() == row.header_bytes + image.size();
        if (fits) record.read(row.header_bytes, image);
      });
    } catch (const SystemError& error) {
      return ReadError{ReadError::Kind::kIo, error.what()};
    } catch (const UsageError& error) {
      return ReadError{ReadError::Kind::kCorrupt, error.what()};
    }
    if (!fits) return ReadError{ReadError::Kind::kCorrupt, "has changed since it was listed"};
    return Payload(std::move(image));
  }

 private:
  struct Record {
    std::uint64_t begin;
    std::uint64_t header_bytes;
  };

  void scan(const Part& part, RowGatherer& rows) {
    InputFile file(part.path);
    const Paths paths = read_list(fs::path(part.path).replace_extension(".lst"));
    const Look look = look_into(file);
    std::uint64_t index = 0;
    for (std::uint64_t at = 0; at < file.size(); ++index) {
      const Joined record(file, look, at);
      const ImageHeader header = read_header(record);
      records_.push_back({at, header.bytes});
      Row row{.name = numbered_name(part.name, index), .split = part.split};
      if (header.bytes > 0) {
        const auto path = paths.find(header.id);
        if (path != paths.end()) row.name = part.name + "/" + path->second;
        for (const float label : header.labels) row.labels.push_back(class_of(label));
        row.input_bytes = record.size() - header.bytes;
      }
      rows.add(std::move(row), part.path, index);
      at = record.next();
    }
    files_.add(std::move(file), records_.size());
  }

  PartFiles files_;
  std::vector<Record> records_;
};

}  // namespace

bool recordio_found_at(const fs::path& path) {
  if (begins_as_recordio(path)) return true;
  return any_name_in(path,
                     [&](const std::string& name) { return begins_as_recordio(path / name); });
}

std::unique_ptr<Source> open_recordio(const fs::path& path, const OpenOptions& options) {
  const std::vector<Part> parts = find_parts(
      path, has_ending, [](const std::string& name) { return fs::path(name).stem().string(); });
  if (parts.empty()) {
    throw UsageError(path.string() + " contains no RecordIO file (names end in .rec)");
  }
  return std::make_unique<RecordioSource>(parts, options.labels);
}

}  // namespace winnow::datasets
