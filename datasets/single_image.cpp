#include "datasets/single_image.h"

#include <array>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/known_bytes.h"
#include "datasets/file_input.h"
#include "datasets/layout.h"
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
                        .input_bytes = *size_at(file_)});
  }

  std::string_view format() const noexcept override { return "image"; }
  const Listing& entries() const noexcept override { return entries_; }
  std::span<const std::string> class_names() const noexcept override { return {}; }
  std::string description() const override { return "one image, unlabelled"; }
  Expected<Payload, ReadError> read(std::size_t) const override { return read_file_input(file_); }

 private:
  fs::path file_;
  Listing entries_;
};

bool begins_as_image(const fs::path& path) {
  const InputFile file(path);
  std::array<std::byte, 12> first{};
  if (file.size() < first.size()) return false;
  file.read_at(0, first);
  return winnow::begins_as_image(first);
}

}  // namespace

bool single_image_found_at(const fs::path& path) {
  if (!file_at(path)) return false;
  const std::string name = path.filename().string();
  return is_image_name(name) || (has_no_ending(name) && begins_as_image(path));
}

std::unique_ptr<Source> open_single_image(const fs::path& path, const OpenOptions&) {
  if (!file_at(path)) throw UsageError(path.string() + " is no image file");
  return std::make_unique<SingleImage>(path);
}

}  // namespace winnow::datasets
