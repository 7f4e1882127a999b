#include "datasets/listing.h"

#include <algorithm>
#include <limits>

#include "common/error.h"

namespace winnow::datasets {
namespace {

constexpr std::size_t kWholeEvery = 16;

// Seven bits a byte, lowest first; the highest bit means that more follow.
void put_length(std::vector<std::uint8_t>& bytes, std::size_t length) {
  for (; length >= 0x80; length >>= 7) bytes.push_back(static_cast<std::uint8_t>(length | 0x80));
  bytes.push_back(static_cast<std::uint8_t>(length));
}

std::size_t get_length(const std::vector<std::uint8_t>& bytes, std::size_t& at) {
  std::size_t length = 0;
  for (int shift = 0;; shift += 7) {
    const std::size_t byte = bytes[at++];
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) return length;
  }
}

void require_room(std::size_t held, std::size_t more) {
  if (more <= std::numeric_limits<std::uint32_t>::max() - held) return;
  throw UsageError("a source has too many labels or too long group keys; split the data set");
}

}  // namespace

void NameColumn::push_back(std::string_view name) {
  std::size_t shared = 0;
  if (size_ % kWholeEvery == 0) {
    whole_.push_back(bytes_.size());
  } else {
    const auto differ = std::mismatch(name.begin(), name.end(), last_.begin(), last_.end());
    shared = static_cast<std::size_t>(differ.first - name.begin());
  }
  put_length(bytes_, shared);
  put_length(bytes_, name.size() - shared);
  bytes_.insert(bytes_.end(), name.begin() + static_cast<std::ptrdiff_t>(shared), name.end());
  last_ = name;
  ++size_;
}

void NameColumn::Iterator::decode() {
  const std::vector<std::uint8_t>& bytes = names_->bytes_;
  name_.resize(get_length(bytes, at_));
  const std::size_t rest = get_length(bytes, at_);
  name_.append(reinterpret_cast<const char*>(bytes.data() + at_), rest);
  at_ += rest;
}

NameColumn::Iterator& NameColumn::Iterator::operator++() {
  if (++index_ < names_->size_) decode();
  return *this;
}

NameColumn::Iterator NameColumn::begin() const {
  Iterator first(*this, 0);
  if (size_ > 0) first.decode();
  return first;
}

std::string NameColumn::operator[](std::size_t index) const {
  Iterator at(*this, index / kWholeEvery * kWholeEvery);
  at.at_ = whole_[index / kWholeEvery];
  at.decode();
  while (at.index_ < index) ++at;
  return std::move(at.name_);
}

Listing::Listing(std::span<const Entry> entries) {
  for (const Entry& entry : entries) push_back(entry);
}

void Listing::reserve(std::size_t rows) {
  splits_.reserve(rows);
  label_ends_.reserve(rows);
  labels_.reserve(rows);
  group_ends_.reserve(rows);
  input_bytes_.reserve(rows);
}

void Listing::push_back(const Entry& entry) {
  require_room(labels_.size(), entry.labels.size());
  require_room(groups_.size(), entry.group.size());
  names_.push_back(entry.name);
  splits_.push_back(entry.split);
  labels_.insert(labels_.end(), entry.labels.begin(), entry.labels.end());
  label_ends_.push_back(static_cast<std::uint32_t>(labels_.size()));
  groups_ += entry.group;
  group_ends_.push_back(static_cast<std::uint32_t>(groups_.size()));
  input_bytes_.push_back(entry.input_bytes);
}

Entry Listing::operator[](std::size_t position) const {
  const auto labels = this->labels(position);
  return {.name = names_[position],
          .split = split(position),
          .labels = {labels.begin(), labels.end()},
          .group = std::string(group(position)),
          .input_bytes = input_bytes(position)};
}

}  // namespace winnow::datasets
