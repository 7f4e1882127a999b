#include "datasets/mat_file.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "common/error.h"

namespace winnow::datasets {
namespace {

constexpr std::size_t kHeaderBytes = 128;
constexpr std::size_t kTagBytes = 8;
constexpr std::uint32_t kMatrix = 14;
constexpr std::uint32_t kCompressed = 15;
constexpr std::uint64_t kPieceBytes = 1 << 18;

[[noreturn]] void fail(const InputFile& file, const std::string& problem) {
  throw UsageError(file.path().string() + " " + problem + "; get it again");
}

template <class T>
T number_at(BytesView bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

void check_header(const InputFile& file) {
  std::array<std::byte, kHeaderBytes> header{};
  if (file.size() < header.size()) fail(file, "is too short for a MAT-file");
  file.read_at(0, header);
  const std::string_view text = as_text(header);
  if (text.starts_with("MATLAB 7.3")) {
    throw UsageError(
        file.path().string() +
        " is a MAT-file of version 7.3 (HDF5), which winnow does not read; save it with -v7");
  }
  if (text.substr(126) != "IM" || number_at<std::uint16_t>(header, 124) != 0x0100) {
    throw UsageError(file.path().string() +
                     " is not a little-endian MAT-file of level 5; save it with -v7");
  }
}

struct EndInflate {
  void operator()(z_stream* stream) const noexcept {
    inflateEnd(stream);
    delete stream;
  }
};

// The bytes of one variable in order, plain or inflated.
class Stream {
 public:
  Stream(const InputFile& file, std::uint64_t begin, std::uint64_t size, bool compressed)
      : file_(file), at_(begin), end_(begin + size) {
    if (!compressed) return;
    auto stream = std::make_unique<z_stream>();
    if (inflateInit(stream.get()) != Z_OK)
      throw SystemError("cannot begin to decompress: no memory");
    zlib_.reset(stream.release());
  }

  bool compressed() const noexcept { return zlib_ != nullptr; }
  // Offset in the file; not for compressed variables.
  std::uint64_t position() const noexcept { return at_; }
  std::uint64_t left() const noexcept { return end_ - at_; }
  const InputFile& file() const noexcept { return file_; }

  void read(std::span<std::byte> out) {
    if (zlib_) {
      if (inflate_some(out) != out.size()) fail(file_, "is cut short inside a variable");
      return;
    }
    if (out.size() > left()) fail(file_, "is damaged: a value ends after the end of its variable");
    file_.read_at(at_, out);
    at_ += out.size();
  }

  void skip(std::uint64_t count) {
    Bytes unused(static_cast<std::size_t>(std::min(count, kPieceBytes)));
    for (; count > 0; count -= unused.size()) {
      unused.resize(static_cast<std::size_t>(std::min(count, kPieceBytes)));
      read(unused);
    }
  }

  // Reads to the end, which verifies the checksum of a compressed variable.
  void finish() {
    std::array<std::byte, 64> rest{};
    if (zlib_ && inflate_some(rest) > 8)
      fail(file_, "is damaged: a variable is longer than its values");
    if (zlib_ && !ended_) fail(file_, "is cut short inside a variable");
  }

 private:
  // Reads fewer bytes only at the end.
  std::size_t inflate_some(std::span<std::byte> out) {
    zlib_->next_out = reinterpret_cast<Bytef*>(out.data());
    zlib_->avail_out = static_cast<uInt>(out.size());
    while (zlib_->avail_out > 0 && !ended_) {
      if (zlib_->avail_in == 0) {
        input_.resize(static_cast<std::size_t>(std::min(kPieceBytes, left())));
        if (input_.empty()) fail(file_, "is cut short inside a variable");
        file_.read_at(at_, input_);
        at_ += input_.size();
        zlib_->next_in = reinterpret_cast<Bytef*>(input_.data());
        zlib_->avail_in = static_cast<uInt>(input_.size());
      }
      const int code = inflate(zlib_.get(), Z_NO_FLUSH);
      ended_ = code == Z_STREAM_END;
      if (code == Z_MEM_ERROR) throw SystemError("cannot decompress: no memory");
      if (code != Z_OK && !ended_) fail(file_, "is damaged: a variable cannot be decompressed");
    }
    return out.size() - zlib_->avail_out;
  }

  const InputFile& file_;
  std::uint64_t at_;
  std::uint64_t end_;
  std::unique_ptr<z_stream, EndInflate> zlib_;
  Bytes input_;
  bool ended_ = false;
};

// A data element within a variable: type, size and data. Up to four bytes of data may be in the tag
// itself.
class Element {
 public:
  explicit Element(Stream& stream) : stream_(stream) {
    std::array<std::byte, kTagBytes> tag{};
    stream.read(tag);
    type_ = number_at<std::uint32_t>(tag, 0);
    size_ = number_at<std::uint32_t>(tag, 4);
    if (type_ >> 16 == 0) return;
    size_ = type_ >> 16;
    type_ &= 0xFFFF;
    if (size_ > 4)
      fail(stream.file(), "is damaged: the tag of a small element has a size over 4 bytes");
    Bytes inside(tag.begin() + 4, tag.begin() + 4 + static_cast<std::ptrdiff_t>(size_));
    inside_ = std::move(inside);
  }

  std::uint32_t type() const noexcept { return type_; }
  std::uint64_t size() const noexcept { return size_; }
  bool is_inside() const noexcept { return inside_.has_value(); }

  // Passes on all data, in pieces of whole 8-byte units (except the last).
  void each_piece(const std::function<void(BytesView)>& take) {
    if (inside_) return take(*inside_);
    Bytes piece;
    for (std::uint64_t left = size_; left > 0; left -= piece.size()) {
      piece.resize(static_cast<std::size_t>(std::min(left, kPieceBytes)));
      stream_.read(piece);
      take(piece);
    }
  }

  // All data with its padding; nullopt if it is longer than `most`.
  std::optional<Bytes> small(std::uint64_t most) {
    if (inside_) return *inside_;
    if (size_ > most) return std::nullopt;
    Bytes bytes(static_cast<std::size_t>(size_));
    stream_.read(bytes);
    stream_.skip((8 - size_ % 8) % 8);
    return bytes;
  }

 private:
  Stream& stream_;
  std::uint32_t type_ = 0;
  std::uint64_t size_ = 0;
  std::optional<Bytes> inside_;
};

// A MATLAB number type; 0 bytes: unknown.
struct NumberType {
  std::size_t bytes = 0;
  double (*read)(BytesView bytes, std::size_t offset) = nullptr;
};
template <class T>
NumberType number_type() {
  return {sizeof(T), [](BytesView bytes, std::size_t offset) {
            return static_cast<double>(number_at<T>(bytes, offset));
          }};
}
NumberType number_type_of(std::uint32_t type) {
  switch (type) {
    case 1:
      return number_type<std::int8_t>();
    case 2:
      return number_type<std::uint8_t>();
    case 3:
      return number_type<std::int16_t>();
    case 4:
      return number_type<std::uint16_t>();
    case 5:
      return number_type<std::int32_t>();
    case 6:
      return number_type<std::uint32_t>();
    case 7:
      return number_type<float>();
    case 9:
      return number_type<double>();
    case 12:
      return number_type<std::int64_t>();
    case 13:
      return number_type<std::uint64_t>();
    default:
      return {};
  }
}

MatArray::Class class_of(std::uint32_t flags) {
  constexpr std::uint32_t kComplex = 0x0800;
  const std::uint32_t kind = flags & 0xFF;  // 6 double ... 9 uint8 ... 15 uint64
  if ((flags & kComplex) != 0 || kind < 6 || kind > 15) return MatArray::Class::kOther;
  return kind == 9 ? MatArray::Class::kBytes : MatArray::Class::kNumbers;
}

// Reads flags, dimensions and name; nullopt if these show that the variable is of no interest.
std::optional<MatArray> read_array(Stream& stream) {
  const auto flags = Element(stream).small(8);
  if (!flags || flags->size() != 8) return std::nullopt;
  const auto dimensions = Element(stream).small(32 * 4);
  if (!dimensions || dimensions->size() % 4 != 0) return std::nullopt;
  const auto name = Element(stream).small(64);
  if (!name) return std::nullopt;
  MatArray array;
  array.kind = class_of(number_at<std::uint32_t>(*flags, 0));
  array.name = as_text(*name);
  for (std::size_t i = 0; i < dimensions->size(); i += 4) {
    const auto side = number_at<std::int32_t>(*dimensions, i);
    const auto values = static_cast<std::uint64_t>(side);
    constexpr std::uint64_t kMost = std::uint64_t{1} << 32;  // limit of an element's size
    if (side < 0 || (side > 0 && array.values > kMost / values)) return std::nullopt;
    array.dimensions.push_back(side);
    array.values *= values;
  }
  return array;
}

MatArray::Place locate(Stream& stream, const MatArray& array) {
  Element data(stream);
  if (array.kind != MatArray::Class::kBytes || data.type() != 2 || data.size() != array.values) {
    fail(stream.file(), "is damaged: the values of " + array.name + " do not fit its size");
  }
  if (!stream.compressed() && !data.is_inside()) {
    if (stream.left() < data.size()) {
      fail(stream.file(),
           "is damaged: the values of " + array.name + " end after the end of its variable");
    }
    return {InputFile(stream.file().path()), stream.position()};
  }
  ScratchFile inflated;
  data.each_piece([&](BytesView bytes) { inflated.append(bytes); });
  stream.finish();
  return {std::move(inflated).read(), 0};
}

void each(Stream& stream, const MatArray& array, const std::function<void(double)>& take) {
  Element data(stream);
  const NumberType type = number_type_of(data.type());
  if (array.kind == MatArray::Class::kOther || type.bytes == 0 ||
      data.size() != array.values * type.bytes) {
    fail(stream.file(), "is damaged: the values of " + array.name + " do not fit its size");
  }
  data.each_piece([&](BytesView bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += type.bytes) take(type.read(bytes, at));
  });
  stream.finish();
}

}  // namespace

void for_each_array(const InputFile& file, const std::function<void(const MatArray&)>& take) {
  check_header(file);
  for (std::uint64_t at = kHeaderBytes; at < file.size();) {
    std::array<std::byte, kTagBytes> tag{};
    if (file.size() - at < tag.size()) fail(file, "is cut short at byte " + std::to_string(at));
    file.read_at(at, tag);
    const auto type = number_at<std::uint32_t>(tag, 0);
    const std::uint64_t size = number_at<std::uint32_t>(tag, 4);
    const std::uint64_t begin = at + tag.size();
    if ((type != kMatrix && type != kCompressed) || size > file.size() - begin) {
      fail(file,
           "is damaged or cut short: there is no complete variable at byte " + std::to_string(at));
    }
    Stream stream(file, begin, size, type == kCompressed);
    if (type == kCompressed && Element(stream).type() != kMatrix) {
      fail(file, "is damaged: what is at byte " + std::to_string(at) + " is not a variable");
    }
    if (auto array = read_array(stream)) {
      array->locate = [&] { return locate(stream, *array); };
      array->each = [&](const std::function<void(double)>& each_of) {
        each(stream, *array, each_of);
      };
      take(*array);
    }
    at = begin + size;
  }
}

}  // namespace winnow::datasets
