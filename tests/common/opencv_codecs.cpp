#include "tests/common/opencv_codecs.h"

#include <dlfcn.h>

#include <stdexcept>

#include "tests/common/opencv_codecs_module.h"

namespace winnow {
namespace {

template <class Function>
Function* codec(const char* name) {
  static void* const module = dlopen(WINNOW_OPENCV_CODECS, RTLD_NOW);
  void* const found = module == nullptr ? nullptr : dlsym(module, name);
  if (found == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<Function*>(found);
}

}  // namespace

bool opencv_encode(const std::string& ending, const cv::Mat& picture,
                   std::vector<unsigned char>& out, const std::vector<int>& options) {
  static auto* const encode = codec<decltype(winnow_opencv_encode)>("winnow_opencv_encode");
  return encode(ending, picture, out, options);
}

cv::Mat opencv_decode(const std::vector<unsigned char>& bytes, int flags) {
  static auto* const decode = codec<decltype(winnow_opencv_decode)>("winnow_opencv_decode");
  cv::Mat picture;
  decode(bytes, flags, picture);
  return picture;
}

}  // namespace winnow
