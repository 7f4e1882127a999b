#include "tools/last_words.h"

#include <atomic>

namespace winnow::tools {
namespace {

std::atomic<const char*> last_words{nullptr};

}  // namespace

void set_last_words(const char* text) noexcept { last_words = text; }

const char* take_last_words() noexcept { return last_words.exchange(nullptr); }

}  // namespace winnow::tools
