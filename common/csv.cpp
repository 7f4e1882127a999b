#include "common/csv.h"

#include <utility>

#include "common/error.h"

namespace winnow {
namespace {

constexpr std::size_t kMaxRowBytes = 1 << 20;

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

CsvReader::CsvReader(char delimiter, std::string where, Take take)
    : delimiter_(delimiter), where_(std::move(where)), take_(std::move(take)) {}

void CsvReader::feed(std::string_view piece) {
  for (const char c : piece) put(c);
}

void CsvReader::finish() {
  if (state_ == State::kQuoted) fail("has a quote that is not closed");
  end_row();
}

void CsvReader::put(char c) {
  if (++row_bytes_ > kMaxRowBytes) fail("has more than 1 MiB");
  if (state_ == State::kQuoted) {
    if (c == '\n') ++line_;
    if (c == '"') {
      state_ = State::kQuote;
    } else {
      field_ += c;
    }
  } else if (c == delimiter_) {
    end_field();
  } else if (c == '\n') {
    end_row();
    row_line_ = ++line_;
  } else if (c == '"' && state_ == State::kBegin) {
    state_ = State::kQuoted;
  } else if (c == '"' && state_ == State::kQuote) {
    field_ += c;
    state_ = State::kQuoted;
  } else {
    field_ += c;
    state_ = State::kPlain;
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    if (line_ == 1 && fields_.empty() && field_ == kMark) {
      field_.clear();
      state_ = State::kBegin;
    }
  }
}

void CsvReader::end_field() {
  fields_.push_back(std::exchange(field_, {}));
  state_ = State::kBegin;
}

void CsvReader::end_row() {
  if (state_ == State::kPlain && field_.ends_with('\r')) field_.pop_back();
  const bool empty = fields_.empty() && field_.empty();
  end_field();
  if (!empty) take_(fields_, row_line_);
  fields_.clear();
  row_bytes_ = 0;
}

void CsvReader::fail(const char* problem) const {
  throw UsageError(where_ + ": the row that begins in line " + std::to_string(row_line_) + " " +
                   problem + "; correct it");
}

}  // namespace winnow
