#include "datasets/tfrecord.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "common/crc32c.h"
#include "common/error.h"
#include "common/file.h"
#include "common/tfrecord_frame.h"
#include "datasets/look.h"
#include "datasets/records.h"
#include "datasets/wire.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

// The parts of "train-00003-of-00128": {"train", 3, 128}.
struct ShardName {
  std::string prefix;
  std::uint64_t index;
  std::uint64_t count;
};

std::optional<std::uint64_t> take_number(std::string& name) {
  const std::size_t digits =
      name.size() - 1 - std::min(name.find_last_not_of("0123456789"), name.size() - 1);
  if (digits < 5 || digits > 9) return std::nullopt;
  const std::uint64_t number = std::stoull(name.substr(name.size() - digits));
  name.resize(name.size() - digits);
  return number;
}

std::optional<ShardName> parse_shard(std::string name) {
  constexpr std::string_view kOf = "-of-";
  if (name.empty()) return std::nullopt;
  const auto count = take_number(name);
  if (!count || !name.ends_with(kOf)) return std::nullopt;
  name.resize(name.size() - kOf.size());
  if (name.empty()) return std::nullopt;
  const auto index = take_number(name);
  if (!index || !name.ends_with('-')) return std::nullopt;
  name.pop_back();
  return ShardName{name, *index, *count};
}

std::string without_ending(std::string name) {
  for (const std::string_view end : {".gz", ".tfrecord", ".tfrecords", ".tfrec"}) {
    if (name.size() > end.size() && name.ends_with(end)) name.resize(name.size() - end.size());
  }
  return name;
}

// Judged by the name alone.
bool is_tfrecord_name(std::string name) {
  if (name.starts_with('.')) return false;
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  if (without_ending(name) != name) return true;
  const auto shard = parse_shard(name);
  return shard && without_ending(shard->prefix) != shard->prefix;
}

bool begins_as_tfrecord(const fs::path& path) {
  try {
    const InputFile file(path);
    std::array<std::byte, kTfrecordHeaderBytes> header{};
    if (file.size() < kTfrecordHeaderBytes + kTfrecordFooterBytes) return false;
    file.read_at(0, header);
    return tfrecord_length(header).has_value();
  } catch (const SystemError&) {
    return false;
  }
}

// Whether a file in a folder of TFRecord files is one of them.
bool is_listed(const fs::path& path) {
  std::string name = path.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return (is_tfrecord_name(name) || parse_shard(name)) && file_at(path);
}

bool is_found(const fs::path& path) {
  const std::string name = path.filename().string();
  if (is_tfrecord_name(name)) return file_at(path);
  return parse_shard(name) && file_at(path) && begins_as_tfrecord(path);
}

// The image data of an Example. Ranges are offsets in the file.
struct Example {
  std::optional<WireRange> image;
  std::vector<std::int64_t> labels;
  std::string text;
  std::string filename;
  std::uint64_t height_px = 0;
  std::uint64_t width_px = 0;
  std::uint64_t channels = 0;
  std::string features;  // a few names, for messages
};

template <std::size_t N>
std::size_t rank_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

// The feature in use for one purpose: the first existing name of the list.
template <std::size_t N>
class Choice {
 public:
  explicit Choice(const std::array<std::string_view, N>& names) : names_(names) {}
  bool offer(std::string_view name) {
    const std::size_t rank = rank_of(names_, name);
    if (rank >= best_) return false;
    best_ = rank;
    return true;
  }

 private:
  const std::array<std::string_view, N>& names_;
  std::size_t best_ = N;
};

constexpr std::array<std::string_view, 4> kImage{"image/encoded", "image", "image_raw", "encoded"};
constexpr std::array<std::string_view, 3> kLabel{"image/class/label", "label", "image/label"};
constexpr std::array<std::string_view, 2> kText{"image/class/text", "class/text"};
constexpr std::array<std::string_view, 2> kFilename{"image/filename", "filename"};
constexpr std::array<std::string_view, 2> kHeight{"image/height", "height"};
constexpr std::array<std::string_view, 2> kWidth{"image/width", "width"};
constexpr std::array<std::string_view, 3> kChannels{"image/channels", "depth", "channels"};

class ExampleParser {
 public:
  explicit ExampleParser(const Look& look) : look_(look) {}

