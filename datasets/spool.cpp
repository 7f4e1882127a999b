#include "datasets/spool.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/error.h"
#include "datasets/class_labels.h"
#include "datasets/records.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

// Layout of an item in the file: the hash of what follows, its size, and then
// - kind, split, channels, 0 (a byte each)
// - height, width, bytes of name, bytes of group, number of labels (u32 each)
// - name, group; for each label its size (u32) and bytes; the image
//
// It is scratch data of one machine and one version, so there is no version number.
constexpr std::uint64_t kFrameBytes = 24;
constexpr std::uint64_t kMostMetaBytes = 1u << 20;

enum class SpooledKind : std::uint8_t { kMissing = 0, kEncoded = 1, kPixels = 2 };

struct SpooledRow {
  SpooledKind kind = SpooledKind::kMissing;
  int height_px = 0;
  int width_px = 0;
  int channels = 0;
  std::vector<std::string> labels;
  Entry entry;  // without labels
  std::uint64_t image_begin = 0;
};

BytesView bytes_of(const ImageView& image) {
  const auto bytes = static_cast<std::size_t>(image.height_px) *
                     static_cast<std::size_t>(image.width_px) *
                     static_cast<std::size_t>(image.channels);
  return std::as_bytes(std::span(image.data, bytes));
}

BytesView bytes_of(const SpooledImage& image) {
  if (const auto* encoded = std::get_if<BytesView>(&image)) return *encoded;
  if (const auto* pixels = std::get_if<ImageView>(&image)) return bytes_of(*pixels);
  return {};
}

void put_text(ByteWriter& out, std::string_view text) {
  out.put(static_cast<std::uint32_t>(text.size()));
  out.put_text(text);
}

// The item as stored in the file, with its frame.
Bytes packed(const SpooledItem& item) {
  const auto* pixels = std::get_if<ImageView>(&item.image);
  const BytesView image = bytes_of(item.image);
  ByteWriter out;
  out.bytes().resize(kFrameBytes);
  out.put(static_cast<SpooledKind>(item.image.index()));
  out.put(item.split);
  out.put(static_cast<std::uint8_t>(pixels != nullptr ? pixels->channels : 0));
  out.put(std::uint8_t{0});
  out.put(static_cast<std::uint32_t>(pixels != nullptr ? pixels->height_px : 0));
  out.put(static_cast<std::uint32_t>(pixels != nullptr ? pixels->width_px : 0));
  put_text(out, item.name);
  put_text(out, item.group);
  out.put(static_cast<std::uint32_t>(item.labels.size()));
  for (const std::string& label : item.labels) put_text(out, label);
  if (out.size() > kMostMetaBytes) {
    throw UsageError("the name, group and labels of an item take more than 1 MiB; shorten them");
  }
  out.bytes().reserve(out.size() + image.size());
  out.put_bytes(image);
  const BytesView body = BytesView(out.bytes()).subspan(kFrameBytes);
  const Hash128 hash = xxh3_128(body);
  const std::uint64_t body_bytes = body.size();
  std::memcpy(out.bytes().data(), hash.bytes.data(), hash.bytes.size());
  std::memcpy(out.bytes().data() + hash.bytes.size(), &body_bytes, sizeof(body_bytes));
  return std::move(out).take();
}

Hash128 hash_in(BytesView frame) {
  Hash128 hash;
  std::memcpy(hash.bytes.data(), frame.data(), hash.bytes.size());
  return hash;
}

std::string next_text(ByteReader& in) { return in.get_text(in.get<std::uint32_t>()); }

// `body` begins at `begin` in its file, and may lack the image.
SpooledRow parse(BytesView body, std::uint64_t begin, std::uint64_t body_bytes) {
  ByteReader in(body, "a spooled item");
  SpooledRow row;
  row.kind = in.get<SpooledKind>();
  row.entry.split = in.get<Split>();
  row.channels = in.get<std::uint8_t>();
  in.get<std::uint8_t>();
  row.height_px = static_cast<int>(in.get<std::uint32_t>());
  row.width_px = static_cast<int>(in.get<std::uint32_t>());
  row.entry.name = next_text(in);
  row.entry.group = next_text(in);
  for (auto labels = in.get<std::uint32_t>(); labels > 0; --labels) {
    row.labels.push_back(next_text(in));
  }
  row.image_begin = begin + in.position();
  row.entry.input_bytes = body_bytes - in.position();
  return row;
}

struct Frame {
  Hash128 hash;
  std::uint64_t bytes = 0;
};

Frame frame_at(const InputFile& file, std::uint64_t at) {
  Bytes raw(kFrameBytes);
  file.read_at(at, raw);
  Frame frame{hash_in(raw)};
  std::memcpy(&frame.bytes, raw.data() + frame.hash.bytes.size(), sizeof(frame.bytes));
  return frame;
}

// The frame at `at`, if all the bytes it announces exist.
std::optional<Frame> whole_frame_at(const InputFile& file, std::uint64_t at) {
  if (file.size() < at || file.size() - at < kFrameBytes) return std::nullopt;
  const Frame frame = frame_at(file, at);
  if (file.size() - at - kFrameBytes < frame.bytes) return std::nullopt;
  Xxh3Stream hash;
  for_each_piece(file, at + kFrameBytes, at + kFrameBytes + frame.bytes,
                 [&](BytesView piece) { hash.update(piece); });
  if (hash.digest() != frame.hash) return std::nullopt;
  return frame;
}

