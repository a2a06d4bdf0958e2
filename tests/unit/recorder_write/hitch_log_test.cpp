#include "recorder/write/hitch_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/record_list.h"

namespace hitch::write {
namespace {

namespace trace = format::trace;

class HitchLogTest : public ::testing::Test {
 protected:
  HitchLogTest()
      : process_(getpid()),
        frames_(frames::AggregatorConfig{.tsc_hz = 1'000'000}, process_, false, out_),
        log_({{1.5, 6}, 1'000'000, false}, frames_) {
    char pattern[] = "/tmp/hitch-log-XXXXXX";
    root_ = mkdtemp(pattern);
  }
  ~HitchLogTest() override { std::filesystem::remove_all(root_); }

  // One tick is one microsecond.
  void frame(std::uint64_t us, std::uint64_t present_us = 0) {
    trace::Frame record;
    record.id = next_id_++;
    record.begin = at_;
    record.end = at_ += us;
    record.present_ticks = present_us;
    record.cpu_ns = 5'000'000;
    record.minor_faults = 1234;
    record.message = message_;
    frames::ThreadDigest digest;
    digest.ticks = 2500;
    digest.calls = 5021;
    log_.frame_closed({record, digest, 0});
  }
  std::string text() {
    std::ifstream in(root_ + "/log");
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
  }
  static std::size_t count(const std::string& text, const std::string& word) {
    std::size_t n = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      ++n;
    }
    return n;
  }

  support::RecordList out_;
  resolve::ProcessFiles process_;
  frames::FrameAggregator frames_;
  HitchLog log_;
  std::string root_;
  std::uint64_t next_id_ = 0;
  std::uint64_t at_ = 0;
  std::uint64_t message_ = 0;
};

TEST_F(HitchLogTest, EveryHitchIsALineThatSaysWhatIsKnown) {
  message_ = frames_.texts().id("level 2 loaded");
  for (int i = 0; i < 200; ++i) frame(i == 100 ? 33100 : 16700);
  ASSERT_TRUE(log_.open(root_ + "/log"));
  log_.finish();
  const std::string all = text();
  EXPECT_EQ(log_.hitches(), 1u);
  EXPECT_NE(
      all.find("[     1.670 s] hitch: frame 100 took 33.1 ms, 16.4 more than the median 16.7; "
               "allocator 2.50 ms in 5,021 calls, 1,234 + 0 page faults, off the CPU 28.1 ms; "
               "after \"level 2 loaded\""),
      std::string::npos)
      << all;
  EXPECT_EQ(count(all, "hitch:"), 1u);
}

TEST_F(HitchLogTest, WorkHiddenByVsyncIsAClassOfItsOwn) {
  for (int i = 0; i < 200; ++i) frame(16700, i == 100 ? 700 : 9700);
  log_.open(root_ + "/log");
  log_.finish();
  EXPECT_NE(text().find("hitch hidden by vsync: frame 100 worked 16.0 ms, 9.0 more"),
            std::string::npos)
      << text();
}

TEST_F(HitchLogTest, OutliersAreLimitedToTwentyASecond) {
  log_.open(root_ + "/log");
  // Sites and threads that the lines name.
  frames_.on_thread_start(0, static_cast<std::uint32_t>(getpid()));
  const std::uint32_t site =
      frames_.sites().id({0x1234, 0, resolve::SiteClass::kAlloc}, format::Op::kMalloc);
  for (std::uint64_t i = 0; i < 100; ++i) {
    trace::Outlier outlier;
    outlier.begin = i * 1000;  // a tenth of a second in all
    outlier.op = static_cast<std::uint64_t>(format::Op::kMalloc);
    outlier.size = 4096;
    outlier.ticks = 81;
    outlier.site = site;
    log_.outlier(outlier);
  }
  trace::Outlier later;
  later.begin = 2'000'000;
  later.site = site;
  log_.outlier(later);
  log_.finish();
  const std::string all = text();
  EXPECT_EQ(count(all, "outlier: "), 21u);
  EXPECT_NE(all.find("80 more outliers in that second"), std::string::npos);
  EXPECT_NE(all.find("malloc of 4,096 bytes took 81.0 us in thread 0"), std::string::npos);
  EXPECT_NE(all.find("at 0x1234"), std::string::npos);
}

TEST_F(HitchLogTest, PseudoFramesAreNeverHitches) {
  log_.open(root_ + "/log");
  for (int i = 0; i < 200; ++i) {
    trace::Frame record;
    record.kind = 1;
    record.end = i == 100 ? 100000 : 1000;
    log_.frame_closed({record, {}, 0});
  }
  log_.finish();
  EXPECT_EQ(log_.hitches(), 0u);
}

}  // namespace
}  // namespace hitch::write
