#include "datasets/idx.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "common/counted.h"
#include "common/error.h"
#include "common/file.h"
#include "datasets/look.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

constexpr std::uint32_t kImagesMagic = 0x00000803;  // unsigned bytes, 3 dimensions
constexpr std::uint32_t kLabelsMagic = 0x00000801;  // unsigned bytes, 1 dimension

// The parts of a name: "train-images-idx3-ubyte.gz" is {"train", '-', true}.
struct ImagesName {
  std::string prefix;
  char separator;
  bool compressed;
};

std::optional<ImagesName> parse_images_name(std::string name) {
  constexpr std::string_view kGz = ".gz";
  const bool compressed = name.ends_with(kGz);
  if (compressed) name.resize(name.size() - kGz.size());
  for (const char separator : {'-', '.'}) {
    const std::string end = std::string("images") + separator + "idx3-ubyte";
    if (!name.ends_with(end)) continue;
    name.resize(name.size() - end.size());
    if (!name.empty() && name.back() != '-') return std::nullopt;
    if (!name.empty()) name.pop_back();
    return ImagesName{name, separator, compressed};
  }
  return std::nullopt;
}

std::optional<fs::path> find_labels(const fs::path& folder, const ImagesName& images) {
  const std::string dash = images.prefix.empty() ? "" : "-";
  for (const char separator : {images.separator, images.separator == '-' ? '.' : '-'}) {
    const std::string name = images.prefix + dash + "labels" + separator + "idx1-ubyte";
    for (const char* end : {"", ".gz"}) {
      fs::path path = folder / (name + end);
      if (file_at(path)) return path;
    }
  }
  return std::nullopt;
}

Split split_of_idx(const std::string& prefix) {
  const std::string last = prefix.substr(prefix.find_last_of("-_") + 1);
  if (last == "t10k") return Split::kTest;
  return parse_split(last).value_or(Split::kNone);
}

struct CloseGz {
  void operator()(gzFile file) const noexcept { gzclose(file); }
};
using GzFile = std::unique_ptr<gzFile_s, CloseGz>;  // zlib also reads plain files

class IdxReader {
 public:
  explicit IdxReader(fs::path path) : path_(std::move(path)), file_(gzopen(path_.c_str(), "rb")) {
    if (!file_) throw_errno("cannot open " + path_.string());
    gzbuffer(file_.get(), 1 << 18);
  }

  std::uint32_t big_endian() {
    std::array<std::uint8_t, 4> raw{};
    read_exactly(raw.data(), raw.size());
    return std::uint32_t{raw[0]} << 24 | std::uint32_t{raw[1]} << 16 | std::uint32_t{raw[2]} << 8 |
           raw[3];
  }

  void expect_magic(std::uint32_t want, const char* what) {
    if (big_endian() != want) {
      throw UsageError(path_.string() + " is not an IDX file of " + what +
                       ": its first four bytes are wrong");
    }
  }

  // The remaining `count` bytes, in pieces: memory grows with the actual data, not with what the
  // header promises.
  void rest(std::uint64_t count, const std::function<void(BytesView)>& take) {
    constexpr std::uint64_t kPiece = 1 << 18;
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(std::min(kPiece, count)));
    for (; count > 0; count -= bytes.size()) {
      bytes.resize(static_cast<std::size_t>(std::min(kPiece, count)));
      read_exactly(bytes.data(), bytes.size());
      take(as_bytes(bytes));
    }
    std::uint8_t more = 0;
    if (read_some(&more, 1) != 0) fail("is longer than its header says");
  }

  // The same as a file and an offset, for random access: the file itself, or a temporary one if it
  // is compressed.
  std::pair<InputFile, std::uint64_t> rest_as_file(std::uint64_t count) {
    if (gzdirect(file_.get()) == 0) {
      ScratchFile inflated;
      rest(count, [&](BytesView bytes) { inflated.append(bytes); });
      return {std::move(inflated).read(), 0};
    }
    InputFile file(path_);
    const auto begin = static_cast<std::uint64_t>(gztell(file_.get()));
    if (file.size() < begin || file.size() - begin < count) fail("is shorter than its header says");
    if (file.size() - begin > count) fail("is longer than its header says");
    return {std::move(file), begin};
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw UsageError(path_.string() + " " + problem + ": it is damaged; get it again");
  }

 private:
  std::size_t read_some(std::uint8_t* to, std::size_t count) {
    const int got = gzread(file_.get(), to, static_cast<unsigned>(count));
    int code = Z_OK;
    const char* message = gzerror(file_.get(), &code);
    if (code == Z_BUF_ERROR) fail("is cut short");
    if (code == Z_ERRNO) throw_errno("cannot read " + path_.string());
    if (got < 0 || code != Z_OK) fail(std::string("cannot be inflated (") + message + ")");
    return static_cast<std::size_t>(got);
  }

  void read_exactly(std::uint8_t* to, std::size_t count) {
    if (read_some(to, count) != count) fail("is shorter than its header says");
  }

  fs::path path_;
  GzFile file_;
};

