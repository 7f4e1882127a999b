#include "common/known_bytes.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace winnow {
namespace {

using namespace std::string_view_literals;

struct Row {
  std::string_view begins;
  bool is_text;  // case-insensitive, after blanks
  KnownBytes known;
};

constexpr KnownBytes kPage{
    "a web page",
    "a server sent it instead of the file; read what it says, and download the file again"};
constexpr KnownBytes kGzip{"compressed by gzip", "unpack it with gunzip", true};
constexpr KnownBytes kZip{"a zip archive", "unpack it and name the folder", true};

constexpr std::array kRows{
    Row{"version https://git-lfs.github.com/spec/",
        true,
        {"a Git LFS pointer, not the file that it stands for", "get the file with git lfs pull"}},
    Row{"<!doctype html", true, kPage},
    Row{"<html", true, kPage},
    Row{"<head", true, kPage},
    Row{"<svg", true, {"an SVG", "convert it to PNG, for example with rsvg-convert"}},
    Row{"%PDF-", false, {"a PDF", "convert its pages to PNG, for example with pdftoppm"}},
    Row{"PK\x03\x04", false, kZip},
    Row{"PK\x05\x06", false, kZip},
    Row{"\x1f\x8b", false, kGzip},
    Row{"BZh91AY&SY", false, {"compressed by bzip2", "unpack it with bunzip2", true}},
    Row{"\xfd"
        "7zXZ\0"sv,
        false,
        {"compressed by xz", "unpack it with unxz", true}},
    Row{"\x28\xb5\x2f\xfd", false, {"compressed by zstd", "unpack it with unzstd", true}},
    Row{"7z\xbc\xaf\x27\x1c", false, {"a 7z archive", "unpack it and name the folder", true}},
    Row{"Rar!\x1a\x07", false, {"a RAR archive", "unpack it and name the folder", true}},
};

bool same_in_any_case(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

}  // namespace

bool begins_as_image(BytesView first) noexcept {
  constexpr std::array kMagics{
      "\xff\xd8\xff"sv, "\x89PNG\r\n\x1a\n"sv, "GIF87a"sv, "GIF89a"sv, "II*\0"sv, "MM\0*"sv};
  const std::string_view text = as_text(first);
  const auto begins = [&](std::string_view magic) { return text.starts_with(magic); };
  if (std::ranges::any_of(kMagics, begins)) return true;
  if (text.size() < 12) return false;
  const bool is_bmp = begins("BM") && text.substr(6, 4) == "\0\0\0\0"sv;
  return is_bmp || (begins("RIFF") && text.substr(8, 4) == "WEBP");
}

const KnownBytes* known_bytes(BytesView first) noexcept {
  std::string_view text = as_text(first);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string_view behind_blanks = text;
  behind_blanks.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  for (const Row& row : kRows) {
    const std::string_view head = (row.is_text ? behind_blanks : text).substr(0, row.begins.size());
    const bool same =
        row.is_text ? std::ranges::equal(head, row.begins, same_in_any_case) : head == row.begins;
    if (same) return &row.known;
  }
  return nullptr;
}

}  // namespace winnow
