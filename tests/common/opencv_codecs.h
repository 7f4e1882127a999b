#pragma once

#include <opencv2/core/mat.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

namespace winnow {

// cv::imencode and cv::imdecode, loaded on their first call. Linking them brings in GDAL and a
// hundred more libraries, which takes a sixth of a second at each start of a program.
bool opencv_encode(const std::string& ending, const cv::Mat& picture,
                   std::vector<unsigned char>& out, const std::vector<int>& options = {});
cv::Mat opencv_decode(const std::vector<unsigned char>& bytes, int flags);

}  // namespace winnow
