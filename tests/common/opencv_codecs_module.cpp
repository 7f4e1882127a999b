#include "tests/common/opencv_codecs_module.h"

#include <opencv2/imgcodecs.hpp>

bool winnow_opencv_encode(const std::string& ending, const cv::Mat& picture,
                          std::vector<unsigned char>& out, const std::vector<int>& options) {
  return cv::imencode(ending, picture, out, options);
}

void winnow_opencv_decode(const std::vector<unsigned char>& bytes, int flags, cv::Mat& picture) {
  picture = cv::imdecode(bytes, flags);
}