  // nullopt if the bytes are no Example.
  std::optional<Example> parse(WireRange message) {
    WireReader fields(look_, message);
    for (WireField field; fields.next(field);) {
      if (field.number == 1 && field.is_range && !features(field.range)) return std::nullopt;
    }
    if (fields.bad()) return std::nullopt;
    return std::move(out_);
  }

 private:
  bool features(WireRange message) {
    WireReader fields(look_, message);
    for (WireField field; fields.next(field);) {
      if (field.number == 1 && field.is_range && !entry(field.range)) return false;
    }
    return !fields.bad();
  }

  bool entry(WireRange message) {
    std::string name;
    WireRange value;
    WireReader fields(look_, message);
    for (WireField field; fields.next(field);) {
      if (field.number == 1 && field.is_range) name = text(field.range, kLongestName);
      if (field.number == 2 && field.is_range) value = field.range;
    }
    return !fields.bad() && feature(name, value);
  }

  bool feature(const std::string& name, WireRange message) {
    if (!name.empty() && out_.features.size() < 200) {
      out_.features += (out_.features.empty() ? "" : ", ") + shown(name);
    }
    WireReader lists(look_, message);
    for (WireField list; lists.next(list);) {
      if (!list.is_range) continue;
      if (list.number == 1 && !bytes(name, list.range)) return false;
      if (list.number == 3 && !numbers(name, list.range)) return false;
    }
    return !lists.bad();
  }

  bool bytes(const std::string& name, WireRange list) {
    WireReader values(look_, list);
    WireField value;
    if (!values.next(value) || !value.is_range) return !values.bad();
    if (image_.offer(name)) out_.image = value.range;
    if (text_.offer(name)) out_.text = text(value.range, kLongestText);
    if (filename_.offer(name)) out_.filename = text(value.range, kLongestText);
    return true;
  }

  bool numbers(const std::string& name, WireRange list) {
    if (label_.offer(name)) {
      out_.labels.clear();
      const bool whole = each_number(list, [&](std::int64_t n) {
        if (n >= 0 && out_.labels.size() <= kMostLabels) out_.labels.push_back(n);
      });
      return whole && out_.labels.size() <= kMostLabels;
    }
    const auto one = [&](std::uint64_t& to) {
      return each_number(list, [&](std::int64_t n) { to = static_cast<std::uint64_t>(n); });
    };
    if (height_.offer(name)) return one(out_.height_px);
    if (width_.offer(name)) return one(out_.width_px);
    if (channels_.offer(name)) return one(out_.channels);
    return true;
  }

  // Accepts packed and single numbers.
  template <class Take>
  bool each_number(WireRange list, Take take) {
    WireReader values(look_, list);
    for (WireField field; values.next(field);) {
      if (!field.is_range) {
        take(static_cast<std::int64_t>(field.value));
        continue;
      }
      WireReader packed(look_, field.range);
      for (std::uint64_t n = 0; packed.varint(n);) take(static_cast<std::int64_t>(n));
      if (packed.bad()) return false;
    }
    return !values.bad();
  }

  // Empty if it is longer than `most`.
  std::string text(WireRange range, std::uint64_t most) {
    std::string out;
    if (range.size > most) return out;
    while (out.size() < range.size) {
      out += as_text(
          look_(range.begin + out.size(),
                std::min<std::size_t>(64, static_cast<std::size_t>(range.size) - out.size())));
    }
    return out;
  }

  static constexpr std::size_t kMostLabels = 1 << 16;
  static constexpr std::uint64_t kLongestName = 256;
  static constexpr std::uint64_t kLongestText = 1024;

  const Look& look_;
  Example out_;
  Choice<4> image_{kImage};
  Choice<3> label_{kLabel};
  Choice<2> text_{kText};
  Choice<2> filename_{kFilename};
  Choice<2> height_{kHeight};
  Choice<2> width_{kWidth};
  Choice<3> channels_{kChannels};
};

enum class ExampleHolds : std::uint8_t { kNoExample, kNoImage, kEncoded, kPixels };

struct ImageRecord {
  std::uint64_t begin;     // start of the data, as an offset in the file
  std::uint64_t size;      // size of the data
  std::uint64_t image_at;  // as an offset in the data
  std::uint16_t height_px = 0;
  std::uint16_t width_px = 0;
  std::uint8_t channels = 0;
  ExampleHolds holds = ExampleHolds::kNoExample;
};

