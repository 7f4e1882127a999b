#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// Whether `path` is a folder.
bool image_folder_found_at(const std::filesystem::path& path);

// Reads a folder of image files, in byte-wise order of their relative names. A file is listed by
// the ending of its name (layout.h) or, if there is none, by its first bytes. The type of an image
// is decided by its bytes when it is decoded.
//
// Wrapper folders
// - A folder that contains only one folder, which is no split and contains only folders, is skipped
//   ("download/photos/train/cat/1.jpg"). The rules below apply to the last such folder. Names stay
//   relative to the root.
// - With LabelsFrom::kFolder, only if splits are found there.
// - description() reports it.
//
// Splits
// - Folders at the root with images are splits if they are named as parse_split() accepts.
// - If there are also other folders with images, or more than ten images outside these, it is an
//   error, because their meaning is unknown. Up to ten images are left out and reported in
//   description().
// - With kNone, all folders are read as one tree without splits instead. With kFolder as well, if
//   images lie directly in the folders named like splits: these are then classes (a class may be
//   called "train").
//
// Labels
// - kFolder: the first folder below the root or split, at any depth, as in torchvision.
// - kAuto without splits: by class folder if every image is in CLASS/FILE. Up to ten images outside
//   the class folders, and no more than there are folders, are left out. Otherwise unlabelled.
//   description() names what was left out, or why there are no labels.
// - kAuto with splits: by class folder. A split is unlabelled if its folders share no name with
//   those of train. Images directly in a split's folder are unlabelled.
// - kNone: unlabelled.
// - Classes are the sorted union of the class folders of all splits.
//
// Skipped, and counted
// - hidden names, system files (skips.h) and exclusions, as OpenOptions says
// - pipes, sockets and devices
// - folders that winnow made for a cache or an index
//
// Unreadable
// - A folder that may not be listed counts as one unreadable input.
// - Symbolic links are followed, unless OpenOptions skips them. They are not followed back into a
//   folder that contains them, nor more than a hundred times into one folder. A link to nothing is
//   listed as unreadable.
// - EIO and ESTALE are retried a few times, in listing and in reading.
//
// Errors
// - UsageError: as above; a folder without images; a class folder without images, naming it, unless
//   these are allowed.
// - SystemError: the root may not be listed; a folder cannot be listed for other reasons.
std::unique_ptr<Source> open_image_folder(const std::filesystem::path& path,
                                          const OpenOptions& options);

}  // namespace winnow::datasets
