#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow {

// `text` as a field of a CSV line, quoted as RFC 4180 has it where it must be.
std::string csv_field(std::string_view text);

// Why not libcsv: it counts no lines, bounds no row and passes over no byte order mark.
//
// Takes CSV apart that comes in pieces, as RFC 4180 has it: fields in quotes may hold delimiters,
// line ends and doubled quotes. Lines end in LF or CR LF; empty ones are passed over, and a byte
// order mark before the first. Any bytes will do.
class CsvReader {
 public:
  // `line` is the one a row begins in, from 1 on. `fields` are moved from as the reader goes on.
  using Take = std::function<void(std::span<const std::string> fields, std::uint64_t line)>;

  // `where` names the file in messages.
  CsvReader(char delimiter, std::string where, Take take);

  // Both throw UsageError naming the line: a row of more than 1 MiB, a quote that is not closed.
  void feed(std::string_view piece);
  void finish();

 private:
  enum class State { kBegin, kPlain, kQuoted, kQuote };  // kQuote: behind one within quotes

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
  std::uint64_t line_ = 1;      // the present one
  std::uint64_t row_line_ = 1;  // the one the row began in
};

}  // namespace winnow
