#include "datasets/svhn.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "datasets/layout.h"
#include "datasets/look.h"
#include "datasets/mat_file.h"
#include "datasets/records.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

constexpr int kSvhnSidePx = 32;
constexpr std::size_t kSvhnPlane = kSvhnSidePx * kSvhnSidePx;
constexpr std::int32_t kMostImages = 1 << 24;  // a forged size must not fill the disk
constexpr std::array<std::string_view, 3> kFiles{"extra_32x32.mat", "test_32x32.mat",
                                                 "train_32x32.mat"};

bool begins_as_mat(const fs::path& path) {
  if (!file_at(path)) return false;
  std::array<char, 6> text{};
  std::ifstream(path, std::ios::binary).read(text.data(), text.size());
  return std::string_view(text.data(), text.size()) == "MATLAB";
}

Split split_of_svhn(const std::string& name) {
  if (name.starts_with("extra")) return Split::kTrain;
  return split_in_stem(name).value_or(Split::kNone);
}

std::vector<Part> find_files(const fs::path& path) {
  std::vector<Part> parts;
  const auto add = [&](const fs::path& file) {
    const std::string name = file.stem().string();
    parts.push_back({file, name, split_of_svhn(name)});
  };
  if (file_at(path)) {
    add(path);
    return parts;
  }
  for (const std::string_view name : kFiles) {
    if (file_at(path / name)) add(path / name);
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.split < b.split; });
  return parts;
}

struct Digits {
  std::size_t count;
  MatArray::Place pixels;
  std::vector<std::uint8_t> labels;
};

std::optional<std::uint8_t> digit_of(double y) {
  for (int digit = 0; digit <= 10; ++digit) {
    if (y == digit) return static_cast<std::uint8_t>(digit % 10);
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(const fs::path& path, bool labelled) : file_(path), labelled_(labelled) {}

  Digits read() {
    for_each_array(file_, [&](const MatArray& array) {
      if (array.name == "X") read_pixels(array);
      if (array.name == "y" && labelled_) read_labels(array);
    });
    if (!pixels_) refuse("has no X, the pixels");
    if (labelled_ && !has_labels_) refuse("has no y, the labels (--labels none reads it without)");
    if (labelled_ && labels_.size() != count_) {
      refuse("has " + std::to_string(count_) + " images in X and " +
             std::to_string(labels_.size()) + " labels in y");
    }
    return {count_, *std::move(pixels_), std::move(labels_)};
  }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw UsageError(file_.path().string() + " " + problem +
                     ": it is damaged, or not a file of SVHN's cropped digits; get it again");
  }

  void read_pixels(const MatArray& array) {
    auto shape = array.dimensions;
    if (shape.size() == 3) shape.push_back(1);  // MATLAB omits a trailing dimension of 1
    if (pixels_ || array.kind != MatArray::Class::kBytes || shape.size() != 4 ||
        shape[0] != kSvhnSidePx || shape[1] != kSvhnSidePx || shape[2] != 3 ||
        shape[3] > kMostImages) {
      refuse("has an X that is not 32 x 32 x 3 x N bytes");
    }
    count_ = static_cast<std::size_t>(shape[3]);
    pixels_.emplace(array.locate());
  }

  void read_labels(const MatArray& array) {
    if (has_labels_ || array.kind == MatArray::Class::kOther || array.dimensions.size() != 2 ||
        (array.dimensions[0] != 1 && array.dimensions[1] != 1) ||
        array.values > static_cast<std::uint64_t>(kMostImages)) {
      refuse("has a y that is not a list of numbers");
    }
    has_labels_ = true;
    array.each([&](double y) {
      const auto digit = digit_of(y);
      if (!digit)
        refuse("gives its image " + std::to_string(labels_.size()) +
               " a label in y that is not a digit");
      labels_.push_back(*digit);
    });
  }

  InputFile file_;
  bool labelled_;
  std::size_t count_ = 0;
  std::optional<MatArray::Place> pixels_;
  bool has_labels_ = false;
  std::vector<std::uint8_t> labels_;
};

class SvhnSource final : public ListedSource {
 public:
  SvhnSource(const std::vector<Part>& parts, LabelsFrom labels) : ListedSource("svhn") {
    const bool labelled = labels != LabelsFrom::kNone;
    for (int digit = 0; labelled && digit < 10; ++digit) {
      class_names_.push_back(std::to_string(digit));
    }
    for (const Part& part : parts) add(part, labelled);
    description_ = "SVHN: " + counted(entries_, class_names_.size());
  }

  Expected<Payload, ReadError> read(std::size_t position) const override {
    const File& file = *std::find_if(files_.begin(), files_.end(),
                                     [&](const File& f) { return position < f.end; });
    const std::size_t index = position - (file.end - file.count);
    std::array<std::uint8_t, 3 * kSvhnPlane> columns{};  // planes, in column order
    try {
      file.pixels.file.read_at(file.pixels.begin + index * columns.size(),
                               std::as_writable_bytes(std::span(columns)));
    } catch (const SystemError& error) {
      return ReadError{ReadError::Kind::kIo, error.what()};
    }
    Image image(kSvhnSidePx, kSvhnSidePx, 3);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::size_t x = i % kSvhnPlane / kSvhnSidePx;
      const std::size_t y = i % kSvhnSidePx;
      image.pixels[3 * (kSvhnSidePx * y + x) + i / kSvhnPlane] = columns[i];
    }
    return Payload(std::move(image));
  }

 private:
  struct File {
    std::size_t end;  // end of the entries of this file
    std::size_t count;
    MatArray::Place pixels;
  };

  void add(const Part& part, bool labelled) {
    Digits digits = Reader(part.path, labelled).read();
    entries_.reserve(entries_.size() + digits.count);
    Entry entry;
    entry.split = part.split;
    entry.input_bytes = 3 * kSvhnPlane;
    for (std::size_t i = 0; i < digits.count; ++i) {
      entry.name = numbered_name(part.name, i, digits.count);
      if (labelled) entry.labels = {digits.labels[i]};
      entries_.push_back(entry);
    }
    files_.push_back({entries_.size(), digits.count, std::move(digits.pixels)});
  }

  std::vector<File> files_;
};

}  // namespace

bool svhn_found_at(const fs::path& path) {
  if (path.extension() == ".mat" && begins_as_mat(path)) return true;
  return std::any_of(kFiles.begin(), kFiles.end(),
                     [&](std::string_view name) { return begins_as_mat(path / name); });
}

std::unique_ptr<Source> open_svhn(const fs::path& path, const OpenOptions& options) {
  const std::vector<Part> parts = find_files(path);
  if (parts.empty()) {
    throw UsageError(path.string() + " holds no train_32x32.mat, test_32x32.mat or " +
                     "extra_32x32.mat of SVHN");
  }
  return std::make_unique<SvhnSource>(parts, options.labels);
}

}  // namespace winnow::datasets
