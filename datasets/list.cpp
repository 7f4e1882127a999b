#include "datasets/list.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "common/error.h"
#include "common/list_text.h"
#include "datasets/layout.h"
#include "datasets/listed_files.h"
#include "datasets/look.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxLineBytes = 1 << 20;

template <class T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The label in a text; "3.000000" is "3". nullopt unless it is a class or -1.
std::optional<std::string> label_in(std::string_view text) {
  const auto value = number_in<double>(text);
  if (!value || !(*value >= -1 && *value < 1e6) || *value != std::floor(*value))
    return std::nullopt;
  return std::to_string(static_cast<long>(*value));
}

// The fields of a line in MXNet's form; empty if it is none.
std::vector<std::string_view> mxnet_fields(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t end = std::min(line.find('\t'), line.size());
    fields.push_back(trimmed(line.substr(0, end)));
    if (end == line.size()) break;
    line.remove_prefix(end + 1);
  }
  if (fields.size() < 3 || !number_in<std::uint64_t>(fields.front())) return {};
  return fields;
}

ListedFile caffe_line(std::string_view line) {
  const std::size_t blank = line.find_last_of(" \t");
  ListedFile file;
  file.path = line;
  if (blank == line.npos) return file;
  const std::string_view label = line.substr(blank + 1);
  if (!number_in<int>(label)) return file;
  file.path = trimmed(line.substr(0, blank));
  file.labels.emplace_back(label);
  return file;
}

class List {
 public:
  List(fs::path path, const OpenOptions& options)
      : path_(std::move(path)),
        with_labels_(options.labels != LabelsFrom::kNone),
        split_(split_in_stem(path_.stem().string()).value_or(Split::kNone)),
        files_(path_, options) {}

  std::unique_ptr<Source> read() {
    for_each_text(InputFile(path_), [this](std::string_view text) { feed(text); });
    end_line();
    return files_.finish("list", "");
  }

 private:
  void feed(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      line_ += text.substr(0, end);
      if (line_.size() > kMaxLineBytes) fail("has more than 1 MiB");
      if (end == text.size()) return;
      end_line();
      text.remove_prefix(end + 1);
    }
  }

  void end_line() {
    const std::string_view line = trimmed(line_);
    if (!line.empty()) take(line);
    line_.clear();
    ++number_;
  }

  void take(std::string_view line) {
    const std::vector<std::string_view> fields = mxnet_fields(line);
    ListedFile file;
    if (fields.empty()) {
      file = caffe_line(line);
    } else {
      file.path = fields.back();
      for (std::size_t i = 1; with_labels_ && i + 1 < fields.size(); ++i) {
        const auto label = label_in(fields[i]);
        if (!label)
          fail("has the label '" + std::string(fields[i].substr(0, 60)) +
               "', which is not a class");
        file.labels.push_back(*label);
      }
    }
    if (file.path.empty()) fail("has no file name");
    file.split = split_;
    files_.add(std::move(file));
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw UsageError(path_.string() + ": line " + std::to_string(number_) + " " + problem +
                     "; correct it");
  }

  fs::path path_;
  bool with_labels_;
  Split split_;
  ListedFiles files_;
  std::string line_;  // the current line, as far as it was read
  std::uint64_t number_ = 1;
};

}  // namespace

bool list_found_at(const fs::path& path) {
  const fs::path ending = path.extension();
  if ((ending != ".txt" && ending != ".lst") || !file_at(path)) return false;
  const std::string text = beginning_of_list(path);
  const std::string_view line = trimmed(std::string_view(text).substr(0, text.find('\n')));
  const std::vector<std::string_view> fields = mxnet_fields(line);
  return is_image_name(fields.empty() ? caffe_line(line).path : fields.back());
}

std::unique_ptr<Source> open_list(const fs::path& path, const OpenOptions& options) {
  if (!file_at(path)) {
    throw UsageError(path.string() + " is not a file; a list must be one");
  }
  return List(path, options).read();
}

}  // namespace winnow::datasets
