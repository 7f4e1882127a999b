// The temperature of cards, read through the libraries of fake_driver.cpp in place of NVIDIA's.

#include "train/run/log/rank_temperature.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "places.h"

namespace winnow::train::rank_temperature_test {

// Loads the fake libraries first, so that opening NVIDIA's by name gives them.
class Thermometers : public testing::Test {
 protected:
  ~Thermometers() override {
    for (void* library : {cuda_, nvml_}) ::dlclose(library);
  }
  void SetUp() override {
    ASSERT_NE(cuda_, nullptr) << ::dlerror();
    ASSERT_NE(nvml_, nullptr) << ::dlerror();
  }

 private:
  void* const cuda_ = ::dlopen(WINNOW_FAKE_DRIVER "/libcuda.so.1", RTLD_NOW);
  void* const nvml_ = ::dlopen(WINNOW_FAKE_DRIVER "/libnvidia-ml.so.1", RTLD_NOW);
};

TEST_F(Thermometers, ReadsTheCardOfTheRankWhichCountsAgainBehindTheLast) {
  EXPECT_EQ(open_thermometer(0)(), 40);
  EXPECT_EQ(open_thermometer(1)(), 41);
  EXPECT_EQ(open_thermometer(4)(), 41);
}

TEST_F(Thermometers, HasNothingOfACardThatDoesNotSay) {
  EXPECT_EQ(open_thermometer(2)(), std::nullopt);
}

TEST_F(Thermometers, SeveralAreOpenAtOnceAndOutliveTheirCopies) {
  const Thermometer first = open_thermometer(0);
  {
    const Thermometer second = first;
    open_thermometer(1)();
  }
  EXPECT_EQ(first(), 40);
}

}  // namespace winnow::train::rank_temperature_test
