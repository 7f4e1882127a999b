#include "pipeline/export/writer.h"

#include <tbb/parallel_for.h>

#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/utf8.h"
#include "datasets/tar_file_writer.h"
#include "pipeline/decode/decode.h"
#include "pipeline/decode/encode.h"
#include "pipeline/export/names.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

std::string ending_of(BytesView encoded) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kEndings{
      {{"jpeg", ".jpg"},
       {"png", ".png"},
       {"bmp", ".bmp"},
       {"webp", ".webp"},
       {"tiff", ".tif"},
       {"pnm", ".ppm"}}};
  const std::string_view format = sniff(encoded);
  for (const auto& [name, ending] : kEndings) {
    if (name == format) return std::string(ending);
  }
  return ".jpg";  // readers detect the format by its bytes
}

std::uint64_t bytes_of(const ReadySample& sample) {
  return sample.same_file ? 0 : sample.file.bytes.size();
}

void make_files(std::span<const ReadySample> samples, const std::vector<fs::path>& paths,
                Link link) {
  tbb::parallel_for(std::size_t{0}, samples.size(), [&](std::size_t i) {
    const ReadySample& sample = samples[i];
    if (sample.same_file) {
      make_link(*sample.same_file, paths[i], link);
    } else {
      write_new_file(paths[i], sample.file.bytes);
    }
  });
}

class FolderWriter final : public SampleWriter {
 public:
  FolderWriter(fs::path root, FolderPlan plan, Link link)
      : root_(std::move(root)), plan_(std::move(plan)), link_(link) {}

  // Names are assigned in order; files are written in parallel.
  void put(std::span<const ReadySample> samples) override {
    std::vector<fs::path> paths;
    for (const ReadySample& sample : samples) {
      const std::string folder = folder_of(sample.record);
      if (!folder.empty() && made_.insert(folder).second) make_directories(root_ / folder);
      const bool pixels = sample.record.coding == Coding::kRaw;
      const std::string name = file_name(sample.name, sample.file.ending, pixels);
      paths.push_back(root_ / paths_.claim(folder, name, sample.record.id));
      count(bytes_of(sample));
    }
    make_files(samples, paths, link_);
  }

 private:
  std::string folder_of(const RecordView& record) const {
    std::string folder = plan_.split_folders ? std::string(split_name(record.split)) : "";
    if (record.labels.empty()) return folder;
    if (!folder.empty()) folder += '/';
    return folder + plan_.class_folders.at(static_cast<std::size_t>(record.labels.front()));
  }

  const fs::path root_;
  const FolderPlan plan_;
  const Link link_;
  UniquePaths paths_;
  std::unordered_set<std::string> made_;
};

// Writes the tree of each source, in a folder of its own if there are several.
class TreeWriter final : public SampleWriter {
 public:
  TreeWriter(fs::path root, const Manifest& manifest, Link link)
      : root_(std::move(root)), link_(link) {
    std::vector<std::string> names;
    for (const SourceInfo& source : manifest.sources) names.push_back(source.name);
    if (names.size() > 1) source_folders_ = folder_names(names);
  }

  void put(std::span<const ReadySample> samples) override {
    std::vector<fs::path> paths;
    for (const ReadySample& sample : samples) {
      const TreePath path = tree_path(sample.name);
      std::string folder = folder_of(sample.record.id);
      if (!folder.empty() && !path.folder.empty()) folder += '/';
      folder += path.folder;
      if (made_.insert(folder).second) make_folder(root_ / folder);
      paths.push_back(root_ / paths_.claim(folder, path.name, sample.record.id));
      count(bytes_of(sample));
    }
    make_files(samples, paths, link_);
  }

 private:
  // Not synced: there may be many, and everything is synced at the end.
  static void make_folder(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (!error) return;
    throw SystemError("cannot make the folder " + path.string() + ": " + error.message());
  }

  std::string folder_of(SampleId id) const {
    return source_folders_.empty() ? "" : source_folders_.at(source_of(id));
  }

  const fs::path root_;
  const Link link_;
  std::vector<std::string> source_folders_;
  UniquePaths paths_;
  std::unordered_set<std::string> made_;
};

// A tar file being written.
class Shard {
 public:
  explicit Shard(const fs::path& path)
      : file_(path), tar_([this](BytesView bytes) {
          file_.append(bytes);
          bytes_ += bytes.size();
        }) {}
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  void add(const std::string& name, BytesView bytes) {
    tar_.add(name, bytes);
    planned_ += datasets::TarFileWriter::member_bytes(bytes.size());
  }
  std::uint64_t planned_bytes() const noexcept { return planned_; }  // size of the members
  std::uint64_t finish() {
    tar_.finish();
    file_.finish();
    return bytes_;
  }

