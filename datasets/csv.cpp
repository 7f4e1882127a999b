#include "datasets/csv.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "common/csv.h"
#include "common/error.h"
#include "common/list_text.h"
#include "datasets/layout.h"
#include "datasets/listed_files.h"
#include "datasets/look.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// The position of each column.
struct Columns {
  std::size_t file = 0;
  std::optional<std::size_t> label;
  bool several = false;  // the field has several labels
  std::optional<std::size_t> split;
  std::optional<std::size_t> group;
  std::vector<std::string> unused;
};

template <std::size_t count>
std::optional<std::size_t> find_column(const std::vector<std::string>& names,
                                       const std::array<std::string_view, count>& wanted) {
  for (const std::string_view name : wanted) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  }
  return std::nullopt;
}

// nullopt if no column of files is named.
std::optional<Columns> columns_of_header(std::span<const std::string> row) {
  constexpr std::array<std::string_view, 13> kFile{
      "path",       "file",       "filename", "file_name", "filepath", "file_path", "image",
      "image_path", "image_name", "img",      "img_path",  "image_id", "id"};
  constexpr std::array<std::string_view, 6> kLabel{"label",      "class",  "class_name",
                                                   "label_name", "target", "category"};
  constexpr std::array<std::string_view, 2> kLabels{"labels", "classes"};
  constexpr std::array<std::string_view, 4> kSplit{"split", "set", "subset", "partition"};
  constexpr std::array<std::string_view, 2> kGroup{"group", "group_id"};
  std::vector<std::string> names;
  for (const std::string& field : row) names.push_back(lower(trimmed(field)));
  const auto file = find_column(names, kFile);
  if (!file) return std::nullopt;
  Columns columns;
  columns.file = *file;
  columns.label = find_column(names, kLabel);
  if (!columns.label) {
    columns.label = find_column(names, kLabels);
    columns.several = columns.label.has_value();
  }
  columns.split = find_column(names, kSplit);
  columns.group = find_column(names, kGroup);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i != columns.file && i != columns.label && i != columns.split && i != columns.group) {
      columns.unused.emplace_back(trimmed(row[i]));
    }
  }
  return columns;
}

Columns columns_in_order(std::size_t count) {
  Columns columns;
  if (count > 1) columns.label = 1;
  if (count > 2) columns.split = 2;
  if (count > 3) columns.group = 3;
  for (std::size_t i = 4; i < count; ++i) columns.unused.push_back(std::to_string(i + 1));
  return columns;
}

std::vector<std::string> labels_in(std::string_view field, char delimiter) {
  std::vector<std::string> labels;
  while (!field.empty()) {
    const std::size_t end =
        std::min(field.find_first_of(delimiter == ';' ? "|" : "|;"), field.size());
    const std::string_view label = trimmed(field.substr(0, end));
    if (!label.empty()) labels.emplace_back(label);
    field.remove_prefix(std::min(end + 1, field.size()));
  }
  return labels;
}

char delimiter_of(const fs::path& path) {
  if (lower(path.extension().string()) == ".tsv") return '\t';
  const std::string text = beginning_of_list(path);
  const std::string_view line = std::string_view(text).substr(0, text.find('\n'));
  char best = ',';
  for (const char c : {';', '\t'}) {
    if (std::count(line.begin(), line.end(), c) > std::count(line.begin(), line.end(), best))
      best = c;
  }
  return best;
}

// Reads the rows of one table.
class Table {
 public:
  Table(fs::path path, const OpenOptions& options)
      : path_(std::move(path)),
        delimiter_(delimiter_of(path_)),
        split_of_all_(split_in_stem(path_.stem().string()).value_or(Split::kNone)),
        files_(path_, options) {}

  std::unique_ptr<Source> read() {
    CsvReader reader(
        delimiter_, path_.string(),
        [this](std::span<const std::string> row, std::uint64_t line) { take(row, line); });
    for_each_text(InputFile(path_), [&](std::string_view text) { reader.feed(text); });
    reader.finish();
    return files_.finish("csv", notes());
  }

 private:
  void take(std::span<const std::string> row, std::uint64_t line) {
    if (!columns_) {
      columns_ = columns_of_header(row);
      if (columns_) return;
      if (!is_image_name(trimmed(row[0]))) {
        throw UsageError(
            path_.string() +
            " has no column of files (path, file, filename, image) in its first line, and that "
            "line does not begin with the name of an image; add a line that names the columns");
      }
      columns_ = columns_in_order(row.size());
    }
    const auto field = [&](std::optional<std::size_t> at) {
      return at && *at < row.size() ? trimmed(row[*at]) : std::string_view();
    };
    ListedFile file;
    file.path = field(columns_->file);
    if (file.path.empty()) fail(line, "has no file name");
    if (columns_->several) {
      file.labels = labels_in(field(columns_->label), delimiter_);
    } else if (columns_->label) {
      file.labels.emplace_back(field(columns_->label));
    }
    file.split = split_of_all_;
    if (columns_->split) {
      const std::string_view name = field(columns_->split);
      const auto split = name.empty() ? Split::kNone : parse_split(name);
      if (!split)
        fail(line, "has the split '" + std::string(name.substr(0, 60)) +
                       "', which is not train, val or test");
      file.split = *split;
    }
    file.group = field(columns_->group);
    files_.add(std::move(file));
  }

  std::string notes() const {
    if (!columns_ || columns_->unused.empty()) return "";
    std::string text =
        columns_->unused.size() == 1 ? "; column not used: " : "; columns not used: ";
    for (std::size_t i = 0; i < columns_->unused.size(); ++i) {
      if (i == 10) return text + " and " + std::to_string(columns_->unused.size() - i) + " more";
      text += (i == 0 ? "'" : ", '") + columns_->unused[i].substr(0, 60) + "'";
    }
    return text;
  }

  [[noreturn]] void fail(std::uint64_t line, const std::string& problem) const {
    throw UsageError(path_.string() + ": line " + std::to_string(line) + " " + problem +
                     "; correct it");
  }

  fs::path path_;
  char delimiter_;
  Split split_of_all_;
  ListedFiles files_;
  std::optional<Columns> columns_;
};

}  // namespace

bool csv_found_at(const fs::path& path) {
  const std::string ending = lower(path.extension().string());
  return (ending == ".csv" || ending == ".tsv") && file_at(path);
}

std::unique_ptr<Source> open_csv(const fs::path& path, const OpenOptions& options) {
  if (!file_at(path)) {
    throw UsageError(path.string() + " is not a file; a table must be one");
  }
  return Table(path, options).read();
}

}  // namespace winnow::datasets
