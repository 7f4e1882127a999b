#include "datasets/cifar.h"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include "common/error.h"
#include "common/file.h"
#include "common/list_text.h"
#include "datasets/look.h"
#include "datasets/records.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

constexpr int kSidePx = 32;
constexpr std::size_t kPlane = kSidePx * kSidePx;

struct Kind {
  std::string_view title;
  std::size_t label_bytes;  // the last one is the class
  int classes;
  const char* names_file;

  std::size_t record_bytes() const noexcept { return label_bytes + 3 * kPlane; }
};
constexpr Kind kCifar10{"CIFAR-10", 1, 10, "batches.meta.txt"};
constexpr Kind kCifar100{"CIFAR-100", 2, 100, "fine_label_names.txt"};

const Kind* kind_by_name(const std::string& name) {
  if (name == "test_batch.bin") return &kCifar10;
  if (name.size() == 16 && name.starts_with("data_batch_") && name.ends_with(".bin") &&
      name[11] >= '1' && name[11] <= '5') {
    return &kCifar10;
  }
  if (name == "train.bin" || name == "test.bin") return &kCifar100;
  return nullptr;
}

const Kind* kind_of(const fs::path& file) {
  const Kind* kind = kind_by_name(file.filename().string());
  return kind != nullptr && file_at(file) ? kind : nullptr;
}

// CIFAR-100's file names are common, so the size must fit, too.
bool looks_right(const fs::path& file) {
  const Kind* kind = kind_of(file);
  if (kind == &kCifar10) return true;
  std::error_code error;
  const std::uintmax_t size = kind == nullptr ? 0 : fs::file_size(file, error);
  return !error && size > 0 && size % kCifar100.record_bytes() == 0;
}

Split split_of(const std::string& name) {
  return name.starts_with("test") ? Split::kTest : Split::kTrain;
}

