#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "common/error.h"
#include "dedup/index/files_internal.h"
#include "dedup/table/column_file.h"

namespace winnow::dedup {
namespace {

constexpr FileKind kLinksKind{"WNWLINKS", 1, "file of links"};
constexpr FileKind kNamesKind{"WNWNAMES", 1, "file of names"};
constexpr FileKind kTombstonesKind{"WNWTOMBS", 1, "file of deleted rows"};
constexpr std::size_t kPieceElements = 1 << 16;
constexpr std::size_t kPieceBytes = 1 << 20;

constexpr auto kVouchedFor = ColumnFileReader::Content::kVouchedFor;

ColumnFileReader open(const InputFile& file, const FileKind& kind, std::uint64_t rows) {
  ColumnFileReader in(file, kind, kVouchedFor);
  if (in.rows() != rows) in.fail("it has " + std::to_string(in.rows()) + " rows");
  return in;
}

template <class T>
BytesView bytes_of(std::span<const T> values) {
  return std::as_bytes(values);
}

}  // namespace

Hash128 write_links(const std::filesystem::path& path, int radius, CodeLinks links) {
  std::vector<Edge>& edges = links.edges;
  tbb::parallel_sort(edges.begin(), edges.end(), [](const Edge& x, const Edge& y) {
    return std::tie(x.distance, x.a, x.b) < std::tie(y.distance, y.a, y.b);
  });
  std::vector<std::uint64_t> starts(static_cast<std::size_t>(radius) + 2);
  for (const Edge& edge : edges) ++starts.at(edge.distance + 1);
  for (std::size_t d = 1; d < starts.size(); ++d) starts[d] += starts[d - 1];
  ColumnFileWriter out(path, kLinksKind, links.firsts.size(),
                       {{"starts", sizeof(std::uint64_t), starts.size()},
                        {"firsts", sizeof(std::uint32_t), links.firsts.size()},
                        {"a", sizeof(std::uint32_t), edges.size()},
                        {"b", sizeof(std::uint32_t), edges.size()}});
  out.append(0, as_bytes(starts));
  out.append(1, as_bytes(links.firsts));
  for (const Edge& edge : edges) {
    out.append(2, bytes_of(std::span(&edge.a, 1)));
    out.append(3, bytes_of(std::span(&edge.b, 1)));
  }
  return out.finish();
}

LinksFile::LinksFile(std::shared_ptr<const InputFile> file, int radius, std::uint64_t first_row,
                     std::uint64_t rows)
    : file_(std::move(file)), first_row_(first_row), rows_(rows) {
  ColumnFileReader in = open(*file_, kLinksKind, rows);
  starts_ = in.take<std::uint64_t>("starts", static_cast<std::uint64_t>(radius) + 2);
  if (starts_[0] != 0 || !std::ranges::is_sorted(starts_)) {
    in.fail("its distances are out of order");
  }
  firsts_at_ = in.locate<std::uint32_t>("firsts", rows).offset;
  a_at_ = in.locate<std::uint32_t>("a", starts_.back()).offset;
  b_at_ = in.locate<std::uint32_t>("b", starts_.back()).offset;
  in.finish();
}

std::vector<std::uint32_t> LinksFile::read_firsts() const {
  std::vector<std::uint32_t> firsts(rows_);
  file_->read_at(firsts_at_, std::as_writable_bytes(std::span(firsts)));
  for (std::uint64_t row = 0; row < rows_; ++row) {
    const std::uint32_t first = firsts[row];
    const bool good = first == kNoCode || first < first_row_ || first == first_row_ + row ||
                      (first < first_row_ + row && firsts[first - first_row_] == first);
    if (!good) {
      ColumnFileReader(*file_, kLinksKind, kVouchedFor)
          .fail("the first row of a code is after the row itself");
    }
  }
  return firsts;
}

void LinksFile::for_each(int nearest, int furthest, const EdgeSink& sink) const {
  std::vector<std::uint32_t> a;
  std::vector<std::uint32_t> b;
  std::vector<Edge> edges;
  const auto read = [&](std::vector<std::uint32_t>& into, std::uint64_t column, std::uint64_t at,
                        std::uint64_t count) {
    into.resize(count);
    file_->read_at(column + at * sizeof(std::uint32_t), std::as_writable_bytes(std::span(into)));
  };
  for (int distance = nearest; distance <= furthest; ++distance) {
    const std::uint64_t end = starts_[static_cast<std::size_t>(distance) + 1];
    for (std::uint64_t at = starts_[static_cast<std::size_t>(distance)]; at < end;) {
      const std::uint64_t count = std::min<std::uint64_t>(kPieceElements, end - at);
      read(a, a_at_, at, count);
      read(b, b_at_, at, count);
      edges.clear();
      for (std::size_t i = 0; i < count; ++i) {
        if (a[i] >= b[i] || b[i] < first_row_ || b[i] - first_row_ >= rows_) {
          ColumnFileReader(*file_, kLinksKind, kVouchedFor).fail("a link leads nowhere");
        }
        edges.push_back({a[i], b[i], static_cast<std::uint32_t>(distance)});
      }
      sink(edges);
      at += count;
    }
  }
}

Hash128 write_names(const std::filesystem::path& path, std::span<const SampleId> ids,
                    const NameSource& names) {
  // The size of the text is only known at the end.
  ScratchFile text;
  std::string gathered;
  std::vector<std::uint64_t> offsets{0};
  offsets.reserve(ids.size() + 1);
  names([&](SampleId id, std::string_view name) {
    const std::size_t row = offsets.size() - 1;
    if (row == ids.size() || ids[row] != id) return;
    gathered += name;
    offsets.push_back(offsets.back() + name.size());
    if (gathered.size() < kPieceBytes) return;
    text.append(as_bytes(gathered));
    gathered.clear();
  });
  if (offsets.size() <= ids.size()) {
    throw FormatError("the rows to add to the index have no name for sample " +
                      std::to_string(ids[offsets.size() - 1]) + "; make it again");
  }
  text.append(as_bytes(gathered));
  ColumnFileWriter out(
      path, kNamesKind, ids.size(),
      {{"offsets", sizeof(std::uint64_t), offsets.size()}, {"text", sizeof(char), offsets.back()}});
  out.append(0, as_bytes(offsets));
  for_each_piece(std::move(text).read(), 0, offsets.back(),
                 [&](BytesView piece) { out.append(1, piece); });
  return out.finish();
}

NamesFile::NamesFile(std::shared_ptr<const InputFile> file, std::uint64_t rows)
    : file_(std::move(file)) {
  ColumnFileReader in = open(*file_, kNamesKind, rows);
  offsets_ = in.take<std::uint64_t>("offsets", rows + 1);
  const auto text = in.locate<char>("text", std::nullopt);
  in.finish();
  if (offsets_.front() != 0 || offsets_.back() != text.count || !std::ranges::is_sorted(offsets_)) {
    in.fail("the offsets of its names do not match their text");
  }
  text_at_ = text.offset;
}

std::string NamesFile::name(std::size_t row) const {
  std::string name(offsets_[row + 1] - offsets_[row], '\0');
  file_->read_at(text_at_ + offsets_[row], std::as_writable_bytes(std::span(name)));
  return name;
}

void NamesFile::for_each(
    const std::function<void(std::size_t row, std::string_view name)>& take) const {
  const std::size_t rows = offsets_.size() - 1;
  std::string text;
  for (std::size_t row = 0; row < rows;) {
    std::size_t end = row + 1;
    while (end < rows && offsets_[end + 1] - offsets_[row] <= kPieceBytes) ++end;
    text.resize(offsets_[end] - offsets_[row]);
    file_->read_at(text_at_ + offsets_[row], std::as_writable_bytes(std::span(text)));
    const std::uint64_t begin = offsets_[row];
    for (; row < end; ++row) {
      take(row,
           std::string_view(text).substr(offsets_[row] - begin, offsets_[row + 1] - offsets_[row]));
    }
  }
}

Hash128 write_tombstones(const std::filesystem::path& path, std::span<const std::uint32_t> rows) {
  ColumnFileWriter out(path, kTombstonesKind, rows.size(),
                       {{"rows", sizeof(std::uint32_t), rows.size()}});
  out.append(0, bytes_of(rows));
  return out.finish();
}

std::vector<std::uint32_t> read_tombstones(const InputFile& file, std::uint64_t rows,
                                           std::uint64_t count) {
  ColumnFileReader in = open(file, kTombstonesKind, count);
  std::vector<std::uint32_t> dead = in.take<std::uint32_t>("rows", count);
  in.finish();
  if (std::ranges::adjacent_find(dead, std::greater_equal<>()) != dead.end() ||
      (!dead.empty() && dead.back() >= rows)) {
    in.fail("its rows do not ascend or do not exist");
  }
  return dead;
}

}  // namespace winnow::dedup
