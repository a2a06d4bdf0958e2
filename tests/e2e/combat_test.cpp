// The game whose hitches are known: frames found in a stripped binary without marks, and each
// planted cause visible in what is recorded of its frame. Truth comes from a file that neither shim
// nor report reads.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "format/buffer_records.h"
#include "support/trace_facts.h"

namespace hitch::support {
namespace {

constexpr const char* kGame = HITCH_EXAMPLES_DIR "/combat/combat_stripped";

// What one frame holds of the presenting thread and of the others.
struct FrameFacts {
  double calls = 0;
  double minor_faults = 0;
  double other_faults = 0;
  double largest = 0;  // block, in bytes
};

struct Combat {
  RunResult run;
  model::Trace trace;
  std::vector<FrameFacts> frames;
  std::map<int, std::string> planted;
};

std::map<int, std::string> read_truth(const std::string& path) {
  std::map<int, std::string> planted;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    int frame = 0;
    char plant[16] = {};
    if (std::sscanf(line.c_str(), "{\"frame\": %d, \"plant\": \"%15[a-z]", &frame, plant) == 2)
      planted[frame] = plant;
  }
  return planted;
}

// As the game numbers frames: its first present ends start-up and has no facts.
std::vector<FrameFacts> facts_of(const model::Trace& trace) {
  std::vector<FrameFacts> facts(1);
  std::map<std::uint64_t, double> largest;
  for (const auto& block : trace.large_blocks)
    largest[block.frame] = std::max(largest[block.frame], static_cast<double>(block.size));
  for (std::size_t i = 0; i < trace.frames.size(); ++i) {
    const model::Frame& frame = trace.frames[i];
    if (frame.kind != model::FrameKind::kPresent) continue;
    FrameFacts fact;
    for (const model::FrameThread& row : trace.threads_of(model::FrameId(i))) {
      if (row.thread == frame.thread)
        fact.calls += static_cast<double>(row.allocs + row.frees + row.reallocs);
    }
    fact.minor_faults = static_cast<double>(frame.minor_faults);
    fact.other_faults = static_cast<double>(frame.process_minor_faults) - fact.minor_faults;
    fact.largest = largest[frame.number];
    facts.push_back(fact);
  }
  return facts;
}

Combat play(std::vector<std::string> flags) {
  Combat combat;
  std::vector<std::string> command = {kGame, "--truth", "truth.jsonl", "--no-limit"};
  command.insert(command.end(), flags.begin(), flags.end());
  combat.run = run_target({.command = command, .environment = {{"SDL_VIDEODRIVER", "dummy"}}});
  combat.planted = read_truth(combat.run.folder + "/truth.jsonl");
  if (combat.run.traces.size() == 1) {
    combat.trace = read_trace(combat.run.traces[0]);
    combat.frames = facts_of(combat.trace);
  }
  return combat;
}

double median(const std::vector<FrameFacts>& frames, double FrameFacts::*value) {
  std::vector<double> values;
  for (const FrameFacts& frame : frames) values.push_back(frame.*value);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

class CombatTest : public testing::Test {
 protected:
  void SetUp() override {
    if (access(kGame, X_OK) != 0) GTEST_SKIP() << "built without SDL2";
  }
};

TEST_F(CombatTest, EveryPlantShowsInTheCountsOfItsFrameAndOfNoOther) {
  const Combat combat = play({"--frames", "600", "--seed", "7"});
  ASSERT_EQ(combat.run.exit_status, 0) << combat.run.describe();
  ASSERT_EQ(combat.frames.size(), 600u) << combat.run.describe();
  ASSERT_EQ(combat.planted.size(), 10u);
  EXPECT_EQ(dropped(combat.trace), 0u);
  for (const model::Frame& frame : combat.trace.frames) {
    if (frame.kind != model::FrameKind::kPresent) continue;
    EXPECT_EQ(frame.api, static_cast<std::uint8_t>(format::Api::kSdl));
  }

  const double calls = median(combat.frames, &FrameFacts::calls);
  constexpr double kMebibyte = 1024 * 1024;
  constexpr double kManyFaults = 300;  // a fresh MiB has 256 pages
  for (std::size_t i = 120; i < combat.frames.size(); ++i) {
    const FrameFacts& frame = combat.frames[i];
    const auto found = combat.planted.find(static_cast<int>(i));
    const std::string plant = found == combat.planted.end() ? "" : found->second;
    const std::string where = "frame " + std::to_string(i) + " " + plant;
    EXPECT_EQ(frame.calls > 5 * calls + 1000, plant == "alloc") << where << " " << frame.calls;
    EXPECT_EQ(frame.minor_faults > kManyFaults, plant == "fault") << where;
    EXPECT_EQ(frame.other_faults > kManyFaults, plant == "wait") << where;
    EXPECT_EQ(frame.largest >= kMebibyte, plant == "fault" || plant == "wait") << where;
  }
}

TEST_F(CombatTest, APlantThatIsOffLeavesNothing) {
  const Combat combat = play({"--frames", "400", "--seed", "7", "--no-plant", "all"});
  ASSERT_EQ(combat.run.exit_status, 0) << combat.run.describe();
  ASSERT_EQ(combat.frames.size(), 400u) << combat.run.describe();
  EXPECT_TRUE(combat.planted.empty());
  for (std::size_t i = 120; i < combat.frames.size(); ++i) {
    EXPECT_LT(combat.frames[i].minor_faults, 300) << "frame " << i;
    EXPECT_LT(combat.frames[i].largest, 1024 * 1024) << "frame " << i;
  }
}

TEST_F(CombatTest, TheFightIsTheSameWithAndWithoutTheShim) {
  const std::vector<std::string> command = {kGame, "--no-limit", "--frames", "200", "--seed", "3"};
  const std::map<std::string, std::string> dummy = {{"SDL_VIDEODRIVER", "dummy"}};
  const RunResult plain =
      run_target({.command = command, .launch = Launch::kPlain, .environment = dummy});
  const RunResult bare =
      run_target({.command = command, .launch = Launch::kBare, .environment = dummy});
  EXPECT_EQ(plain.exit_status, 0) << plain.describe();
  EXPECT_EQ(bare.exit_status, 0) << bare.describe();
  EXPECT_EQ(plain.out, bare.out);
}

TEST_F(CombatTest, WorkersAreNamedAndAllocate) {
  const Combat combat = play({"--frames", "100", "--no-plant", "all"});
  ASSERT_EQ(combat.run.exit_status, 0) << combat.run.describe();
  std::map<std::string, std::uint64_t> allocs;
  for (const model::FrameThread& row : combat.trace.frame_threads)
    allocs[combat.trace.threads[row.thread.index()].name] += row.allocs;
  for (int worker = 0; worker < 4; ++worker)
    EXPECT_GT(allocs["worker " + std::to_string(worker)], 0u) << worker;
}

}  // namespace
}  // namespace hitch::support