 private:
  DurableFile file_;
  std::uint64_t bytes_ = 0;
  std::uint64_t planned_ = 0;
  datasets::TarFileWriter tar_;
};

class WebDatasetWriter final : public SampleWriter {
 public:
  WebDatasetWriter(fs::path root, const Manifest& manifest, std::uint64_t shard_bytes)
      : root_(std::move(root)), manifest_(manifest), shard_bytes_(shard_bytes) {}

  void put(std::span<const ReadySample> samples) override {
    for (const ReadySample& sample : samples) put(sample.record, sample.file, sample.name);
  }

  void finish() override {
    for (Open& open : open_) close(open);
    if (manifest_.classes.empty()) return;
    std::string names;
    for (const std::string& name : manifest_.classes) names += line_of(name) + '\n';
    write_file_durably(root_ / "classnames.txt", names);
    count(names.size());
  }

 private:
  struct Open {
    std::unique_ptr<Shard> shard;
    unsigned next = 0;
  };

  void put(const RecordView& record, const ImageFile& image, const std::string& name) {
    const std::string key = key_of(record.id);
    const std::string json = json_of(record, name);
    const std::string cls =
        record.labels.size() == 1 ? std::to_string(record.labels.front()) : std::string();
    using Tar = datasets::TarFileWriter;
    const std::uint64_t bytes = Tar::member_bytes(image.bytes.size()) +
                                Tar::member_bytes(json.size()) +
                                (cls.empty() ? 0 : Tar::member_bytes(cls.size()));
    Shard& shard = shard_for(record.split, bytes);
    if (!cls.empty()) shard.add(key + ".cls", as_bytes(cls));
    shard.add(key + image.ending, image.bytes);
    shard.add(key + ".json", as_bytes(json));
  }

  static std::string key_of(SampleId id) {
    std::array<char, 24> text{};
    const int size =
        std::snprintf(text.data(), text.size(), "%012llu", static_cast<unsigned long long>(id));
    return {text.data(), static_cast<std::size_t>(size)};
  }

  // A class name as a single line.
  static std::string line_of(std::string name) {
    for (char& c : name) {
      if (c == '\n' || c == '\r') c = '_';
    }
    return name;
  }

  std::string json_of(const RecordView& record, const std::string& name) const {
    Json json{{"id", record.id}, {"name", to_utf8(name)}};
    if (record.labels.size() == 1) {
      json["label"] = record.labels.front();
      json["class"] = to_utf8(class_name(manifest_, record.labels.front()));
    } else if (!record.labels.empty()) {
      Json classes = Json::array();
      for (const std::int32_t label : record.labels) {
        classes.push_back(to_utf8(class_name(manifest_, label)));
      }
      json["label"] = std::vector(record.labels.begin(), record.labels.end());
      json["class"] = std::move(classes);
    }
    return json.dump();
  }

  Shard& shard_for(Split split, std::uint64_t bytes) {
    Open& open = open_[static_cast<std::size_t>(split)];
    if (open.shard && open.shard->planned_bytes() + bytes > shard_bytes_) close(open);
    if (!open.shard) {
      std::array<char, 16> number{};
      std::snprintf(number.data(), number.size(), "-%06u", open.next++);
      const std::string name = std::string(split_name(split)) + number.data() + ".tar";
      open.shard = std::make_unique<Shard>(root_ / name);
    }
    return *open.shard;
  }

  void close(Open& open) {
    if (!open.shard) return;
    count(open.shard->finish());
    open.shard.reset();
  }

  const fs::path root_;
  const Manifest& manifest_;
  const std::uint64_t shard_bytes_;
  std::array<Open, kSplitCount> open_;
};

}  // namespace

ImageFile image_file(const RecordView& record, Bytes& made) {
  if (record.coding == Coding::kEncoded) return {record.payload, ending_of(record.payload)};
  made = encode_png({reinterpret_cast<const std::uint8_t*>(record.payload.data()), record.height_px,
                     record.width_px, record.channels,
                     static_cast<std::ptrdiff_t>(record.width_px) * record.channels});
  return {made, ".png"};
}

std::unique_ptr<SampleWriter> make_folder_writer(fs::path root, FolderPlan plan, Link link) {
  return std::make_unique<FolderWriter>(std::move(root), std::move(plan), link);
}

std::unique_ptr<SampleWriter> make_tree_writer(fs::path root, const Manifest& manifest, Link link) {
  return std::make_unique<TreeWriter>(std::move(root), manifest, link);
}

std::unique_ptr<SampleWriter> make_webdataset_writer(fs::path root, const Manifest& manifest,
                                                     std::uint64_t shard_bytes) {
  return std::make_unique<WebDatasetWriter>(std::move(root), manifest, shard_bytes);
}

}  // namespace winnow::pipeline
