#include "python/core/open_cache.h"

#include <unistd.h>

#include <utility>

#include "common/error.h"

namespace winnow::python {
namespace {

// Leaks it in a child: its maps and its lock belong to the parent, which continues to use them.
void leave_to_parent(std::shared_ptr<const pipeline::Cache> cache) {
  [[maybe_unused]] const auto* left = new auto(std::move(cache));
}

}  // namespace

OpenCache::OpenCache(std::filesystem::path root)
    : root_(std::move(root)),
      found_at_(std::filesystem::absolute(root_)),
      process_(::getpid()),
      cache_(std::make_shared<const pipeline::Cache>(pipeline::Cache::open(root_))) {}

OpenCache::~OpenCache() {
  if (process_ != ::getpid()) leave_to_parent(std::move(cache_));
}

std::shared_ptr<const pipeline::Cache> OpenCache::cache() {
  if (process_ == ::getpid()) return cache_;
  auto here = std::make_shared<const pipeline::Cache>(pipeline::Cache::open(found_at_));
  if (here->digest() != cache_->digest()) {
    throw FormatError(root_.string() +
                      " was replaced by another cache since it was opened; open it again");
  }
  leave_to_parent(std::exchange(cache_, std::move(here)));
  process_ = ::getpid();
  return cache_;
}

std::shared_ptr<const dedup::Fingerprints> OpenCache::rows() {
  if (!rows_) rows_ = std::make_shared<const dedup::Fingerprints>(cache()->open_fingerprints()({}));
  return rows_;
}

Split split_of(const std::string& name) {
  if (const auto split = parse_split(name)) return *split;
  throw UsageError("there is no split '" + name + "'; use none, train, val or test");
}

}  // namespace winnow::python
