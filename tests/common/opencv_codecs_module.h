#pragma once

#include <opencv2/core/mat.hpp>
#include <string>
#include <vector>

// The functions of the loaded module that opencv_codecs.cpp calls.
extern "C" {
bool winnow_opencv_encode(const std::string& ending, const cv::Mat& picture,
                          std::vector<unsigned char>& out, const std::vector<int>& options);
void winnow_opencv_decode(const std::vector<unsigned char>& bytes, int flags, cv::Mat& picture);
}
