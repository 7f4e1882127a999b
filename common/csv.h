#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow {

// `text` as one field of a CSV line, quoted as by RFC 4180 if necessary.
std::string csv_field(std::string_view text);

// Parses CSV (RFC 4180) that arrives in pieces. Quoted fields may contain delimiters, line ends and
// doubled quotes. Lines end in LF or CR LF. Empty lines and a byte order mark at the beginning are
// skipped. Any bytes are accepted.
// Own code: libcsv counts no lines, has no limit for a row and does not skip byte order marks.
class CsvReader {
 public:
  // Receives a row. `line` is the number of its first line, from 1. `fields` are only valid during
  // the call.
  using Take = std::function<void(std::span<const std::string> fields, std::uint64_t line)>;

  // where  Name of the file, for messages.
  CsvReader(char delimiter, std::string where, Take take);

  // add() takes the next piece, finish() ends the text. Both throw UsageError naming the line: a
  // row of more than 1 MiB, an unclosed quote.
  void feed(std::string_view piece);
  void finish();

 private:
  // kQuote: after a quote in a quoted field: it ends the field, or a second one follows.
  enum class State { kBegin, kPlain, kQuoted, kQuote };

  void put(char c);
  void end_field();
  void end_row();
  [[noreturn]] void fail(const char* problem) const;

  char delimiter_;
  std::string where_;
  Take take_;
  State state_ = State::kBegin;
  std::string field_;
  std::vector<std::string> fields_;
  std::size_t row_bytes_ = 0;
  std::uint64_t line_ = 1;      // the current line
  std::uint64_t row_line_ = 1;  // number of the first line of the current row
};

}  // namespace winnow
