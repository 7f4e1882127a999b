#include "train/checkpoint/checkpoint.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "common/json_text.h"

namespace winnow::train {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFiles{"model.safetensors", "optimizer.safetensors", "state.json"};
constexpr const char* kEmaFile = "ema.safetensors";  // only in some checkpoints
constexpr const char* kBestLink = "best";
constexpr const char* kRemedy = "restore it, or remove this checkpoint";

std::optional<std::int64_t> step_of(const fs::path& directory) {
  const std::string name = directory.filename().string();
  constexpr std::string_view kPrefix = "step-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  std::int64_t step = 0;
  const char* begin = name.data() + kPrefix.size();
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(begin, end, step);
  if (error != std::errc() || stop != end) return std::nullopt;
  return step;
}

// All step folders, complete or not, by ascending step.
std::vector<fs::path> step_directories(const fs::path& directory) {
  std::vector<fs::path> found;
  if (!fs::is_directory(directory)) return found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (entry.is_directory() && step_of(entry.path())) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end(),
            [](const fs::path& a, const fs::path& b) { return *step_of(a) < *step_of(b); });
  return found;
}

void point_at(const fs::path& link, const fs::path& target) {
  std::error_code none;
  if (fs::read_symlink(link, none) != target.filename()) replace_symlink(link, target.filename());
}

// A separate error, because such a checkpoint is intact and a newer winnow needs it.
class NewerVersion : public FormatError {
 public:
  using FormatError::FormatError;
};

[[noreturn]] void fail(const fs::path& path, const std::string& what) {
  throw FormatError(path.string() + " " + what + "; " + kRemedy);
}

JsonReader read_manifest(const fs::path& path) {
  const std::string text = read_text(path);
  JsonReader manifest(text, {path.string(), kRemedy});
  const auto version = manifest.at("version").number<int>();
  if (version > kCheckpointVersion) {
    throw NewerVersion(path.string() + " was written by a newer winnow (checkpoint version " +
                       std::to_string(version) + ", this one reads up to " +
                       std::to_string(kCheckpointVersion) + "); use that one");
  }
  if (version < 1 || !digest_line_matches(text)) {
    fail(path, "does not match its digest: it is damaged or was edited");
  }
  return manifest;
}

Bytes read_checked(const fs::path& path, const JsonReader& row) {
  if (!fs::exists(path)) fail(path, "is missing");
  const std::uint64_t due = row.at("bytes").number();
  // Checked before reading, because a file may be larger than memory.
  if (fs::is_regular_file(path) && fs::file_size(path) != due) {
    fail(path, "is damaged: it has " + std::to_string(fs::file_size(path)) +
                   " bytes, but the manifest says " + std::to_string(due));
  }
  Bytes bytes = read_file(path);
  if (bytes.size() != due || to_hex(xxh3_128(bytes)) != row.at("xxh3_128").text()) {
    fail(path, "is damaged: its checksum is not the one in the manifest");
  }
  return bytes;
}

// Writes the files of a checkpoint into one folder and records them in its manifest.
class Files {
 public:
  explicit Files(fs::path folder) : folder_(std::move(folder)) {}

  void write_tensors(const char* name, const std::vector<NamedTensor>& tensors,
                     const std::map<std::string, std::string>& metadata) {
    DurableFile file(folder_ / name);
    Xxh3Stream hash;
    std::uint64_t bytes = 0;
    write_safetensors(tensors, metadata, [&](BytesView piece) {
      file.append(piece);
      hash.update(piece);
      bytes += piece.size();
    });
    file.finish();
    enter(name, bytes, hash.digest());
  }

  void write_text(const char* name, const std::string& text) {
    write_file_durably(folder_ / name, text);
    enter(name, text.size(), xxh3_128(as_bytes(text)));
  }

  const Json& entries() const noexcept { return entries_; }

 private:
  void enter(const char* name, std::uint64_t bytes, const Hash128& hash) {
    entries_[name] = {{"bytes", bytes}, {"xxh3_128", to_hex(hash)}};
  }

  fs::path folder_;
  Json entries_;
};

constexpr std::string_view kPart = ".part";

