#include "common/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/bytes.h"
#include "common/error.h"
#include "common/small_float.h"

namespace winnow {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::uint64_t kMostHeaderBytes = 1 << 16;
constexpr std::string_view kSaveAgain =
    "save a matrix with one row per image: numpy.save(FILE, numpy.ascontiguousarray(vectors, "
    "'<f4'))";

using Words = std::map<std::string, std::string, std::less<>>;

// Parses the dictionary of a header, a Python literal. Returns values as written, without quotes
// and spaces: descr -> <f4, shape -> (10,512).
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  std::optional<Words> read() {
    Words words;
    if (!take('{')) return std::nullopt;
    while (!take('}')) {
      const std::string key = value();
      if (key.empty() || !take(':')) return std::nullopt;
      const std::string told = value();
      if (told.empty() || !words.emplace(key, told).second) return std::nullopt;
      if (!take(',') && peek() != '}') return std::nullopt;
    }
    return peek() == '\0' ? std::optional(words) : std::nullopt;
  }

 private:
  // The next character that is not white space; 0: end.
  char peek() {
    at_ = std::min(text_.find_first_not_of(" \n\t", at_), text_.size());
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  // Empty if there is none.
  std::string value() {
    const char first = peek();
    const bool quoted = first == '\'' || first == '"';
    if (quoted || first == '(') {
      const std::size_t end = text_.find(quoted ? first : ')', at_ + 1);
      if (end == std::string_view::npos) return {};
      const std::size_t begin = std::exchange(at_, end + 1);
      std::string text(quoted ? text_.substr(begin + 1, end - begin - 1)
                              : text_.substr(begin, end + 1 - begin));
      if (!quoted) std::erase(text, ' ');
      return text;
    }
    const std::size_t end = std::min(text_.find_first_of(",}: \n", at_), text_.size());
    const std::size_t begin = std::exchange(at_, end);
    return std::string(text_.substr(begin, end - begin));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// The extents of a two-dimensional shape, "(10,512)".
std::optional<std::pair<std::uint64_t, std::uint64_t>> extents_of(std::string_view shape) {
  std::pair<std::uint64_t, std::uint64_t> extents;
  const char* const end = shape.data() + shape.size();
  if (!shape.starts_with('(')) return std::nullopt;
  const auto first = std::from_chars(shape.data() + 1, end, extents.first);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ',') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, extents.second);
  if (second.ec != std::errc()) return std::nullopt;
  const std::string_view rest(second.ptr, end);
  return rest == ")" || rest == ",)" ? std::optional(extents) : std::nullopt;
}

template <class T, class ToFloat>
void convert(BytesView bytes, std::span<float> out, const ToFloat& to_f32) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = to_f32(value);
  }
}

}  // namespace

NpyMatrix::NpyMatrix(const std::filesystem::path& path, std::string remedy)
    : file_(path), remedy_(remedy.empty() ? std::string(kSaveAgain) : std::move(remedy)) {
  if (!is_one(path)) fail("was not written by numpy.save()");
  std::array<std::byte, 12> head{};
  file_.read_at(0, std::span(head).first(std::min<std::uint64_t>(head.size(), file_.size())));
  const auto major = std::to_integer<int>(head[6]);
  if (major < 1 || major > 3) {
    fail("is of format " + std::to_string(major) + ", but winnow reads formats 1, 2 and 3");
  }
  const std::uint64_t length_bytes = major == 1 ? 2 : 4;
  std::uint64_t length = 0;
  for (std::uint64_t i = length_bytes; i-- > 0;) {
    length = length << 8 | std::to_integer<std::uint64_t>(head[8 + i]);
  }
  begin_ = 8 + length_bytes + length;
  if (length > kMostHeaderBytes || begin_ > file_.size()) fail("has a header that is cut short");
  std::string header(length, '\0');
  file_.read_at(8 + length_bytes, std::as_writable_bytes(std::span(header)));
  parse(header);
}

bool NpyMatrix::is_one(const std::filesystem::path& path) {
  const InputFile file(path);
  if (file.size() < 10) return false;
  std::array<std::byte, kMagic.size()> magic{};
  file.read_at(0, magic);
  return as_text(magic) == kMagic;
}

void NpyMatrix::fail(const std::string& what) const {
  throw FormatError(file_.path().string() + " " + what + "; " + remedy_);
}

void NpyMatrix::parse(const std::string& header) {
  const std::optional<Words> words = HeaderReader(header).read();
  if (!words || words->size() != 3 || !words->contains("descr") ||
      !words->contains("fortran_order") || !words->contains("shape")) {
    fail("has an invalid header");
  }
  const std::string& type = words->find("descr")->second;
  if (type != "<f2" && type != "<f4" && type != "<f8") {
    fail("has elements of type " + type + ", but winnow reads <f2, <f4 and <f8");
  }
  element_bytes_ = static_cast<std::size_t>(type.back() - '0');
  if (words->find("fortran_order")->second != "False") fail("is stored in Fortran order");
  const auto extents = extents_of(words->find("shape")->second);
  if (!extents) fail("has the shape " + words->find("shape")->second + " and is not a matrix");
  std::tie(rows_, columns_) = *extents;
  const std::uint64_t bytes = file_.size() - begin_;
  const bool fits = columns_ == 0 || rows_ <= bytes / element_bytes_ / columns_;
  if (!fits || bytes != rows_ * columns_ * element_bytes_) {
    fail("has fewer or more bytes than its shape needs");
  }
}

void NpyMatrix::read(std::uint64_t row, std::span<float> out) const {
  Bytes bytes(out.size() * element_bytes_);
  file_.read_at(begin_ + row * columns_ * element_bytes_, bytes);
  if (element_bytes_ == 2) convert<F16>(bytes, out, [](F16 value) { return to_float(value); });
  if (element_bytes_ == 4) convert<float>(bytes, out, [](float value) { return value; });
  if (element_bytes_ == 8) {
    convert<double>(bytes, out, [](double value) { return static_cast<float>(value); });
  }
}

std::string npy_header(std::uint64_t rows, std::uint64_t columns) {
  constexpr std::size_t kBefore = 10;  // size of magic, version and length
  constexpr std::size_t kAligned = 64;
  std::string words = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) +
                      ", " + std::to_string(columns) + "), }";
  const std::size_t size = (kBefore + words.size() + 1 + kAligned - 1) / kAligned * kAligned;
  words.resize(size - kBefore - 1, ' ');
  words += '\n';
  std::string header(kMagic);
  for (const std::size_t byte :
       {std::size_t{1}, std::size_t{0}, words.size() & 0xFF, words.size() >> 8}) {
    header += static_cast<char>(byte);
  }
  return header + words;
}

}  // namespace winnow