std::vector<std::string> numbers_to(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

std::vector<std::string> class_names_in(const fs::path& folder, const Kind& kind) {
  const fs::path path = folder / kind.names_file;
  if (!file_at(path)) return numbers_to(kind.classes);
  if (fs::file_size(path) > 64 << 10) {
    throw UsageError(path.string() + " is too large to be a list of classes; remove or replace it");
  }
  std::vector<std::string> names = read_list_lines(path);
  std::erase(names, "");
  const std::set<std::string> distinct(names.begin(), names.end());
  const bool safe = std::all_of(names.begin(), names.end(), is_safe_name);
  if (names.size() != static_cast<std::size_t>(kind.classes) || distinct.size() != names.size() ||
      !safe) {
    throw UsageError(path.string() + " does not name the " + std::to_string(kind.classes) +
                     " classes of " + std::string(kind.title) + ", one on each line (it has " +
                     std::to_string(distinct.size()) + "); get it again or remove it");
  }
  return names;
}

struct Batch {
  InputFile file;
  std::size_t end;  // end of the entries of this batch
  std::size_t count;
};

class CifarSource final : public ListedSource {
 public:
  CifarSource(const fs::path& folder, const Kind& kind, const std::vector<fs::path>& files,
              LabelsFrom labels)
      : ListedSource("cifar"), kind_(kind) {
    const bool labelled = labels != LabelsFrom::kNone;
    if (labelled) class_names_ = class_names_in(folder, kind);
    for (const fs::path& file : files) add(file, labelled);
    description_ = std::string(kind.title) + ": " + counted(entries_, class_names_.size());
  }

  Expected<Payload, ReadError> read(std::size_t position) const override {
    const auto batch = std::find_if(batches_.begin(), batches_.end(),
                                    [&](const Batch& b) { return position < b.end; });
    const std::size_t index = position - (batch->end - batch->count);
    std::vector<std::uint8_t> planes(3 * kPlane);
    try {
      batch->file.read_at(index * kind_.record_bytes() + kind_.label_bytes,
                          std::as_writable_bytes(std::span(planes)));
    } catch (const SystemError& error) {
      return ReadError{ReadError::Kind::kIo, error.what()};
    }
    Image image(kSidePx, kSidePx, 3);
    for (std::size_t i = 0; i < planes.size(); ++i) {
      image.pixels[3 * (i % kPlane) + i / kPlane] = planes[i];
    }
    return Payload(std::move(image));
  }

 private:
  void add(const fs::path& path, bool labelled) {
    InputFile file(path);
    const std::size_t record = kind_.record_bytes();
    if (file.size() % record != 0) {
      throw UsageError(path.string() + " has " + std::to_string(file.size()) +
                       " bytes, which is not a whole number of " + std::string(kind_.title) +
                       "'s records of " + std::to_string(record) +
                       " bytes: it is cut short or another kind of file; get it again");
    }
    const std::size_t count = file.size() / record;
    const std::vector<std::uint8_t> targets = labelled ? labels_of(file) : decltype(targets){};
    entries_.reserve(entries_.size() + count);
    Entry entry;
    entry.split = split_of(path.filename().string());
    entry.input_bytes = 3 * kPlane;
    for (std::size_t i = 0; i < count; ++i) {
      entry.name = numbered_name(path.stem().string(), i, count);
      if (labelled) entry.labels = {targets[i]};
      entries_.push_back(entry);
    }
    batches_.push_back({std::move(file), entries_.size(), count});
  }

  std::vector<std::uint8_t> labels_of(const InputFile& file) const {
    const std::size_t record = kind_.record_bytes();
    std::vector<std::uint8_t> labels;
    std::size_t next = kind_.label_bytes - 1;  // offset of the next label
    std::size_t begin = 0;
    for_each_piece(file, 0, file.size(), [&](BytesView bytes) {
      for (; next < begin + bytes.size(); next += record) {
        labels.push_back(static_cast<std::uint8_t>(bytes[next - begin]));
        if (labels.back() >= kind_.classes) refuse_label(file.path(), labels);
      }
      begin += bytes.size();
    });
    return labels;
  }

  [[noreturn]] void refuse_label(const fs::path& path,
                                 const std::vector<std::uint8_t>& labels) const {
    throw UsageError(path.string() + " has class " + std::to_string(labels.back()) +
                     " for its image " + std::to_string(labels.size() - 1) + ", but " +
                     std::string(kind_.title) + " has " + std::to_string(kind_.classes) +
                     " classes: it is damaged; get it again");
  }

  const Kind& kind_;
  std::vector<Batch> batches_;
};

}  // namespace

bool cifar_found_at(const fs::path& path) {
  if (looks_right(path)) return true;
  return any_name_in(path, [&](const std::string& name) { return looks_right(path / name); });
}

std::unique_ptr<Source> open_cifar(const fs::path& path, const OpenOptions& options) {
  const bool is_folder = folder_at(path);
  const fs::path folder = is_folder ? path : path.parent_path();
  std::vector<fs::path> files;
  for (const std::string& name :
       is_folder ? names_in(path) : std::vector{path.filename().string()}) {
    const Kind* kind = kind_of(folder / name);
    if (kind == nullptr) continue;
    if (!files.empty() && kind != kind_of(files.front())) {
      throw UsageError(path.string() + " holds files of CIFAR-10 and of CIFAR-100 (" +
                       files.front().filename().string() + " and " + name + "); name one file");
    }
    files.push_back(folder / name);
  }
  if (files.empty()) {
    throw UsageError(path.string() +
                     " holds no data_batch_N.bin or test_batch.bin of CIFAR-10 and " +
                     "no train.bin or test.bin of CIFAR-100");
  }
  std::stable_sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return split_of(a.filename().string()) < split_of(b.filename().string());
  });
  return std::make_unique<CifarSource>(folder, *kind_of(files.front()), files, options.labels);
}

}  // namespace winnow::datasets
