#include "tools/wrapped.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <vector>

namespace winnow::tools {
namespace {

constexpr std::size_t kUsual = 80;   // columns, if unknown
constexpr std::size_t kFewest = 40;  // columns; narrower terminals wrap by themselves

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Columns of UTF-8 text, one per character.
std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

// The column in which a wrapped line continues: below the text after its first gap, or slightly
// further in than its beginning.
std::size_t column_of(std::string_view line, std::size_t columns) {
  const std::size_t begin = indent_of(line);
  const std::size_t gap = line.find("  ", begin);
  const std::size_t text = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  if (text == std::string_view::npos) return begin == 0 ? 0 : begin + (begin < 20 ? 4 : 0);
  return text + 20 < columns ? text : begin + 4;
}

// Whether a line may be broken after text[at]: a blank, or a comma before a word.
bool breaks_behind(std::string_view text, std::size_t at) {
  if (text[at] == ' ') return true;
  return text[at] == ',' && at + 1 < text.size() &&
         std::isalpha(static_cast<unsigned char>(text[at + 1])) != 0;
}

void add_wrapped(std::string_view line, std::size_t columns, std::string& out);

// The part of `text` that fits into `room`, at least up to the first place where it may be broken.
std::size_t part_that_fits(std::string_view text, std::size_t room) {
  if (columns_of(text) <= room) return text.size();
  std::size_t fits = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!breaks_behind(text, at)) continue;
    const std::size_t end = text[at] == ' ' ? at : at + 1;
    if (fits > 0 && columns_of(text.substr(0, end)) > room) break;
    fits = at + 1;
  }
  return fits == 0 ? text.size() : fits;
}

// A command with a remark that does not fit after it: the remark comes first, on a line of its own.
bool add_remarked(std::string_view line, std::size_t columns, std::string& out) {
  const std::size_t remark = line.find(" # ");
  if (remark == std::string_view::npos || columns_of(line) <= columns) return false;
  std::string_view command = line.substr(0, remark);
  while (command.ends_with(' ')) command.remove_suffix(1);
  const std::string indent(indent_of(line), ' ');
  add_wrapped(indent + std::string(line.substr(remark + 1)), columns, out);
  add_wrapped(command, columns, out);
  return true;
}

void add_wrapped(std::string_view line, std::size_t columns, std::string& out) {
  const bool is_command = line.starts_with("  winnow ") || line.starts_with("  mpirun ");
  if (is_command && add_remarked(line, columns, out)) return;
  const std::size_t room_for_more = is_command ? 2 : 0;
  const std::size_t hanging = is_command ? 6 : column_of(line, columns);
  std::size_t indent = 0;
  while (indent + columns_of(line) > columns) {
    const std::size_t begin = indent_of(line);
    const std::size_t used = indent + begin + room_for_more;
    const std::size_t fits =
        begin + part_that_fits(line.substr(begin), columns > used ? columns - used : 1);
    if (fits >= line.size()) break;
    std::string_view part = line.substr(0, fits);
    while (part.ends_with(' ')) part.remove_suffix(1);
    out.append(indent, ' ').append(part).append(is_command ? " \\\n" : "\n");
    line.remove_prefix(fits);
    line.remove_prefix(indent_of(line));
    indent = hanging;
  }
  out.append(indent, ' ').append(line).append("\n");
}

}  // namespace

std::string wrapped_help(std::string_view text, std::size_t columns) {
  if (columns < kFewest) return std::string(text);
  std::string out;
  std::string paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) add_wrapped(paragraph, columns, out);
    paragraph.clear();
  };
  std::vector<std::string_view> lines = split(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  for (const std::string_view line : lines) {
    const bool is_prose = !line.empty() && line.front() != ' ' && !line.ends_with(':');
    if (is_prose && !line.starts_with("Usage: ")) {
      paragraph += (paragraph.empty() ? "" : " ") + std::string(line);
      continue;
    }
    end_paragraph();
    add_wrapped(line, columns, out);
  }
  end_paragraph();
  return out;
}

std::size_t help_columns(int stream) {
  if (const char* const given = std::getenv("COLUMNS")) {
    const std::string_view text(given);
    std::size_t columns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
    if (error == std::errc() && end == text.data() + text.size()) return columns;
  }
  winsize size{};
  return ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

}  // namespace winnow::tools
