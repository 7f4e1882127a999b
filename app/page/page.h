#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes.h"

// Building blocks of pages. Pure functions. Each returns HTML that is also well-formed XML.
// Arguments called `html` must be such HTML already (html.h makes it from any text); a `text` is
// escaped here.
namespace winnow::app {

// Cells of a table: plain, a number aligned right, a key without line breaks, and a bar from
// bar_svg().
std::string cell(std::string_view html);
std::string number_cell(std::string_view html);
std::string key_cell(std::string_view html);
std::string bar_cell(const std::vector<std::uint64_t>& parts, std::uint64_t most);

enum class RowLook { kPlain, kFaint, kMarked, kSum };
std::string row(std::string_view cells, RowLook look = RowLook::kPlain);
// `columns`: titles, HTML; a title that begins with '#' is for numbers.
std::string table(const std::vector<std::string>& columns, const std::string& rows);

std::string section(std::string_view title_html, const std::string& content);
std::string heading(std::string_view html);  // for a part of a section
std::string paragraph(std::string_view html);
std::string aside(std::string_view html);  // a paragraph of minor text
std::string command_line(std::string_view text);
std::string preformatted(std::string_view text);  // text with lines as in a terminal
// Content that is shown when its summary is pressed, or from the start if `open`.
std::string details(std::string_view summary_html, const std::string& content, bool open);

// A picture (svg.h) with its title, and a row of several.
std::string figure(std::string_view title_html, const std::string& svg);
std::string figures(const std::string& all);
// The content of a file as an address: "data:image/png;base64,...".
std::string data_uri(std::string_view media_type, BytesView bytes);
// A PNG, embedded in the page. The name is for people who cannot see it.
std::string picture(std::string_view name_text, BytesView png);
// The meaning of a colour in bar_svg().
std::string colour_key(std::size_t part, std::string_view html);

// A large number in a page's header.
std::string tile(std::string_view value_html, std::string_view what_html);
// `kind`: the verb whose page it is; `verdict`: the sentence to read if only one is.
std::string page_header(std::string_view kind_html, std::string_view title_html,
                        std::string_view verdict_html, const std::string& tiles);

struct Page {
  std::string title;            // text
  std::string body;             // HTML: page_header(), then sections
  std::string made;             // text: when, by what, on which machine
  std::string_view style = {};  // a style sheet besides that of all pages
  std::string end = {};         // HTML after everything else: the page's script, if it has one
};
// The whole page with its style. It loads nothing, and runs nothing except `end`.
std::string html_page(const Page& page);

}  // namespace winnow::app
