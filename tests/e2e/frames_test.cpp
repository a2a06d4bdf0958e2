// Frames are found through unmodified binaries, however they got at the present call, and counted
// once.
#include <gtest/gtest.h>
#include <unistd.h>

#include "format/buffer_records.h"
#include "support/trace_facts.h"

namespace hitch::support {
namespace {

// 20 presents: 19 frames lie between them. What precedes the first is start-up, what follows the
// last unfinished.
constexpr std::size_t kFrames = 19;

void expect_frames(const RunResult& run, format::Api api) {
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(run.said("ok"), 1) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_EQ(frames_of_kind(trace, model::FrameKind::kPresent), kFrames);
  for (std::size_t i = 0; i < trace.frames.size(); ++i) {
    const model::Frame& frame = trace.frames[i];
    if (frame.kind != model::FrameKind::kPresent) continue;
    EXPECT_EQ(frame.api, static_cast<std::uint8_t>(api)) << "frame " << i;
    EXPECT_LE(frame.begin, frame.end);
    EXPECT_TRUE(frame.thread.has_value());
  }
  EXPECT_EQ(dropped(trace), 0u);
}

struct Linked {
  const char* way;
  format::Api api;
};
void PrintTo(const Linked& linked, std::ostream* out) { *out << linked.way; }

class LinkedPresents : public testing::TestWithParam<Linked> {};
TEST_P(LinkedPresents, AreFrames) {
  expect_frames(run_target({.command = {"present_linked", GetParam().way}}), GetParam().api);
}
INSTANTIATE_TEST_SUITE_P(
    Ways, LinkedPresents,
    testing::Values(Linked{"glx", format::Api::kGlx}, Linked{"msc", format::Api::kGlx},
                    Linked{"egl", format::Api::kEgl}, Linked{"khr", format::Api::kEgl},
                    Linked{"ext", format::Api::kEgl}, Linked{"sdl", format::Api::kSdl}),
    [](const auto& test) { return test.param.way; });

struct LookedUp {
  const char* library;
  const char* way;
  const char* name;
};
void PrintTo(const LookedUp& looked_up, std::ostream* out) {
  *out << looked_up.library << " " << looked_up.way << " " << looked_up.name;
}

class LookedUpPresents : public testing::TestWithParam<LookedUp> {};
TEST_P(LookedUpPresents, AreFrames) {
  const LookedUp& by = GetParam();
  const bool glx = by.name[0] == 'g';
  expect_frames(
      run_target({.command = {"present_looked_up", target_path(by.library), by.way, by.name}}),
      glx ? format::Api::kGlx : format::Api::kEgl);
}

std::vector<LookedUp> every_way() {
  std::vector<LookedUp> ways;
  for (const char* library : {"libfakegl.so.1", "libfakegl_symbolic.so"}) {
    for (const char* way : {"dlsym", "dlvsym", "glXGetProcAddress", "glXGetProcAddressARB"}) {
      ways.push_back({library, way, "glXSwapBuffers"});
      ways.push_back({library, way, "glXSwapBuffersMscOML"});
    }
    for (const char* way : {"dlsym", "dlvsym", "eglGetProcAddress"}) {
      ways.push_back({library, way, "eglSwapBuffers"});
      ways.push_back({library, way, "eglSwapBuffersWithDamageKHR"});
      ways.push_back({library, way, "eglSwapBuffersWithDamageEXT"});
    }
  }
  return ways;
}
INSTANTIATE_TEST_SUITE_P(Ways, LookedUpPresents, testing::ValuesIn(every_way()),
                         [](const auto& test) {
                           const bool symbolic = std::string(test.param.library).find("symbolic") !=
                                                 std::string::npos;
                           return std::string(symbolic ? "symbolic_" : "plain_") + test.param.way +
                                  "_" + test.param.name;
                         });

class SdlPresents : public testing::TestWithParam<const char*> {};
TEST_P(SdlPresents, AreFrames) {
  if (access(target_path("present_sdl").c_str(), X_OK) != 0) GTEST_SKIP() << "built without SDL2";
  expect_frames(run_target({.command = {"present_sdl", GetParam()},
                            .environment = {{"SDL_VIDEODRIVER", "dummy"}}}),
                format::Api::kSdl);
}
INSTANTIATE_TEST_SUITE_P(Ways, SdlPresents, testing::Values("render", "surface", "rects"),
                         [](const auto& test) { return test.param; });

TEST(FramesTest, AWrapperInFrontOfTheGlLibraryStillFindsTheNextOne) {
  expect_frames(run_target({.command = {"present_wrapped", "glx"}}), format::Api::kGlx);
  expect_frames(run_target({.command = {"present_wrapped", "sdl"}}), format::Api::kSdl);
}

TEST(FramesTest, EachFrameHasItsTenPairs) {
  const RunResult run = run_target({.command = {"present_linked", "glx"}});
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  std::size_t checked = 0;
  for (std::size_t i = 0; i < trace.frames.size(); ++i) {
    if (trace.frames[i].kind != model::FrameKind::kPresent) continue;
    ++checked;
    std::uint64_t allocs = 0, frees = 0;
    for (const model::FrameThread& row : trace.threads_of(model::FrameId(i))) {
      allocs += row.allocs;
      frees += row.frees;
    }
    EXPECT_EQ(allocs, 10u) << "frame " << i;
    EXPECT_EQ(frees, 10u) << "frame " << i;
  }
  EXPECT_EQ(checked, kFrames);
}

TEST(FramesTest, WithoutAPresentThereAreWindowsAndNoFrames) {
  const RunResult run = run_target({.command = {"pairs", "1000", "200"}});
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_EQ(frames_of_kind(trace, model::FrameKind::kPresent), 0u);
  EXPECT_GE(frames_of_kind(trace, model::FrameKind::kWindow), 5u);
  EXPECT_EQ(frame_totals(trace).allocs, 1000u);
}

}  // namespace
}  // namespace hitch::support
