#include "datasets/records.h"

#include <algorithm>
#include <array>
#include <set>

#include "common/counted.h"
#include "common/error.h"
#include "datasets/layout.h"
#include "datasets/look.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

void check_parts(const fs::path& path, const std::vector<Part>& parts) {
  const auto none = [](const Part& part) { return part.split == Split::kNone; };
  const auto silent = std::find_if(parts.begin(), parts.end(), none);
  const auto clear = std::find_if_not(parts.begin(), parts.end(), none);
  if (silent != parts.end() && clear != parts.end()) {
    throw UsageError(path.string() + " holds " + clear->path.filename().string() +
                     ", whose name tells its split, and " + silent->path.filename().string() +
                     ", whose name does not; name only one of these files, or rename them");
  }
  std::set<std::string> names;
  for (const Part& part : parts) {
    if (!names.insert(part.name).second) {
      throw UsageError(path.string() + " contains two files called " + part.name +
                       " with different extensions; name only one of them");
    }
  }
}

}  // namespace

std::string numbered_name(std::string_view folder, std::uint64_t index, std::uint64_t count) {
  const std::string digits = std::to_string(index);
  const std::size_t width = std::max<std::size_t>(5, std::to_string(count - 1).size());
  std::string name(folder);
  if (!name.empty()) name += '/';
  return name.append(width - std::min(width, digits.size()), '0') + digits;
}

bool is_safe_name(std::string_view name) noexcept {
  if (name.size() > 1024 || std::any_of(name.begin(), name.end(), is_control)) return false;
  for (;;) {
    const std::size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

std::string shown(std::string_view text) {
  std::string out(text.substr(0, 60));
  std::replace_if(out.begin(), out.end(), is_control, '?');
  return text.size() > 60 ? out + "..." : out;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for_each_in(folder, [&](const fs::directory_entry& entry) {
    names.push_back(entry.path().filename().string());
    return true;
  });
  std::sort(names.begin(), names.end());
  return names;
}

bool any_name_in(const fs::path& folder, const std::function<bool(const std::string&)>& is_such) {
  bool found = false;
  for_each_in(folder, [&](const fs::directory_entry& entry) {
    found = is_such(entry.path().filename().string());
    return !found;
  });
  return found;
}

std::vector<Part> find_parts(const fs::path& path, const std::function<bool(const fs::path&)>& fits,
                             const std::function<std::string(const std::string&)>& stem) {
  std::vector<Part> parts;
  const auto add = [&](const fs::path& file) {
    std::string name = stem(file.filename().string());
    const Split split = split_in_stem(name).value_or(Split::kNone);
    parts.push_back({file, std::move(name), split});
  };
  if (fits(path)) {
    add(path);
    return parts;
  }
  for (const std::string& name : names_in(path)) {
    if (fits(path / name)) add(path / name);
  }
  check_parts(path, parts);
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.split < b.split; });
  return parts;
}

void PartFiles::add(InputFile file, std::size_t end) {
  files_.add(std::move(file));
  ends_.push_back(end);
}

void PartFiles::use(std::size_t position, const std::function<void(const InputFile&)>& call) const {
  const auto end = std::upper_bound(ends_.begin(), ends_.end(), position);
  call(*files_.get(static_cast<std::size_t>(end - ends_.begin())));
}

void RowGatherer::add(Row row, const fs::path& file, std::uint64_t index) {
  if (!labelled_) row.labels.clear();
  std::vector<std::int64_t> sorted = row.labels;
  std::sort(sorted.begin(), sorted.end());
  if ((!sorted.empty() && sorted.front() < 0) ||
      std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw UsageError(
        file.string() + " gives its image " + std::to_string(index) +
        " labels that are not different class numbers from 0 up; read the data set as " +
        "unlabelled (--labels none)");
  }
  for (const std::int64_t label : sorted) add_class(label, sorted.size() == 1 ? row.text : "");
  names_.push_back(row.name);
  splits_.push_back(row.split);
  labels_.insert(labels_.end(), row.labels.begin(), row.labels.end());
  label_ends_.push_back(labels_.size());
  input_bytes_.push_back(row.input_bytes);
}

void RowGatherer::add_class(std::int64_t label, const std::string& text) {
  const auto [row, is_new] = classes_.try_emplace(label);
  if (is_new && text.size() <= 1024 && std::none_of(text.begin(), text.end(), is_control)) {
    row->second.text = text;
  }
  if (row->second.text != text) row->second.several = true;
}

std::vector<std::string> RowGatherer::name_classes() {
  std::map<std::string, int> uses;
  for (const auto& [label, row] : classes_) ++uses[row.text];
  std::vector<std::string> names;
  std::vector<std::string> numbers;
  std::set<std::string> distinct;
  for (auto& [label, row] : classes_) {
    row.index = static_cast<std::int32_t>(names.size());
    numbers.push_back(std::to_string(label));
    std::string name = row.several || row.text.empty() ? numbers.back() : row.text;
    if (name == row.text && uses[name] > 1) name += " (" + numbers.back() + ")";
    distinct.insert(name);
    names.push_back(std::move(name));
  }
  return distinct.size() == names.size() ? names : numbers;
}

std::pair<Listing, std::vector<std::string>> RowGatherer::finish() {
  RowGatherer rows = std::exchange(*this, RowGatherer(LabelsFrom::kNone));
  std::vector<std::string> class_names = rows.name_classes();
  Listing listing;
  listing.reserve(rows.names_.size());
  Entry entry;
  std::size_t label = 0;
  auto name = rows.names_.begin();
  for (std::size_t i = 0; i < rows.names_.size(); ++i, ++name) {
    entry.name = *name;
    entry.split = rows.splits_[i];
    entry.labels.clear();
    for (; label < rows.label_ends_[i]; ++label) {
      entry.labels.push_back(rows.classes_.at(rows.labels_[label]).index);
    }
    entry.input_bytes = rows.input_bytes_[i];
    listing.push_back(entry);
  }
  return {std::move(listing), std::move(class_names)};
}

std::string counted(const Listing& entries, std::size_t classes) {
  std::array<std::size_t, kSplitCount> splits{};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    ++splits[static_cast<std::size_t>(entries.split(i))];
  }
  std::string text;
  for (const Split split : {Split::kTrain, Split::kVal, Split::kTest}) {
    const std::size_t count = splits[static_cast<std::size_t>(split)];
    if (count == 0) continue;
    text +=
        (text.empty() ? " (" : ", ") + std::string(split_name(split)) + " " + std::to_string(count);
  }
  return count_of(entries.size(), "image") + text + (text.empty() ? ", " : "), ") +
         (classes == 0 ? "unlabelled" : count_of(classes, "class", "classes"));
}

}  // namespace winnow::datasets