bool holds_pixels(const Example& example, const Look& look) {
  constexpr std::uint64_t kMaxSide = std::numeric_limits<std::uint16_t>::max();
  const auto& [h, w, c] = std::tie(example.height_px, example.width_px, example.channels);
  if (h == 0 || w == 0 || h > kMaxSide || w > kMaxSide || (c != 1 && c != 3)) return false;
  if (h * w * c != example.image->size) return false;
  const std::string_view first =
      as_text(look(example.image->begin, std::min<std::size_t>(4, example.image->size)));
  return first != "\x89PNG" && !first.starts_with("\xFF\xD8\xFF");
}

ImageRecord make_record(WireRange data, const std::optional<Example>& example, const Look& look) {
  ImageRecord record{.begin = data.begin, .size = data.size, .image_at = 0};
  if (!example) return record;
  record.holds = ExampleHolds::kNoImage;
  if (!example->image) return record;
  record.image_at = example->image->begin - data.begin;
  record.holds = ExampleHolds::kEncoded;
  if (!holds_pixels(*example, look)) return record;
  record.holds = ExampleHolds::kPixels;
  record.height_px = static_cast<std::uint16_t>(example->height_px);
  record.width_px = static_cast<std::uint16_t>(example->width_px);
  record.channels = static_cast<std::uint8_t>(example->channels);
  return record;
}

[[noreturn]] void refuse_start(const InputFile& file, std::uint64_t at) {
  std::array<std::byte, 2> first{};
  file.read_at(0, first);
  const bool gzip = first[0] == std::byte{0x1F} && first[1] == std::byte{0x8B};
  if (at == 0 && (gzip || first[0] == std::byte{0x78})) {
    throw UsageError(file.path().string() + " is compressed (" + (gzip ? "GZIP" : "ZLIB") +
                     "); winnow reads uncompressed TFRecord files, so inflate it first");
  }
  throw UsageError(file.path().string() + " is damaged at byte " + std::to_string(at) +
                   ": the checksum of a record's length is wrong; get it again");
}

// Calls `take` with the range of each record's data.
void for_each_record(const InputFile& file, const Look& look,
                     const std::function<void(WireRange)>& take) {
  for (std::uint64_t at = 0; at < file.size();) {
    const auto cut = [&] {
      return UsageError(file.path().string() + " is cut short: its record at byte " +
                        std::to_string(at) + " ends after the end of the file; get it again");
    };
    if (file.size() - at < kTfrecordHeaderBytes) throw cut();
    const auto size = tfrecord_length(look(at, kTfrecordHeaderBytes));
    if (!size) refuse_start(file, at);
    const std::uint64_t left = file.size() - at - kTfrecordHeaderBytes;
    if (left < kTfrecordFooterBytes || left - kTfrecordFooterBytes < *size) throw cut();
    take({at + kTfrecordHeaderBytes, *size});
    at += kTfrecordHeaderBytes + *size + kTfrecordFooterBytes;
  }
}

void check_shards(const fs::path& path, const std::vector<Part>& parts) {
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> there;
  for (const Part& part : parts) {
    if (const auto shard = parse_shard(part.name)) ++there[{shard->prefix, shard->count}];
  }
  for (const auto& [set, count] : there) {
    if (count == set.second) continue;
    throw UsageError(path.string() + " holds " + std::to_string(count) + " of the " +
                     std::to_string(set.second) + " files " + set.first +
                     "-*; get the others, or read what is there (--allow-empty)");
  }
}

class TfrecordSource final : public ListedSource {
 public:
  TfrecordSource(const fs::path& path, const std::vector<Part>& parts, LabelsFrom labels)
      : ListedSource("tfrecord"), rows_(labels) {
    for (const Part& part : parts) scan(part);
    if (images_ == 0 && !records_.empty()) {
      throw UsageError(path.string() + " holds no images: no record has a feature image/encoded, " +
                       "image, image_raw or encoded" +
                       (features_.empty() ? "" : "; its first has " + features_));
    }
    std::tie(entries_, class_names_) = rows_.finish();
    description_ = "TFRecord: " + counted(entries_, class_names_.size()) + " in " +
                   std::to_string(parts.size()) + (parts.size() == 1 ? " file" : " files");
  }

