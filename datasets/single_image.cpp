#include "datasets/single_image.h"

#include <utility>

#include "common/error.h"
#include "datasets/file_input.h"
#include "datasets/look.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

class SingleImage final : public Source {
 public:
  explicit SingleImage(fs::path file) : file_(std::move(file)) {
    entries_.push_back({.name = file_.filename().string(),
                        .labels = {},
                        .group = {},
                        .input_bytes = size_at(file_).value_or(0)});
  }

  std::string_view format() const noexcept override { return "image"; }
  const Listing& entries() const noexcept override { return entries_; }
  std::span<const std::string> class_names() const noexcept override { return {}; }
  std::string description() const override { return "one image, unlabelled"; }
  Expected<Payload, ReadError> read(std::size_t) const override { return read_file_input(file_); }
  std::optional<fs::path> file_of(std::size_t) const override { return file_; }

 private:
  fs::path file_;
  Listing entries_;
};

}  // namespace

bool single_image_found_at(const fs::path& path) {
  return file_at(path) && is_listed_image(path.filename().string(), path);
}

std::unique_ptr<Source> open_single_image(const fs::path& path, const OpenOptions&) {
  if (!file_at(path)) throw UsageError(path.string() + " is not an image file");
  return std::make_unique<SingleImage>(path);
}

}  // namespace winnow::datasets
