#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// True for a file that begins as a tar archive does, plain or compressed, and for a folder of files
// named like them without images or other folders beside them.
bool tar_found_at(const std::filesystem::path& path);

// Images in tar archives, which are never unpacked: read() reads from where they lie. Members are
// taken as files of an image folder (image_folder.h: splits, classes, what is passed over), listed
// in the order in which they lie in the archive, so that reading goes through it from front to
// back.
//
//   wrapper      A folder that everything lies in, which is no split, is left off.
//   archives     A member that is a plain archive itself is taken as a folder of its name
//   inside       (ImageNet's training set). Deeper ones are passed over.
//   several      A folder of archives, or a range "NAME-{00..12}.tar": each is taken as a folder of
//                its name, or of the split in it, where each has another ("ILSVRC2012_img_val").
//                What an archive names so itself is not put there twice.
//   compressed   gzip, bzip2, xz, zstd, lz4: inflated once into a temporary file (TMPDIR, else
//                /tmp), which takes as much room as the archive unpacked.
//   same names   The last one counts, as when unpacking.
//   end marks    Archives without one are taken, and counted: a copy may have been cut short.
//   hard links   Files like those they lead to; to what the archive lacks: listed, as missing.
//   passed over  Symbolic links, pipes and devices, which description() counts. Members stored as
//                sparse files are listed, as unreadable.
//
// Names are names only: absolute ones and ".." lead nowhere. Throws UsageError as image_folder.h
// and tar_file.h say; SystemError.
std::unique_ptr<Source> open_tar(const std::filesystem::path& path, const OpenOptions& options);

}  // namespace winnow::datasets
