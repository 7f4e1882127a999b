#include "app/review/pictures.h"

namespace winnow::app {

Pictures::Pictures(pipeline::PictureOf picture_of, int threads, std::size_t most_bytes)
    : picture_of_(std::move(picture_of)), free_threads_(threads), most_bytes_(most_bytes) {}

std::optional<std::string> Pictures::jpeg(SampleId id, int side_px, int quality) {
  const Key key{id, side_px};
  {
    std::unique_lock lock(mutex_);
    const auto find = [&] { return places_.find(key); };
    changed_.wait(lock, [&] { return find() != places_.end() || free_threads_ > 0; });
    if (const auto found = find(); found != places_.end()) {
      kept_.splice(kept_.begin(), kept_, found->second);
      return found->second->second;
    }
    --free_threads_;
  }
  struct Release {
    Pictures& pictures;
    ~Release() {
      const std::lock_guard lock(pictures.mutex_);
      ++pictures.free_threads_;
      pictures.changed_.notify_all();
    }
  } const release{*this};
  const auto image = picture_of_(id, side_px);
  if (!image) return std::nullopt;
  const Bytes bytes = pipeline::jpeg_thumbnail(image->view(), {side_px, quality});
  std::string jpeg(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  keep(key, jpeg);
  return jpeg;
}

void Pictures::keep(const Key& key, const std::string& jpeg) {
  const std::lock_guard lock(mutex_);
  if (jpeg.size() > most_bytes_ / 8 || places_.contains(key)) return;
  kept_.emplace_front(key, jpeg);
  places_[key] = kept_.begin();
  bytes_ += jpeg.size();
  while (bytes_ > most_bytes_) {
    bytes_ -= kept_.back().second.size();
    places_.erase(kept_.back().first);
    kept_.pop_back();
  }
}

}  // namespace winnow::app
