#include "common/list_text.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "common/error.h"
#include "common/known_bytes.h"

namespace winnow {
namespace {

constexpr std::uint64_t kBeginning = 1 << 16;

enum class Encoding { kBytes, kUtf16Little, kUtf16Big, kUtf32 };

struct Form {
  Encoding encoding = Encoding::kBytes;
  std::size_t mark_bytes = 0;
};

Form form_of(BytesView first) {
  const auto at = [&](std::size_t i) {
    return i < first.size() ? std::to_integer<int>(first[i]) : -1;
  };
  const auto begins = [&](std::initializer_list<int> bytes) {
    std::size_t i = 0;
    return std::ranges::all_of(bytes, [&](int byte) { return at(i++) == byte; });
  };
  if (begins({0xEF, 0xBB, 0xBF})) return {Encoding::kBytes, 3};
  if (begins({0xFF, 0xFE, 0, 0}) || begins({0, 0, 0xFE, 0xFF})) return {Encoding::kUtf32, 4};
  if (begins({0xFF, 0xFE})) return {Encoding::kUtf16Little, 2};
  if (begins({0xFE, 0xFF})) return {Encoding::kUtf16Big, 2};
  if (at(0) > 0 && at(1) == 0 && at(2) > 0 && at(3) == 0) return {Encoding::kUtf16Little, 0};
  if (at(0) == 0 && at(1) > 0 && at(2) == 0 && at(3) > 0) return {Encoding::kUtf16Big, 0};
  return {};
}

void append_utf8(std::string& out, std::uint32_t c) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

// Decodes text from pieces of a file, which may end within a character.
class Decoder {
 public:
  Decoder(Encoding encoding, std::string where) : encoding_(encoding), where_(std::move(where)) {}

  // Valid until the next call.
  std::string_view feed(BytesView piece) {
    if (encoding_ == Encoding::kBytes) return as_text(piece);
    out_.clear();
    for (const std::byte byte : piece) {
      if (!first_) {
        first_ = byte;
        continue;
      }
      const auto a = std::to_integer<std::uint32_t>(*first_);
      const auto b = std::to_integer<std::uint32_t>(byte);
      first_.reset();
      put(encoding_ == Encoding::kUtf16Little ? b << 8 | a : a << 8 | b);
    }
    return out_;
  }
  void finish() const {
    if (first_ || high_ != 0) fail();
  }

 private:
  void put(std::uint32_t unit) {
    const bool is_low = unit >= 0xDC00 && unit < 0xE000;
    if (is_low != (high_ != 0)) fail();
    if (unit >= 0xD800 && unit < 0xDC00) {
      high_ = unit;
    } else {
      append_utf8(out_, is_low ? 0x10000 + ((high_ - 0xD800) << 10) + (unit - 0xDC00) : unit);
      high_ = 0;
    }
  }

  [[noreturn]] void fail() const {
    throw UsageError(where_ + " is UTF-16 with an incomplete character; save it as UTF-8");
  }

  Encoding encoding_;
  std::string where_;
  std::string out_;
  std::optional<std::byte> first_;  // first of two bytes
  std::uint32_t high_ = 0;          // first half of a surrogate pair; 0: none
};

Bytes first_bytes(const InputFile& file) {
  Bytes first(static_cast<std::size_t>(std::min(file.size(), kBeginning)));
  file.read_at(0, first);
  return first;
}

// The form of a file that may be a list.
Form checked_form(BytesView first, const std::string& where) {
  if (const KnownBytes* known = known_bytes(first)) {
    throw UsageError(where + " is " + std::string(known->what) + "; " + std::string(known->advice));
  }
  const Form form = form_of(first);
  if (form.encoding == Encoding::kUtf32) throw UsageError(where + " is UTF-32; save it as UTF-8");
  return form;
}

bool ends_lines_by_cr(std::string_view beginning) {
  return beginning.find('\r') != beginning.npos && beginning.find('\n') == beginning.npos;
}

}  // namespace

void for_each_text(const InputFile& file, const std::function<void(std::string_view)>& take) {
  const std::string where = file.path().string();
  const Bytes first = first_bytes(file);
  const Form form = checked_form(first, where);
  Decoder beginning(form.encoding, where);
  const bool by_cr = ends_lines_by_cr(beginning.feed(BytesView(first).subspan(form.mark_bytes)));
  Decoder decoder(form.encoding, where);
  std::string changed;
  for_each_piece(file, form.mark_bytes, file.size(), [&](BytesView piece) {
    const std::string_view text = decoder.feed(piece);
    if (!by_cr) {
      take(text);
      return;
    }
    changed = text;
    std::ranges::replace(changed, '\r', '\n');
    take(changed);
  });
  decoder.finish();
}

std::string read_list_text(const std::filesystem::path& path) {
  require_file(path);
  std::string text;
  for_each_text(InputFile(path), [&](std::string_view piece) { text += piece; });
  return text;
}

std::vector<std::string> read_list_lines(const std::filesystem::path& path) {
  const std::string text = read_list_text(path);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line(text.data() + begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    begin = end + 1;
  }
  return lines;
}

std::string beginning_of_list(const std::filesystem::path& path) {
  try {
    const InputFile file(path);
    const Bytes first = first_bytes(file);
    const Form form = checked_form(first, path.string());
    Decoder decoder(form.encoding, path.string());
    std::string text(decoder.feed(BytesView(first).subspan(form.mark_bytes)));
    if (ends_lines_by_cr(text)) std::ranges::replace(text, '\r', '\n');
    return text;
  } catch (const SystemError&) {
    return "";
  } catch (const UsageError&) {
    return "";
  }
}

}  // namespace winnow
