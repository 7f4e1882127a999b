#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/sample.h"

namespace winnow::datasets {

// A row of the listing: everything known of one input of a data set before it is opened.
struct Entry {
  std::string name;  // path relative to the data set's root, '/' between parts
  Split split = Split::kNone;
  std::vector<std::int32_t> labels;  // indices into Source::class_names(); none, one or many
  std::string group;              // key of samples that belong together, as one patient; "": none
  std::uint64_t input_bytes = 0;  // encoded size of the input in bytes: what read() returns
};

// A column of texts with prefix compression: each stores only what differs from the beginning of
// the one before, so sorted paths take a few bytes. Every sixteenth text is stored completely;
// operator[] decodes at most sixteen.
class NameColumn {
 public:
  // Iterates over the texts in order, which is faster than operator[].
  class Iterator {
   public:
    const std::string& operator*() const noexcept { return name_; }
    Iterator& operator++();
    friend bool operator==(const Iterator& a, const Iterator& b) noexcept {
      return a.index_ == b.index_;
    }

   private:
    friend class NameColumn;
    Iterator(const NameColumn& names, std::size_t index) : names_(&names), index_(index) {}
    void decode();

    const NameColumn* names_;
    std::size_t index_;
    std::size_t at_ = 0;  // where the next text begins in bytes_
    std::string name_;
  };

  void push_back(std::string_view name);
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::string operator[](std::size_t index) const;
  Iterator begin() const;
  Iterator end() const { return {*this, size_}; }

 private:
  // For each text: length shared with the one before, length of the rest, the rest.
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint64_t> whole_;  // where every sixteenth text begins in bytes_
  std::size_t size_ = 0;
  std::string last_;
};

// The listing of a data set: all its inputs, one row each, stored by columns. A row takes tens of
// bytes and the distinct part of its name, because data sets have millions of rows.
class Listing {
 public:
  Listing() = default;
  explicit Listing(std::span<const Entry> entries);

  void reserve(std::size_t rows);
  // Appends a row. Throws UsageError if all rows together have 2^32 or more labels, or as many
  // bytes of group keys.
  void push_back(const Entry& entry);
  std::size_t size() const noexcept { return names_.size(); }
  bool empty() const noexcept { return names_.empty(); }
  Entry operator[](std::size_t position) const;

  const NameColumn& names() const noexcept { return names_; }
  Split split(std::size_t position) const noexcept { return splits_[position]; }
  std::span<const std::int32_t> labels(std::size_t position) const noexcept {
    return std::span(labels_).subspan(begin_of(label_ends_, position),
                                      length_of(label_ends_, position));
  }
  std::string_view group(std::size_t position) const noexcept {
    return std::string_view(groups_).substr(begin_of(group_ends_, position),
                                            length_of(group_ends_, position));
  }
  std::uint64_t input_bytes(std::size_t position) const noexcept { return input_bytes_[position]; }

 private:
  static std::size_t begin_of(const std::vector<std::uint32_t>& ends, std::size_t row) noexcept {
    return row == 0 ? 0 : ends[row - 1];
  }
  static std::size_t length_of(const std::vector<std::uint32_t>& ends, std::size_t row) noexcept {
    return ends[row] - begin_of(ends, row);
  }

  NameColumn names_;
  std::vector<Split> splits_;
  std::vector<std::uint32_t> label_ends_;  // row i begins at the end of row i - 1
  std::vector<std::int32_t> labels_;
  std::vector<std::uint32_t> group_ends_;
  std::string groups_;
  std::vector<std::uint64_t> input_bytes_;
};

}  // namespace winnow::datasets