// The folder of a checkpoint under its temporary name. Removed with its content unless it was
// renamed.
class Part {
 public:
  explicit Part(fs::path path) : path_(std::move(path)) {
    remove_tree(path_);
    make_directories(path_);
  }
  ~Part() {
    std::error_code none;
    fs::remove_all(path_, none);
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  const fs::path& path() const noexcept { return path_; }

 private:
  fs::path path_;
};

void write_files(const Checkpoint& checkpoint, const fs::path& folder) {
  std::map<std::string, std::string> metadata = checkpoint.about;
  metadata["format"] = "pt";  // marks it as from PyTorch
  Files files(folder);
  files.write_tensors(kFiles[0], checkpoint.model, metadata);
  files.write_tensors(kFiles[1], checkpoint.optimizer, {});
  files.write_text(kFiles[2], checkpoint.state);
  if (!checkpoint.ema.empty()) files.write_tensors(kEmaFile, checkpoint.ema, metadata);
  const Json manifest{
      {"version", kCheckpointVersion}, {"step", checkpoint.step}, {"files", files.entries()}};
  write_file_durably(folder / "manifest.json", with_digest_line(manifest.dump(2) + "\n"));
}

}  // namespace

void save_checkpoint(const fs::path& directory, const Checkpoint& checkpoint, int keep,
                     bool is_best) {
  make_directories(directory);
  const std::string name = "step-" + std::to_string(checkpoint.step);
  const fs::path target = directory / name;
  const Part part(directory / (name + std::string(kPart)));
  write_files(checkpoint, part.path());
  // the step may exist already: incomplete, or computed again
  rename_directory(part.path(), target);
  if (is_best) point_at(directory / kBestLink, target);
  keep_newest_checkpoints(target, keep);
}

void keep_newest_checkpoints(const fs::path& newest, int keep) {
  const fs::path directory = newest.parent_path();
  point_at(directory / "latest", newest);
  std::error_code none;
  const fs::path best = directory / fs::read_symlink(directory / kBestLink, none);
  const std::vector<fs::path> steps = step_directories(directory);
  for (std::size_t i = 0; i + static_cast<std::size_t>(std::max(1, keep)) < steps.size(); ++i) {
    if (steps[i] != newest && steps[i] != best) remove_tree(steps[i]);
  }
}

void remove_unfinished_checkpoints(const fs::path& directory) {
  if (!fs::is_directory(directory)) return;
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    const fs::path& path = entry.path();
    if (path.extension() == kPart && step_of(path.parent_path() / path.stem())) {
      found.push_back(path);
    }
  }
  for (const fs::path& path : found) remove_tree(path);
}

bool mark_best_checkpoint(const fs::path& directory, std::optional<std::int64_t> step) {
  if (step) {
    const fs::path target = directory / ("step-" + std::to_string(*step));
    if (fs::is_directory(target)) {
      point_at(directory / kBestLink, target);
      return true;
    }
  }
  remove_file(directory / kBestLink);
  return false;
}

Checkpoint load_checkpoint(const fs::path& step_directory) {
  const fs::path manifest_path = step_directory / "manifest.json";
  if (!fs::exists(manifest_path)) {
    fail(step_directory, "is not a complete checkpoint: it has no manifest.json");
  }
  const JsonReader manifest = read_manifest(manifest_path);
  const JsonReader files = manifest.at("files");
  const auto read = [&](std::size_t i) {
    return read_checked(step_directory / kFiles[i], files.at(kFiles[i]));
  };
  const fs::path ema = step_directory / kEmaFile;
  Checkpoint checkpoint;
  checkpoint.step = manifest.at("step").number<std::int64_t>();
  checkpoint.model = parse_safetensors(read(0), (step_directory / kFiles[0]).string());
  checkpoint.optimizer = parse_safetensors(read(1), (step_directory / kFiles[1]).string());
  if (const auto row = files.find(kEmaFile)) {
    checkpoint.ema = parse_safetensors(read_checked(ema, *row), ema.string());
  }
  const Bytes state = read(2);
  checkpoint.state = std::string(as_text(state));
  return checkpoint;
}

std::optional<fs::path> newest_checkpoint(const fs::path& directory,
                                          std::vector<std::string>* skipped) {
  const std::vector<fs::path> steps = step_directories(directory);
  std::string newest_reason;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    try {
      load_checkpoint(*step);
      return *step;
    } catch (const NewerVersion&) {
      throw;
    } catch (const FormatError& error) {
      if (skipped != nullptr) skipped->push_back(error.what());
      if (newest_reason.empty()) newest_reason = error.what();
    }
  }
  if (steps.empty()) return std::nullopt;
  throw FormatError("no checkpoint in " + directory.string() + " can be used, the newest because " +
                    newest_reason);
}

}  // namespace winnow::train
