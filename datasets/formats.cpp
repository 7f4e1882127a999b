#include "datasets/formats.h"

#include <algorithm>
#include <array>
#include <string>

#include "common/error.h"
#include "common/file.h"
#include "common/known_bytes.h"
#include "common/row_called.h"
#include "datasets/caffe_lmdb.h"
#include "datasets/cifar.h"
#include "datasets/csv.h"
#include "datasets/food101.h"
#include "datasets/idx.h"
#include "datasets/image_folder.h"
#include "datasets/list.h"
#include "datasets/look.h"
#include "datasets/recordio.h"
#include "datasets/single_image.h"
#include "datasets/svhn.h"
#include "datasets/tar.h"
#include "datasets/tar_set.h"
#include "datasets/tfrecord.h"
#include "datasets/webdataset.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

// Tried in this order; the image folder, which fits any folder, comes last.
constexpr std::array kFormats{
    Format{"idx",
           "IDX pairs, as MNIST: NAME-images-idx3-ubyte[.gz] and NAME-labels-idx1-ubyte[.gz]",
           idx_found_at, open_idx},
    Format{"cifar", "CIFAR-10 and CIFAR-100, binary: data_batch_N.bin, train.bin and so on",
           cifar_found_at, open_cifar},
    Format{"webdataset", "tar shards of samples: KEY.jpg with KEY.cls or KEY.json",
           webdataset_found_at, open_webdataset},
    Format{"tar",
           "images in tar archives (one, a folder of them, NAME-{00..12}.tar), plain or .gz ...",
           tar_found_at, open_tar},
    Format{"tfrecord", "TFRecord files of tf.train.Example: NAME.tfrecord, NAME-00000-of-00128",
           tfrecord_found_at, open_tfrecord},
    Format{"recordio", "MXNet's RecordIO files of images, as im2rec writes them: NAME.rec",
           recordio_found_at, open_recordio},
    Format{"caffe-lmdb", "Caffe's LMDB of Datum messages, encoded or raw: a folder with data.mdb",
           caffe_lmdb_found_at, open_caffe_lmdb},
    Format{"csv", "a table of images, .csv or .tsv: columns path, label, split, group",
           csv_found_at, open_csv},
    Format{"list", "a text file with one image per line: Caffe's PATH LABEL, MXNet's .lst",
           list_found_at, open_list},
    Format{"svhn", "SVHN's cropped digits: train_32x32.mat, test_32x32.mat, extra_32x32.mat",
           svhn_found_at, open_svhn},
    Format{"food101", "Food-101's folder: images/CLASS/ID.jpg, meta/train.txt and meta/test.txt",
           food101_found_at, open_food101},
    Format{"image", "one image file", single_image_found_at, open_single_image},
    Format{"image_folder", "images in folders: [SPLIT/]CLASS/FILE, or unlabelled at any depth",
           image_folder_found_at, open_image_folder},
};

std::vector<std::string> known_formats() {
  std::vector<std::string> names{"auto"};
  for (const Format& row : kFormats) names.emplace_back(row.name);
  return names;
}

// The type of a file by its first bytes, if it is known but not a data set format.
const KnownBytes* known_file(const fs::path& path) {
  if (!file_at(path)) return nullptr;
  const InputFile file(path);
  Bytes first(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), 256)));
  file.read_at(0, first);
  return known_bytes(first);
}

const Format& choose(const fs::path& path, const std::string& name) {
  if (name != "auto") {
    for (const Format& row : kFormats) {
      if (row.name == name) return row;
    }
    throw UsageError(unknown_name("there is no format", name, known_formats()));
  }
  const KnownBytes* file = known_file(path);
  if (file == nullptr || file->is_packed) {
    for (const Format& row : kFormats) {
      if (row.found_at(path)) return row;
    }
  }
  if (file != nullptr) {
    throw UsageError(path.string() + " is " + std::string(file->what) + "; " +
                     std::string(file->advice));
  }
  std::string known;
  for (const Format& row : kFormats) known += (known.empty() ? "" : ", ") + std::string(row.name);
  throw UsageError(path.string() + " has no known format (" + known +
                   "); name an image, or the folder of the images");
}

}  // namespace

std::span<const Format> formats() { return kFormats; }

std::unique_ptr<Source> open_source(const fs::path& path, const OpenOptions& options) {
  std::error_code error;
  fs::file_status status;
  try_patiently([&] {
    status = fs::status(path, error);
    return error.value();
  });
  const bool is_there = status.type() != fs::file_type::not_found;
  if (!is_there && !is_shard_range(path)) {
    throw UsageError("there is nothing at " + path.string());
  }
  if (error && is_there)
    throw SystemError("cannot look at " + path.string() + ": " + error.message());
  std::unique_ptr<Source> source = choose(path, options.format).open(path, options);
  if (source->entries().empty()) {
    throw UsageError(path.string() + " holds no inputs (" + source->description() + ")");
  }
  return source;
}

}  // namespace winnow::datasets