class SpoolSource final : public ListedSource {
 public:
  SpoolSource(const fs::path& file, std::span<const std::uint64_t> ends,
              std::span<const std::string> class_names)
      : ListedSource("items"), file_(file) {
    images_.reserve(ends.size());
    Listing rows;
    rows.reserve(ends.size());
    ClassLabels labels;
    std::uint64_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); begin = ends[i++]) {
      SpooledRow row = row_at(begin + kFrameBytes, ends[i]);
      if (row.entry.name.empty()) row.entry.name = numbered_name("", i, ends.size());
      for (const std::string& label : row.labels) {
        if (const auto number = labels.add_if_any(label)) row.entry.labels.push_back(*number);
      }
      images_.push_back({row.image_begin, row.kind, static_cast<std::uint8_t>(row.channels),
                         row.height_px, row.width_px});
      rows.push_back(row.entry);
    }
    ClassLabels::Classes classes = labels.finish(class_names, "class_names");
    entries_ = relabelled(rows, classes.index_of);
    class_names_ = std::move(classes.names);
    description_ = "items: " + counted(entries_, class_names_.size()) + labels.note();
  }

  Expected<Payload, ReadError> read(std::size_t position) const override {
    const Stored& stored = images_[position];
    if (stored.kind == SpooledKind::kMissing) {
      return ReadError{ReadError::Kind::kMissing, "has no image"};
    }
    Bytes bytes(entries_.input_bytes(position));
    if (bytes.empty()) return ReadError{ReadError::Kind::kEmpty, "has no bytes"};
    try {
      if (stored.kind == SpooledKind::kEncoded) {
        file_.read_at(stored.begin, bytes);
        return Payload(std::move(bytes));
      }
      Image image(stored.height_px, stored.width_px, stored.channels);
      file_.read_at(stored.begin, std::as_writable_bytes(std::span(image.pixels)));
      return Payload(std::move(image));
    } catch (const SystemError& error) {
      return ReadError{ReadError::Kind::kIo, error.what()};
    }
  }

 private:
  struct Stored {
    std::uint64_t begin;
    SpooledKind kind;
    std::uint8_t channels;
    int height_px;
    int width_px;
  };

  // Reads the item with body [begin, end), without a long image.
  SpooledRow row_at(std::uint64_t begin, std::uint64_t end) const {
    constexpr std::uint64_t kUsual = 4096;
    for (const std::uint64_t most : {kUsual, kMostMetaBytes}) {
      Bytes body(std::min(end - begin, most));
      file_.read_at(begin, body);
      try {
        return parse(body, begin, end - begin);
      } catch (const FormatError&) {
        if (most == kMostMetaBytes || body.size() == end - begin) throw;
      }
    }
    throw FormatError(file_.path().string() + " is damaged; remove it");
  }

  InputFile file_;
  std::vector<Stored> images_;
};

void check_folder(const fs::path& folder) {
  std::error_code ignored;
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored)) {
    throw UsageError(
        folder.string() +
        " is not a folder, but items are to be collected in a folder of this name; move it away");
  }
  if (!fs::exists(folder, ignored)) return;
  for (const std::string& name : names_in(folder)) {
    if (name == "items") continue;
    throw UsageError(folder.string() + " contains other files, such as " + name +
                     ", but items are to be collected in a folder of this name; move it away");
  }
}

}  // namespace

Spool::Spool(fs::path folder, const StopRequested& stop) : folder_(std::move(folder)) {
  check_folder(folder_);
  make_directories(folder_);
  lock_ = lock_directory(folder_);
  out_.emplace(file());
  const InputFile there(file());
  std::uint64_t end = 0;
  while (const std::optional<Frame> frame = whole_frame_at(there, end)) {
    if (stop && stop())
      throw StoppedError("stopped while reading the items stored in " + folder_.string() +
                         "; repeat the call to resume");
    end += kFrameBytes + frame->bytes;
    ends_.push_back(end);
    hashes_.push_back(frame->hash);
  }
  if (end < there.size()) fs::resize_file(file(), end);
}

void Spool::append(const SpooledItem& item) {
  if (!item.name.empty() && !is_safe_name(item.name)) {
    throw UsageError("the name '" + shown(item.name) +
                     "' is not a relative path; give another name, or leave out the names");
  }
  const Bytes bytes = packed(item);
  out_->append(as_text(bytes));
  ends_.push_back((ends_.empty() ? 0 : ends_.back()) + bytes.size());
  hashes_.push_back(hash_in(bytes));
}

bool Spool::holds(std::uint64_t position, const SpooledItem& item) const {
  return hash_in(packed(item)) == hashes_[position];
}

std::unique_ptr<Source> Spool::open(std::span<const std::string> class_names) const {
  if (ends_.empty()) throw UsageError("there is no item to ingest; give at least one");
  return std::make_unique<SpoolSource>(file(), ends_, class_names);
}

void Spool::remove() {
  out_.reset();
  remove_tree(folder_);
  lock_ = Fd();
}

}  // namespace winnow::datasets