struct Pair {
  Split split = Split::kNone;
  fs::path images;
  std::optional<fs::path> labels;
};

struct Pixels {
  std::uint32_t count;
  int height_px;
  int width_px;
  InputFile file;       // has count * height_px * width_px bytes
  std::uint64_t begin;  // from this offset on

  std::uint64_t image_bytes() const noexcept {
    return static_cast<std::uint64_t>(height_px) * static_cast<std::uint64_t>(width_px);
  }
};

Pixels open_images(const fs::path& path) {
  IdxReader reader(path);
  reader.expect_magic(kImagesMagic, "images");
  const std::uint32_t count = reader.big_endian();
  const std::uint32_t height = reader.big_endian();
  const std::uint32_t width = reader.big_endian();
  constexpr std::uint32_t kMaxSide = 1 << 14;
  if (height == 0 || width == 0 || height > kMaxSide || width > kMaxSide) {
    reader.fail("has an impossible image size of " + std::to_string(height) + " x " +
                std::to_string(width) + " pixels");
  }
  auto [file, begin] = reader.rest_as_file(std::uint64_t{count} * height * width);
  return {count, static_cast<int>(height), static_cast<int>(width), std::move(file), begin};
}

std::vector<std::uint8_t> read_labels(const fs::path& path) {
  IdxReader reader(path);
  reader.expect_magic(kLabelsMagic, "labels");
  std::vector<std::uint8_t> labels;
  reader.rest(reader.big_endian(), [&](BytesView bytes) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    labels.insert(labels.end(), data, data + bytes.size());
  });
  return labels;
}

std::vector<Pair> find_pairs(const fs::path& path) {
  const bool is_folder = folder_at(path);
  const fs::path folder = is_folder ? path : path.parent_path();
  // By prefix. If a file exists twice, the plain one, whose name sorts first, is taken.
  std::map<std::string, Pair> by_prefix;
  const auto add = [&](const fs::path& file) {
    const auto name = parse_images_name(file.filename().string());
    if (!name) return;
    Pair& pair = by_prefix[name->prefix];
    if (!pair.images.empty() && pair.images.filename() < file.filename()) return;
    pair = {split_of_idx(name->prefix), file, find_labels(folder, *name)};
  };
  if (is_folder) {
    for_each_in(folder, [&](const fs::directory_entry& entry) {
      if (file_at(entry.path())) add(entry.path());
      return true;
    });
  } else {
    add(path);
  }
  std::vector<Pair> pairs;
  for (auto& [prefix, pair] : by_prefix) pairs.push_back(std::move(pair));
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.split < b.split; });
  return pairs;
}

void check_pairs(const fs::path& path, const std::vector<Pair>& pairs, LabelsFrom labels) {
  if (pairs.empty()) {
    throw UsageError(path.string() + " holds no images file of the IDX format; such names end " +
                     "in images-idx3-ubyte or images-idx3-ubyte.gz");
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (i > 0 && (pairs[i].split == pairs[i - 1].split || pairs[0].split == Split::kNone)) {
      throw UsageError(path.string() + " holds several data sets (" +
                       pairs[i - 1].images.filename().string() + " and " +
                       pairs[i].images.filename().string() + "); name one images file instead");
    }
    if (!pairs[i].labels && labels != LabelsFrom::kNone) {
      throw UsageError(pairs[i].images.string() + " has no labels file next to it; put its " +
                       "labels-idx1-ubyte file there, or read it as unlabelled (--labels none)");
    }
  }
}

