#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// Whether `path` is a tar archive, plain or compressed, by its beginning, or a folder of archives
// (by their names) without images or other folders beside them.
bool tar_found_at(const std::filesystem::path& path);

// Reads images in tar archives without unpacking them. Members are treated as files of an image
// folder (image_folder.h: splits, classes, skipped files). They are listed in archive order, so
// that reading goes from front to back.
//
// wrapper     A folder that contains everything, and is no split, is removed from names.
// nested      A member that is a plain archive counts as a folder of its name (ImageNet's training
//             set). Archives in it are skipped.
// several     A folder of archives, or a range "NAME-{00..12}.tar": each archive counts as a folder
//             of its name, or of the split in its name if all differ ("ILSVRC2012_img_val"). If the
//             archive's members are all in a folder of that name already, none is added.
// compressed  gzip, bzip2, xz, zstd, lz4: inflated once into a temporary file (TMPDIR, else /tmp)
//             of the unpacked size.
// same names  The last member of a name counts, as when unpacking.
// end marks   Archives without end mark are accepted and counted: a copy may be incomplete.
// hard links  Equal the file they refer to; listed as missing if the archive lacks it.
// skipped     Symbolic links, pipes and devices; description() counts them.
// sparse      Members stored as sparse files are listed as unreadable.
// safety      Names are not used as paths: absolute ones and ".." do no harm.
// errors      UsageError as in image_folder.h and tar_file.h; SystemError.
std::unique_ptr<Source> open_tar(const std::filesystem::path& path, const OpenOptions& options);

}  // namespace winnow::datasets
