#include "app/page/html.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "app/words.h"
#include "common/utf8.h"

namespace winnow::app {
namespace {

// Length of the character that begins at `text`, which is well-formed UTF-8.
std::size_t length_of(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text.front());
  return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

std::uint32_t code_point(std::string_view character) noexcept {
  if (character.size() == 1) return static_cast<unsigned char>(character[0]);
  std::uint32_t code = static_cast<unsigned char>(character[0]) & (0x7FU >> character.size());
  for (const char c : character.substr(1)) {
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3FU);
  }
  return code;
}

// The entity of a character of markup; empty: no markup.
std::string entity_of(std::uint32_t code) {
  switch (code) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return "";
  }
}

// Replacement of a character that is not shown as it is; empty: it is.
std::string replacement_of(std::uint32_t code) {
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return fmt::format("\\x{:02X}", code);
  // see utf8.h
  if (code >= 0xEF80 && code <= 0xEFFF) return fmt::format("\\x{:02X}", code - 0xEF00);
  // not allowed in XML
  if (code == 0xFFFE || code == 0xFFFF) return fmt::format("\\u{:04X}", code);
  return "";
}

template <class Replace>
std::string replaced(std::string_view bytes, const Replace& replace) {
  const std::string text = to_utf8(bytes);
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view character = rest.substr(0, length_of(rest));
    const std::string other = replace(code_point(character));
    out += other.empty() ? character : std::string_view(other);
    rest.remove_prefix(character.size());
  }
  return out;
}

bool is_plain(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./=:,@%+").find(c) != std::string_view::npos;
}

}  // namespace

std::string shown(std::string_view bytes) { return replaced(bytes, replacement_of); }

std::string shown_short(std::string_view bytes) {
  constexpr std::size_t kMostBytes = 100;
  std::string text = shown(bytes.substr(0, kMostBytes + 4));  // a character has at most four bytes
  if (text.size() <= kMostBytes) return text;
  std::size_t end = 0;
  for (std::string_view rest = text; !rest.empty(); rest = std::string_view(text).substr(end)) {
    if (end + length_of(rest) > kMostBytes) break;
    end += length_of(rest);
  }
  text.resize(end);
  return text + "\xE2\x80\xA6";
}

std::string escaped(std::string_view bytes) {
  return replaced(bytes, [](std::uint32_t code) {
    const std::string entity = entity_of(code);
    return entity.empty() ? replacement_of(code) : entity;
  });
}

std::string name_html(std::string_view bytes) { return "<bdi>" + escaped(bytes) + "</bdi>"; }

std::string shell_word(std::string_view bytes) {
  if (!bytes.empty() && std::ranges::all_of(bytes, is_plain)) return std::string(bytes);
  const bool printable = std::ranges::all_of(
      bytes, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; });
  const bool utf8 = printable && to_utf8(bytes) == bytes;
  std::string out = utf8 ? "'" : "$'";
  for (const char c : bytes) {
    if (utf8) {
      out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    } else if (c == '\'' || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace winnow::app
