// Untrusted data sets in files. Each is opened, and its first inputs are read.
#include <algorithm>
#include <string>
#include <utility>

#include "datasets/formats.h"
#include "datasets/wire.h"
#include "tests/fuzz/coverage/folder.h"
#include "tests/fuzz/coverage/harness.h"
#include "tests/fuzz/coverage/harness_list.h"
#include "tests/fuzz/coverage/seal.h"

namespace winnow::fuzz {
namespace {

using datasets::LabelsFrom;

void read_through(const std::filesystem::path& path, std::string_view format, LabelsFrom labels) {
  const auto source = datasets::open_source(
      path, {.format = std::string(format), .labels = labels, .allow_empty_classes = true});
  const datasets::Listing& entries = source->entries();
  for (std::size_t i = 0; i < std::min<std::size_t>(entries.size(), 64); ++i) {
    const datasets::Entry entry = entries[i];
    for (const std::int32_t label : entry.labels) {
      expect(label >= 0 && std::cmp_less(label, source->class_names().size()),
             "a label has a class");
    }
    (void)source->read(i);
  }
}

// Reads with labels or, if these are refused, without.
int read_file(std::string_view format, std::string_view name, BytesView bytes) {
  static const Folder folder;
  const std::filesystem::path path = folder.write(name, bytes);
  try {
    read_through(path, format, LabelsFrom::kAuto);
  } catch (const UsageError&) {
    read_through(path, format, LabelsFrom::kNone);
  }
  return 0;
}

// A list or table in a folder that has some of the files named in seeds.
int read_list(std::string_view format, std::string_view name, BytesView bytes) {
  static const Folder folder{{"a.jpg", "b/c d.jpg", "1.jpg"}};
  read_through(folder.write(name, bytes), format, LabelsFrom::kAuto);
  return 0;
}

// Splits an input into two files. Its first two bytes give the length of the first file.
std::pair<BytesView, BytesView> in_two(BytesView input) {
  if (input.size() < 2) return {};
  const auto first = static_cast<std::size_t>(input[0]) + 256 * static_cast<std::size_t>(input[1]);
  const BytesView rest = input.subspan(2);
  return {rest.first(std::min(first, rest.size())), rest.subspan(std::min(first, rest.size()))};
}

// Labels and images in files with this ending.
int read_idx(const std::string& ending, BytesView input) {
  static const Folder folder;
  const auto [labels, images] = in_two(input);
  folder.write("train-labels-idx1-ubyte" + ending, labels);
  folder.write("train-images-idx3-ubyte" + ending, images);
  read_through(folder.path(), "idx", LabelsFrom::kAuto);
  return 0;
}

}  // namespace

int fuzz_tar(BytesView input) { return read_file("tar", "photos.tar", input); }
int fuzz_tar_gz(BytesView input) { return read_file("tar", "photos.tar.gz", input); }
int fuzz_tar_xz(BytesView input) { return read_file("tar", "photos.tar.xz", input); }
int fuzz_webdataset(BytesView input) { return read_file("webdataset", "samples.tar", input); }
int fuzz_tfrecord(BytesView input) {
  return read_file("tfrecord", "photos.tfrecord", seal_tfrecord(input));
}
int fuzz_recordio(BytesView input) { return read_file("recordio", "photos.rec", input); }
int fuzz_svhn(BytesView input) { return read_file("svhn", "train_32x32.mat", input); }
int fuzz_list(BytesView input) { return read_list("list", "train.txt", input); }
int fuzz_list_mxnet(BytesView input) { return read_list("list", "photos.lst", input); }
int fuzz_csv_table(BytesView input) { return read_list("csv", "photos.csv", input); }

int fuzz_caffe_lmdb(BytesView input) {
  static const Folder folder;
  folder.write("train_lmdb/data.mdb", input);
  read_through(folder / "train_lmdb", "caffe-lmdb", LabelsFrom::kAuto);
  return 0;
}

int fuzz_idx(BytesView input) { return read_idx("", input); }
int fuzz_idx_gz(BytesView input) { return read_idx(".gz", input); }

int fuzz_cifar(BytesView input) {
  static const Folder folder;
  const auto [names, records] = in_two(input);
  folder.write("batches.meta.txt", names);
  folder.write("data_batch_1.bin", records);
  read_through(folder.path(), "cifar", LabelsFrom::kAuto);
  return 0;
}

int fuzz_food101(BytesView input) {
  static const Folder folder{{"images/cat/1.jpg", "images/cat/2.jpg", "images/dog/3.jpg"}};
  folder.write("meta/classes.txt", as_bytes("cat\ndog\n"));
  const auto [train, test] = in_two(input);
  folder.write("meta/train.txt", train);
  folder.write("meta/test.txt", test);
  read_through(folder.path(), "food101", LabelsFrom::kAuto);
  return 0;
}

int fuzz_wire(BytesView input) {
  const datasets::Look look = datasets::look_into(input);
  datasets::WireReader fields(look, {0, input.size()});
  datasets::WireField field;
  while (fields.next(field)) {
    if (!field.is_range) continue;
    expect(
        field.range.begin <= input.size() && field.range.size <= input.size() - field.range.begin,
        "a field lies in its message");
    datasets::WireReader packed(look, field.range);
    for (std::uint64_t value = 0; packed.varint(value);) continue;
  }
  return 0;
}

}  // namespace winnow::fuzz
