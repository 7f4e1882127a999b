#include "app/page/page.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/page/html.h"
#include "app/page/style.h"
#include "app/page/svg.h"

namespace winnow::app {
namespace {

std::string_view class_of(RowLook look) {
  switch (look) {
    case RowLook::kFaint:
      return " class=\"none\"";
    case RowLook::kMarked:
      return " class=\"mark\"";
    case RowLook::kSum:
      return " class=\"sum\"";
    case RowLook::kPlain:
      break;
  }
  return "";
}

std::string base64(BytesView bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < count ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= count ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

}  // namespace

std::string cell(std::string_view html) { return fmt::format("<td>{}</td>", html); }
std::string number_cell(std::string_view html) {
  return fmt::format("<td class=\"n\">{}</td>", html);
}
std::string key_cell(std::string_view html) { return fmt::format("<td class=\"k\">{}</td>", html); }
std::string bar_cell(const std::vector<std::uint64_t>& parts, std::uint64_t most) {
  return fmt::format("<td class=\"l\">{}</td>", bar_svg(parts, most));
}

std::string row(std::string_view cells, RowLook look) {
  return fmt::format("<tr{}>{}</tr>\n", class_of(look), cells);
}

std::string table(const std::vector<std::string>& columns, const std::string& rows) {
  std::string head;
  for (const std::string_view title : columns) {
    head += title.starts_with('#') ? fmt::format("<th class=\"n\">{}</th>", title.substr(1))
                                   : fmt::format("<th>{}</th>", title);
  }
  return fmt::format("<table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table>\n", head,
                     rows);
}

std::string section(std::string_view title_html, const std::string& content) {
  return fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", title_html, content);
}

std::string heading(std::string_view html) { return fmt::format("<h3>{}</h3>\n", html); }
std::string paragraph(std::string_view html) { return fmt::format("<p>{}</p>\n", html); }
std::string aside(std::string_view html) {
  return fmt::format("<span class=\"soft\">{}</span>", html);
}
std::string command_line(std::string_view text) {
  return fmt::format("<pre>{}</pre>\n", escaped(text));
}

std::string preformatted(std::string_view text) {
  std::string lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines += escaped(text.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return fmt::format("<pre>{}</pre>\n", lines);
}

std::string details(std::string_view summary_html, const std::string& content, bool open) {
  return fmt::format("<details{}>\n<summary>{}</summary>\n{}</details>\n",
                     open ? " open=\"open\"" : "", summary_html, content);
}

std::string figure(std::string_view title_html, const std::string& svg) {
  return fmt::format("<figure>\n<figcaption>{}</figcaption>\n{}</figure>\n", title_html, svg);
}
std::string figures(const std::string& all) {
  return fmt::format("<div class=\"charts\">\n{}</div>\n", all);
}
std::string data_uri(std::string_view media_type, BytesView bytes) {
  return fmt::format("data:{};base64,{}", media_type, base64(bytes));
}
std::string picture(std::string_view name_text, BytesView png) {
  return fmt::format("<img class=\"picture\" alt=\"{}\" src=\"{}\" />\n", escaped(name_text),
                     data_uri("image/png", png));
}
std::string colour_key(std::size_t part, std::string_view html) {
  return fmt::format("<span class=\"key key{}\">{}</span> ", part, html);
}

std::string tile(std::string_view value_html, std::string_view what_html) {
  return fmt::format("<div><b>{}</b><span>{}</span></div>\n", value_html, what_html);
}

std::string page_header(std::string_view kind_html, std::string_view title_html,
                        std::string_view verdict_html, const std::string& tiles) {
  return fmt::format(
      "<header>\n<p class=\"soft\">{}</p>\n<h1>{}</h1>\n<p>{}</p>\n"
      "<div class=\"tiles\">\n{}</div>\n</header>\n",
      kind_html, title_html, verdict_html, tiles);
}

std::string html_page(const Page& page) {
  return fmt::format(R"(<!DOCTYPE html>
<html lang="en" xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>{}</title>
<style>
{}{}</style>
</head>
<body>
{}<footer>{}</footer>
{}</body>
</html>
)",
                     escaped(page.title), kStyle, page.style, page.body, escaped(page.made),
                     page.end);
}

}  // namespace winnow::app
