#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes.h"

// Building blocks of HTML pages. Pure functions. Each returns HTML that is well-formed XML, too.
// Arguments called `html` must be such HTML already (html.h makes it from any text). Arguments
// called `text` are escaped here.
namespace winnow::app {

// Makes a cell of a table: with plain content, a number aligned right, a key without line breaks,
// or a bar of bar_svg().
std::string cell(std::string_view html);
std::string number_cell(std::string_view html);
std::string key_cell(std::string_view html);
std::string bar_cell(const std::vector<std::uint64_t>& parts, std::uint64_t most);

enum class RowLook { kPlain, kFaint, kMarked, kSum };
std::string row(std::string_view cells, RowLook look = RowLook::kPlain);
// Makes a table. `columns`: titles of the columns in HTML; '#' before a title marks a column of
// numbers.
std::string table(const std::vector<std::string>& columns, const std::string& rows);

std::string section(std::string_view title_html, const std::string& content);
std::string heading(std::string_view html);  // heading of a part of a section
std::string paragraph(std::string_view html);
std::string aside(std::string_view html);  // paragraph of minor text
std::string command_line(std::string_view text);
std::string preformatted(std::string_view text);  // text whose lines are shown as in a terminal
// Makes a block that is folded under its summary until the user opens it. `open`: unfolded at
// first.
std::string details(std::string_view summary_html, const std::string& content, bool open);

// Makes a figure with a title from an SVG picture (svg.h), or a row of several figures.
std::string figure(std::string_view title_html, const std::string& svg);
std::string figures(const std::string& all);
// The content of a file as a data URI: "data:image/png;base64,...".
std::string data_uri(std::string_view media_type, BytesView bytes);
// An image element with a PNG embedded. `name_text` is its alternative text for people who cannot
// see it.
std::string picture(std::string_view name_text, BytesView png);
// The legend of one colour of bar_svg().
std::string colour_key(std::size_t part, std::string_view html);

// A large figure with a caption, for the header of a page.
std::string tile(std::string_view value_html, std::string_view what_html);
// Makes the header of a page. `kind_html`: the command that made the page; `verdict_html`: the main
// result in one sentence.
std::string page_header(std::string_view kind_html, std::string_view title_html,
                        std::string_view verdict_html, const std::string& tiles);

struct Page {
  std::string title;  // text: title of the page
  std::string body;   // HTML: page_header(), then sections
  std::string made;   // text: when, by which version and on which machine the page was made
  std::string_view style = {};  // style sheet to add to the one that all pages have
  std::string end = {};         // HTML after everything else, such as the page's script
};
// Makes the whole HTML page with its style sheet. It loads no other files, and runs no script
// except one in `end`.
std::string html_page(const Page& page);

}  // namespace winnow::app
