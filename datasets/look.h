#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace winnow::datasets {

// Questions to the file system. Symbolic links are followed. Thread-safe.
// Retry    Failures that network storage may have for a moment are retried (try_patiently).
// Out      A path that is missing or may not be examined counts as neither file nor folder.
// Errors   SystemError if EIO or ESTALE persist, so that a data set is not mistaken for another
//          one.

bool file_at(const std::filesystem::path& path);
bool folder_at(const std::filesystem::path& path);
// Whether an entry of a folder listing is a folder. Faster than folder_at(), because the entry
// usually knows its type.
bool is_folder(const std::filesystem::directory_entry& entry);

// Size in bytes of the file at `path`; nullopt if there is no file.
std::optional<std::uint64_t> size_at(const std::filesystem::path& path);

// The first `most` bytes of a file, or fewer if it is shorter; empty if it is missing or
// unreadable.
std::string first_bytes(const std::filesystem::path& path, std::size_t most);
// Whether a file counts as an image: by the ending of its name (layout.h) or, if there is none, by
// its first bytes.
bool is_listed_image(std::string_view name, const std::filesystem::path& path);

// Calls `take` for each entry of a folder, in no order, until `take` returns false. No calls if it
// is no folder or may not be listed.
void for_each_in(const std::filesystem::path& folder,
                 const std::function<bool(const std::filesystem::directory_entry&)>& take);

}  // namespace winnow::datasets
