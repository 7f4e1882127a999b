#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes.h"

// What pages are made of. Pure functions: each returns HTML that is well-formed XML too. What they
// take as `html` is such already (html.h makes it of any text); a `text` is escaped here.
namespace winnow::app {

// Cells of a table: as they are, a number set to the right, a key that is not broken into lines,
// and a bar, as of bar_svg().
std::string cell(std::string_view html);
std::string number_cell(std::string_view html);
std::string key_cell(std::string_view html);
std::string bar_cell(const std::vector<std::uint64_t>& parts, std::uint64_t most);

enum class RowLook { kPlain, kFaint, kMarked, kSum };
std::string row(std::string_view cells, RowLook look = RowLook::kPlain);
// `columns`: titles, HTML; one that begins with '#' is of numbers.
std::string table(const std::vector<std::string>& columns, const std::string& rows);

std::string section(std::string_view title_html, const std::string& content);
std::string heading(std::string_view html);  // of a part of a section
std::string paragraph(std::string_view html);
std::string aside(std::string_view html);  // words of less weight, in a paragraph
std::string command_line(std::string_view text);
std::string preformatted(std::string_view text);  // lines, as a terminal has them
// What is shown when its summary is pressed; from the start where it is `open`.
std::string details(std::string_view summary_html, const std::string& content, bool open);

// A picture (svg.h) with its title, and what holds some of them.
std::string figure(std::string_view title_html, const std::string& svg);
std::string figures(const std::string& all);
// The content of a file as an address: "data:image/png;base64,...".
std::string data_uri(std::string_view media_type, BytesView bytes);
// A PNG, which is put into the page. The name is for people who cannot see it.
std::string picture(std::string_view name_text, BytesView png);
// What a colour of bar_svg() stands for.
std::string colour_key(std::size_t part, std::string_view html);

// A number that counts, large, in a page's header.
std::string tile(std::string_view value_html, std::string_view what_html);
// `kind`: the verb that the page is of; `verdict`: the sentence to read if only one is.
std::string page_header(std::string_view kind_html, std::string_view title_html,
                        std::string_view verdict_html, const std::string& tiles);

struct Page {
  std::string title;            // text
  std::string body;             // HTML: page_header(), then sections
  std::string made;             // text: when, by what, on which machine
  std::string_view style = {};  // what it has beside the style of all pages: a style sheet
  std::string end = {};         // HTML behind all else: its script, if it has one
};
// The whole, with its style; it fetches nothing, and runs nothing but what `end` has.
std::string html_page(const Page& page);

}  // namespace winnow::app