std::string entry_name(Split split, std::uint32_t index, std::uint32_t count) {
  const std::string digits = std::to_string(index);
  const std::size_t width = std::max<std::size_t>(5, std::to_string(count - 1).size());
  const std::string folder = split == Split::kNone ? "" : std::string(split_name(split)) + "/";
  return folder + std::string(width - digits.size(), '0') + digits;
}

class IdxSource final : public Source {
 public:
  IdxSource(const std::vector<Pair>& pairs, LabelsFrom labels) {
    int classes = 0;
    for (const Pair& pair : pairs) {
      Pixels pixels = open_images(pair.images);
      std::vector<std::uint8_t> targets;
      if (labels != LabelsFrom::kNone) {
        targets = read_labels(*pair.labels);
        if (targets.size() != pixels.count) {
          throw UsageError(pair.images.string() + " has " + std::to_string(pixels.count) +
                           " images but " + pair.labels->string() + " has " +
                           std::to_string(targets.size()) +
                           " labels: these files do not belong together; get both again");
        }
      }
      entries_.reserve(entries_.size() + pixels.count);
      Entry entry;
      entry.split = pair.split;
      entry.input_bytes = pixels.image_bytes();
      for (std::uint32_t i = 0; i < pixels.count; ++i) {
        entry.name = entry_name(pair.split, i, pixels.count);
        if (!targets.empty()) entry.labels = {targets[i]};
        entries_.push_back(entry);
      }
      for (const std::uint8_t target : targets) classes = std::max(classes, target + 1);
      parts_.push_back({entries_.size(), std::move(pixels)});
    }
    for (int c = 0; c < classes; ++c) class_names_.push_back(std::to_string(c));
  }

  std::string_view format() const noexcept override { return "idx"; }
  const Listing& entries() const noexcept override { return entries_; }
  std::span<const std::string> class_names() const noexcept override { return class_names_; }

  std::string description() const override {
    std::string text = "IDX: " + count_of(entries_.size(), "image");
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Pixels& pixels = parts_[i].pixels;
      const std::size_t at = parts_[i].end - pixels.count;
      text += i == 0 ? " (" : ", ";
      if (at < entries_.size() && entries_.split(at) != Split::kNone) {
        text += std::string(split_name(entries_.split(at))) + " ";
      }
      text += std::to_string(pixels.count) + " of " + std::to_string(pixels.width_px) + "x" +
              std::to_string(pixels.height_px);
    }
    return text + "), " +
           (class_names_.empty() ? "unlabelled"
                                 : count_of(class_names_.size(), "class", "classes"));
  }

  Expected<Payload, ReadError> read(std::size_t position) const override {
    const auto part =
        std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return position < p.end; });
    const Pixels& pixels = part->pixels;
    Image image(pixels.height_px, pixels.width_px, 1);
    const std::size_t index = position - (part->end - pixels.count);
    try {
      pixels.file.read_at(pixels.begin + index * pixels.image_bytes(),
                          std::as_writable_bytes(std::span(image.pixels)));
    } catch (const SystemError& error) {
      return ReadError{ReadError::Kind::kIo, error.what()};
    }
    return Payload(std::move(image));
  }

 private:
  struct Part {
    std::size_t end;  // end of the entries of this part
    Pixels pixels;
  };

  std::vector<Part> parts_;
  Listing entries_;
  std::vector<std::string> class_names_;
};

}  // namespace

bool idx_found_at(const fs::path& path) {
  if (file_at(path)) {
    return parse_images_name(path.filename().string()).has_value();
  }
  bool found = false;
  for_each_in(path, [&](const fs::directory_entry& entry) {
    found = parse_images_name(entry.path().filename().string()).has_value();
    return !found;
  });
  return found;
}

std::unique_ptr<Source> open_idx(const fs::path& path, const OpenOptions& options) {
  const std::vector<Pair> pairs = find_pairs(path);
  check_pairs(path, pairs, options.labels);
  return std::make_unique<IdxSource>(pairs, options.labels);
}

}  // namespace winnow::datasets