  Expected<Payload, ReadError> read(std::size_t position) const override {
    const ImageRecord& record = records_[position];
    const bool has_image =
        record.holds == ExampleHolds::kEncoded || record.holds == ExampleHolds::kPixels;
    Bytes image(has_image ? entries_.input_bytes(position) : 0);
    bool matches = false;
    try {
      files_.use(position,
                 [&](const InputFile& file) { matches = read_checked(file, record, image); });
    } catch (const SystemError& error) {
      return ReadError{ReadError::Kind::kIo, error.what()};
    }
    if (!matches) {
      return ReadError{ReadError::Kind::kCorrupt, "does not match its record's checksum"};
    }
    if (record.holds == ExampleHolds::kNoExample) {
      return ReadError{ReadError::Kind::kCorrupt, "is a record that is no tf.train.Example"};
    }
    if (record.holds == ExampleHolds::kNoImage) {
      return ReadError{ReadError::Kind::kCorrupt, "is a record without an image"};
    }
    if (image.empty()) return ReadError{ReadError::Kind::kEmpty, "has no bytes"};
    if (record.holds == ExampleHolds::kEncoded) return Payload(std::move(image));
    Image pixels(record.height_px, record.width_px, record.channels);
    std::memcpy(pixels.pixels.data(), image.data(), image.size());
    return Payload(std::move(pixels));
  }

 private:
  // Reads the record's image into `image`. Returns whether the whole record matches its checksum.
  static bool read_checked(const InputFile& file, const ImageRecord& record,
                           std::span<std::byte> image) {
    Crc32c crc;
    const std::uint64_t end = record.begin + record.size;
    const std::uint64_t image_begin = record.begin + record.image_at;
    std::uint64_t at = record.begin;
    for_each_piece(file, record.begin, end, [&](BytesView bytes) {
      crc.update(bytes);
      const std::uint64_t from = std::max(at, image_begin);
      const std::uint64_t to = std::min(at + bytes.size(), image_begin + image.size());
      if (from < to) std::memcpy(&image[from - image_begin], &bytes[from - at], to - from);
      at += bytes.size();
    });
    std::uint32_t stored = 0;
    file.read_at(end, std::as_writable_bytes(std::span(&stored, 1)));
    return crc.masked() == stored;
  }

  void scan(const Part& part) {
    InputFile file(part.path);
    const Look look = look_into(file);
    const std::size_t first = records_.size();
    for_each_record(file, look, [&](WireRange data) {
      const std::optional<Example> example = ExampleParser(look).parse(data);
      records_.push_back(make_record(data, example, look));
      take(part, records_.size() - 1 - first, example);
    });
    files_.add(std::move(file), records_.size());
  }

  void take(const Part& part, std::size_t index, const std::optional<Example>& example) {
    Row row{.name = numbered_name(part.name, index), .split = part.split};
    if (example) {
      if (is_safe_name(example->filename)) row.name = part.name + "/" + example->filename;
      if (features_.empty()) features_ = example->features;
      row.labels = example->labels;
      row.text = example->text;
      row.input_bytes = example->image ? example->image->size : 0;
      images_ += example->image ? 1 : 0;
    }
    rows_.add(std::move(row), part.path, index);
  }

  PartFiles files_;
  std::vector<ImageRecord> records_;

  // Used while opening.
  std::size_t images_ = 0;
  std::string features_;
  RowGatherer rows_;
};

}  // namespace

bool tfrecord_found_at(const fs::path& path) {
  if (file_at(path)) return is_found(path) || begins_as_tfrecord(path);
  return any_name_in(path, [&](const std::string& name) { return is_found(path / name); });
}

std::unique_ptr<Source> open_tfrecord(const fs::path& path, const OpenOptions& options) {
  const bool is_folder = !file_at(path);
  const std::vector<Part> parts = find_parts(
      path, [&](const fs::path& file) { return is_folder ? is_listed(file) : file_at(file); },
      without_ending);
  if (parts.empty()) {
    throw UsageError(path.string() + " contains no TFRecord file; names end in .tfrecord or " +
                     "in -00000-of-00128");
  }
  if (is_folder && !options.allow_empty_classes) check_shards(path, parts);
  return std::make_unique<TfrecordSource>(path, parts, options.labels);
}

}  // namespace winnow::datasets
