// What each kind of event adds to the sums, and what is written one by one.
#include "recording.h"

namespace hitch::frames {
namespace {

using format::BufferKind;
using format::Op;
using support::FakeThread;

TEST_F(Recording, TheClocksPriceIsTakenOffEveryCall) {
  frames_->set_prices(3, {256 * 10, 256 * 4, 0, 0});
  FakeThread thread(game_, 1);
  thread.alloc(100, 0x10, 8, 0x400000, 10);
  thread.alloc(200, 0x20, 8, 0x400000, 2);  // shorter than the price: 0, not negative
  thread.free(300, 0x10, 0x400100, 9);
  thread.alloc(400, 0x30, 8, 0x400000, 3);
  drain(1000);
  finish(1001);
  EXPECT_EQ(row(0).alloc_ticks, 7u);
  EXPECT_EQ(row(0).free_ticks, 6u);
  EXPECT_EQ(row(0).slowest_ticks, 7u);
  EXPECT_EQ(row(0).own_ticks, 3u * 10 + 1 * 4);
}

TEST_F(Recording, AReleasesTimeGoesToItsOwnFrameAndSite) {
  FakeThread thread(game_, 1);
  thread.alloc(100, 0x10, 8, 0x400000, 1);
  thread.frame(490, 500);
  thread.free(600, 0x10, 0x400100, 77);
  thread.frame(990, 1000);
  thread.alloc(1100, 0x20, 8, 0x400000, 1);  // brings the 77
  thread.free(1200, 0x20, 0x400200, 5);      // brought by the slot at the end
  drain(1300);
  finish(1301);
  EXPECT_EQ(row(1).free_ticks, 77u);
  EXPECT_EQ(row(2).free_ticks, 5u);
  std::uint64_t site_ticks = 0;
  for (const trace::FrameSite& r : out_.all<trace::FrameSite>()) {
    const auto& site = out_.all<trace::Site>()[r.site];
    if (site.address == 0x400100) {
      EXPECT_EQ(r.frame, 1u);
      EXPECT_EQ(r.frees, 1u);
      site_ticks += r.ticks;
    }
  }
  EXPECT_EQ(site_ticks, 77u);
}

TEST_F(Recording, AReleasesTimeReachesAFrameThatIsWritten) {
  FakeThread thread(game_, 1);
  thread.frame(490, 500);
  thread.free(600, 0x10, 0x400100, 77);
  thread.frame(990, 1000);
  drain(500000);
  thread.alloc(600000, 0x20, 8, 0x400000, 1);
  drain(700000);
  finish(700001);
  EXPECT_EQ(row(1).free_ticks, 77u);
  EXPECT_EQ(row(1).frees, 1u);
  EXPECT_EQ(frames_->timeline().late(), 0u);
}

TEST_F(Recording, SitesAreSummedPerFrameThreadAndSite) {
  FakeThread a(game_, 1);
  FakeThread b(game_, 2);
  for (std::uint64_t i = 1; i <= 10; ++i) {
    a.alloc(i * 10, i * 0x100, 10, 0x400000 + i % 2, i);
    b.alloc(i * 10, i * 0x100 + 0x10000, 5, 0x400000, 1);
  }
  drain(1000);
  finish(1001);
  EXPECT_EQ(out_.all<trace::Site>().size(), 2u);
  EXPECT_EQ(out_.all<trace::FrameSite>().size(), 3u);
  EXPECT_EQ(out_.sum(&trace::FrameSite::allocs), 20u);
  EXPECT_EQ(out_.sum(&trace::FrameSite::bytes), 150u);
  for (const trace::FrameSite& r : out_.all<trace::FrameSite>()) {
    if (r.thread == 0 && out_.all<trace::Site>()[r.site].address == 0x400000) {
      EXPECT_EQ(r.ticks, 2u + 4 + 6 + 8 + 10);
      EXPECT_EQ(r.slowest_ticks, 10u);
    }
  }
}

TEST_F(Recording, ReallocOutcomes) {
  FakeThread t(game_, 1);
  t.alloc(100, 0x1000, 10, 0x400000, 1);
  t.realloc_begin(200, 0x1000, 0x400500);
  t.realloc_end(BufferKind::kReallocMoved, 210, 0x2000, 20, 0x400500, 10);
  drain(300);
  EXPECT_EQ(frames_->blocks().live().count(), 1u);
  EXPECT_EQ(frames_->blocks().live().bytes(), 20u);
  t.realloc_begin(400, 0x2000, 0x400500);
  t.realloc_end(BufferKind::kReallocInPlace, 410, 0x2000, 30, 0x400500, 10);
  drain(500);
  EXPECT_EQ(frames_->blocks().live().bytes(), 30u);
  t.realloc_begin(600, 0x2000, 0x400500);
  t.realloc_end(BufferKind::kReallocFailed, 610, 0x2000, 1 << 30, 0x400500, 10);
  drain(700);
  EXPECT_EQ(frames_->blocks().live().count(), 1u);  // the old block lives on, as it was
  EXPECT_EQ(frames_->blocks().live().bytes(), 30u);
  t.realloc_begin(800, 0x2000, 0x400500);
  t.realloc_end(BufferKind::kReallocFreed, 810, 0, 0, 0x400500, 10);
  drain(900);
  EXPECT_EQ(frames_->blocks().live().count(), 0u);
  t.alloc(1000, 0x3000, 10, 0x400000, 1);
  t.realloc_begin(1100, 0x3000, 0x400500);  // the game dies inside
  drain(1200);
  finish(1201);
  EXPECT_EQ(frames_->blocks().live().count(), 0u);
  EXPECT_EQ(row(0).reallocs, 4u);
  EXPECT_EQ(row(0).realloc_ticks, 40u);
  EXPECT_EQ(row(0).bytes, 10u + 20 + 30 + 10);  // what failed got nothing
  EXPECT_EQ(frames_->blocks().unknown_frees(), 0u);
  EXPECT_EQ(frames_->blocks().implied_frees(), 0u);
}

TEST_F(Recording, AFailedAllocationIsACallWithoutBytes) {
  FakeThread t(game_, 1);
  t.alloc(100, 0, std::uint64_t{1} << 50, 0x400000, 5);
  t.alloc(200, 0x1000, 10, 0x400000, 5);
  drain(300);
  finish(301);
  EXPECT_EQ(row(0).allocs, 2u);
  EXPECT_EQ(row(0).bytes, 10u);
  EXPECT_EQ(row(0).alloc_ticks, 10u);
  EXPECT_TRUE(out_.all<trace::LargeBlock>().empty());
  EXPECT_EQ(frames_->blocks().live().count(), 1u);
}

TEST_F(Recording, AReallocChainKeepsOneBlock) {
  FakeThread t(game_, 1);
  t.alloc(10, 0x1000, 1, 0x400000, 1);
  std::uint64_t key = 10;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    t.realloc_begin(key += 10, 0x1000 * i, 0x400500);
    t.realloc_end(BufferKind::kReallocMoved, key += 10, 0x1000 * (i + 1), i, 0x400500, 5);
  }
  t.free(key += 10, 0x1000 * 1001, 0x400600, 1);
  drain(key + 100);
  finish(key + 101);
  EXPECT_EQ(frames_->blocks().live().count(), 0u);
  EXPECT_EQ(frames_->blocks().live().bytes(), 0u);
  EXPECT_EQ(out_.sum(&trace::FrameThread::reallocs), 1000u);
}

TEST_F(Recording, AGapDropsWhatWasOpen) {
  FakeThread t(game_, 1);
  t.alloc(50, 0x1000, 10, 0x400000, 1);
  t.free(100, 0x500, 0x400100, 999);
  t.realloc_begin(200, 0x1000, 0x400500);
  t.raw({format::make_head(BufferKind::kGapEnd, 300), 5});
  // A failed realloc after the gap is another call's: the old block must not come back.
  t.realloc_end(BufferKind::kReallocFailed, 400, 0x1000, 20, 0x400500, 3);
  drain(500);
  finish(501);
  EXPECT_EQ(frames_->blocks().live().count(), 0u);
  EXPECT_EQ(row(0).reallocs, 1u);
}

TEST_F(Recording, LossesBecomeGapRowsAndMarkTheirFrame) {
  FakeThread t(game_, 1);
  t.frame(90, 100);
  t.alloc(150, 0x10, 8, 0x400000, 1);
  t.slot().gap_events = 3;
  t.slot().gap_bytes = 30;
  t.slot().gap_ticks = 12;
  t.slot().gap_first_key = 160;
  t.slot().gap_last_key = 190;
  drain(195);
  t.frame(200, 201);
  t.frame(300, 301);
  drain(400);
  finish(401);
  ASSERT_EQ(out_.all<trace::Gap>().size(), 1u);
  const trace::Gap& gap = out_.all<trace::Gap>()[0];
  EXPECT_EQ(gap.frame, 1u);
  EXPECT_EQ(gap.reason, 1u);
  EXPECT_EQ(gap.events, 3u);
  EXPECT_EQ(gap.bytes, 30u);
  EXPECT_EQ(gap.ticks, 12u);
  EXPECT_EQ(gap.begin, 160u);
  EXPECT_EQ(gap.end, 190u);
  EXPECT_EQ(frame(1).flags & 1, 1u);
  EXPECT_EQ(frame(2).flags & 1, 0u);
}

TEST_F(Recording, OutliersAreWrittenWithStackSiteAndTag) {
  FakeThread t(game_, 1);
  t.text(BufferKind::kTagDefine, 10, 1, 0, "physics");
  t.raw({format::make_head(BufferKind::kTagPush, 20), 1});
  t.stack(500, 0, {0x400222, 0x400111, 0x400000});
  t.alloc(500, 0x1000, 64, 0x400000, 200);
  t.outlier(501, 0x1000, 0x400000, Op::kMalloc, 64, 200);
  t.raw({format::make_head(BufferKind::kTagPop, 510)});
  t.free(600, 0x1000, 0x400300, 150);
  t.stack(751, 0, {});
  t.outlier(751, 0x1000, 0x400300, Op::kFree, 0, 150);
  drain(1000);
  finish(1001);
  const auto& outliers = out_.all<trace::Outlier>();
  ASSERT_EQ(outliers.size(), 2u);
  EXPECT_EQ(outliers[0].begin, 301u);
  EXPECT_EQ(outliers[0].ticks, 200u);
  EXPECT_EQ(outliers[0].stack, 1u);
  EXPECT_EQ(out_.all<trace::Text>()[outliers[0].tag - 1].text, "physics");
  EXPECT_EQ(out_.all<trace::Site>()[outliers[0].site].address, 0x400000u);
  ASSERT_EQ(out_.all<trace::Stack>().size(), 1u);
  EXPECT_EQ(out_.all<trace::Stack>()[0].addresses,
            (std::vector<std::uint64_t>{0x400000, 0x400111, 0x400222}));
  EXPECT_EQ(outliers[1].size, 64u);  // known from the block that was released
  EXPECT_EQ(outliers[1].stack, 0u);
  EXPECT_EQ(outliers[1].tag, 0u);
  EXPECT_EQ(frame(0).flags & 2, 2u);
  // The outlier record is no further call.
  EXPECT_EQ(row(0).allocs, 1u);
  EXPECT_EQ(row(0).frees, 1u);
}

TEST_F(Recording, StacksComeAsDifferencesAndTellSitesApart) {
  FakeThread t(game_, 1);
  t.stack(100, 0, {0x400222, 0x400111, 0x400000});
  t.alloc(100, 0x1000, 64, 0x400000, 1);
  t.alloc(110, 0x2000, 64, 0x400000, 1);  // the same stack: no record
  t.stack(120, 1, {0x400133, 0x400000});
  t.alloc(120, 0x3000, 64, 0x400000, 1);
  t.stack(130, 2, {});  // one entry less
  t.alloc(130, 0x4000, 64, 0x400133, 1);
  t.free(140, 0x1000, 0x400300, 1);  // by its caller, whatever the stack
  drain(1000);
  finish(1001);
  const auto sites = out_.all<trace::Site>();
  ASSERT_EQ(sites.size(), 4u);
  const auto stacks = out_.all<trace::Stack>();
  ASSERT_EQ(stacks.size(), 3u);
  using List = std::vector<std::uint64_t>;
  EXPECT_EQ(stacks[sites[0].stack - 1].addresses, (List{0x400000, 0x400111, 0x400222}));
  EXPECT_EQ(stacks[sites[1].stack - 1].addresses, (List{0x400000, 0x400133, 0x400222}));
  EXPECT_EQ(stacks[sites[2].stack - 1].addresses, (List{0x400133, 0x400222}));
  EXPECT_EQ(sites[3].stack, 0u);
  EXPECT_EQ(sites[3].address, 0x400300u);
}

TEST_F(Recording, AStackThatKeepsWhatIsNotThereIsNotKnown) {
  FakeThread t(game_, 1);
  t.stack(100, 3, {0x400111});
  t.alloc(100, 0x1000, 64, 0x400000, 1);
  t.stack(110, 0, {0x400222, 0x400000});
  t.alloc(110, 0x2000, 64, 0x400000, 1);
  drain(1000);
  finish(1001);
  const auto sites = out_.all<trace::Site>();
  ASSERT_EQ(sites.size(), 2u);
  EXPECT_EQ(sites[0].stack, 0u);
  EXPECT_EQ(sites[1].stack, 1u);
}

TEST_F(Recording, TagsAreSummedByTheInnermostName) {
  FakeThread t(game_, 1);
  t.text(BufferKind::kTagDefine, 1, 1, 0, "outer");
  t.text(BufferKind::kTagDefine, 1, 2, 0, "inner");
  t.raw({format::make_head(BufferKind::kTagPush, 10), 1});
  t.alloc(100, 0x1000, 10, 0x400000, 1);
  t.raw({format::make_head(BufferKind::kTagPush, 110), 2});
  t.alloc(200, 0x2000, 20, 0x400000, 2);
  t.free(250, 0x1000, 0x400000, 4);
  t.raw({format::make_head(BufferKind::kTagPop, 260)});
  t.alloc(300, 0x3000, 40, 0x400000, 8);
  t.raw({format::make_head(BufferKind::kTagPop, 310)});
  t.raw({format::make_head(BufferKind::kTagPop, 320)});  // one too many
  t.alloc(400, 0x4000, 80, 0x400000, 16);
  drain(1000);
  finish(1001);
  const auto named = [&](const char* name) {
    return [this, name](const trace::FrameTag& tag) {
      return out_.all<trace::Text>()[tag.tag - 1].text == name;
    };
  };
  EXPECT_EQ(out_.sum_if(&trace::FrameTag::calls, named("outer")), 2u);
  EXPECT_EQ(out_.sum_if(&trace::FrameTag::bytes, named("outer")), 50u);
  EXPECT_EQ(out_.sum_if(&trace::FrameTag::ticks, named("outer")), 9u);
  EXPECT_EQ(out_.sum_if(&trace::FrameTag::calls, named("inner")), 2u);
  EXPECT_EQ(out_.sum_if(&trace::FrameTag::bytes, named("inner")), 20u);
  EXPECT_EQ(out_.sum_if(&trace::FrameTag::ticks, named("inner")), 6u);
}

TEST_F(Recording, HeapsCountApartFromTheAllocator) {
  FakeThread t(game_, 1);
  t.text(BufferKind::kHeapDefine, 10, 7, 0, "level");
  t.text(BufferKind::kHeapDefine, 11, 8, 8, "level/particles");
  t.alloc(100, 0x100000, 65536, 0x400000, 1);
  const auto heap_alloc = [&](std::uint64_t key, std::uint64_t block, std::uint64_t size,
                              std::uint64_t heap) {
    t.raw({format::make_head(BufferKind::kHeapAlloc, key), block, 0x400700, size, heap});
  };
  heap_alloc(200, 0x100000, 1000, 7);
  heap_alloc(210, 0x101000, 2000, 7);
  heap_alloc(220, 0x101000, 100, 8);  // inside a block of its parent
  t.raw({format::make_head(BufferKind::kHeapFree, 230), 0x100000, 0x400700, 7});
  t.frame(290, 300);
  t.raw({format::make_head(BufferKind::kHeapReset, 400), 7});
  t.frame(490, 500);
  drain(600);
  finish(601);
  ASSERT_EQ(out_.all<trace::Heap>().size(), 2u);
  EXPECT_EQ(out_.all<trace::Heap>()[0].parent, 0u);
  EXPECT_EQ(out_.all<trace::Heap>()[1].parent, 1u);
  EXPECT_EQ(row(0).allocs, 1u);
  EXPECT_EQ(row(0).bytes, 65536u);
  EXPECT_EQ(row(0).heap_allocs, 3u);
  EXPECT_EQ(row(0).heap_frees, 1u);
  EXPECT_EQ(row(0).heap_bytes, 3100u);
  EXPECT_EQ(row(1).heap_frees, 1u);
  EXPECT_EQ(frame(0).live_blocks, 1u);
  EXPECT_EQ(frame(0).live_bytes, 65536u);
  for (const trace::FrameHeap& r : out_.all<trace::FrameHeap>()) {
    if (r.frame == 0 && r.heap == 0) {
      EXPECT_EQ(r.allocs, 2u);
      EXPECT_EQ(r.bytes, 3000u);
      EXPECT_EQ(r.live_blocks, 1u);
      EXPECT_EQ(r.live_bytes, 2000u);
    }
    if (r.frame == 1 && r.heap == 0) {
      EXPECT_EQ(r.frees, 1u);
      EXPECT_EQ(r.live_blocks, 0u);
    }
  }
}

TEST_F(Recording, MappingsAndLargeBlocks) {
  FakeThread t(game_, 1);
  t.alloc(100, 0x7f0000000000, 1024 * 1024, 0x400000, 1);
  t.alloc(200, 0x7f1000000000, 1024 * 1024 - 1, 0x400000, 1);
  t.raw({format::make_head(BufferKind::kMap, 300), 0x7f2000000000, 0x400100,
         1000 | std::uint64_t{9} << 32});
  t.raw({format::make_head(BufferKind::kUnmap, 400), 0x7f2000000000, 0x400100, 1000});
  drain(1000);
  finish(1001);
  const auto& large = out_.all<trace::LargeBlock>();
  ASSERT_EQ(large.size(), 2u);
  EXPECT_EQ(large[0].size, 1024u * 1024);
  EXPECT_EQ(large[0].op, static_cast<std::uint64_t>(Op::kMalloc));
  EXPECT_EQ(large[1].size, 1000u * 4096);
  EXPECT_EQ(large[1].op, static_cast<std::uint64_t>(Op::kMmap));
  EXPECT_EQ(row(0).map_calls, 2u);
  EXPECT_EQ(row(0).map_bytes, 1000u * 4096);
  EXPECT_EQ(row(0).allocs, 2u);
}

TEST_F(Recording, MessagesAreRememberedByTheFramesAfterThem) {
  FakeThread t(game_, 1);
  t.frame(90, 100);
  t.text(BufferKind::kMessage, 150, 0, 0, "level 2 loaded");
  t.frame(190, 200);
  t.frame(290, 300);
  t.text(BufferKind::kMessage, 350, 0, 0, "boss \xff fight");
  t.frame(390, 400);
  drain(500);
  finish(501);
  const auto& texts = out_.all<trace::Text>();
  EXPECT_EQ(frame(0).message, 0u);
  EXPECT_EQ(texts[frame(1).message - 1].text, "level 2 loaded");
  EXPECT_EQ(texts[frame(2).message - 1].text, "level 2 loaded");
  EXPECT_EQ(texts[frame(3).message - 1].text, "boss ? fight");
  ASSERT_EQ(out_.all<trace::Message>().size(), 2u);
  EXPECT_EQ(out_.all<trace::Message>()[0].frame, 1u);
  EXPECT_EQ(out_.all<trace::Message>()[0].time, 150u);
}

TEST_F(Recording, HistogramsHoldEveryTimedCall) {
  FakeThread t(game_, 1);
  std::uint64_t key = 0;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    t.alloc(key += 10000, i * 64, 16, 0x400000, i);
    t.free(key += 10000, i * 64, 0x400000, 2 * i);
  }
  drain(key + 10000);
  finish(key + 10001);
  const auto calls = [&](std::uint64_t scope, std::uint64_t id, std::uint64_t op) {
    std::uint64_t sum = 0;
    for (const trace::Histogram& h : out_.all<trace::Histogram>()) {
      if (h.scope != scope || h.id != id || h.op != op) continue;
      for (std::size_t i = 1; i < h.buckets.size(); i += 2) sum += h.buckets[i];
    }
    return sum;
  };
  EXPECT_EQ(calls(0, 0, 0), 1000u);
  EXPECT_EQ(calls(0, 0, 1), 1000u);
  EXPECT_EQ(calls(1, 16, 0), 1000u);
  EXPECT_EQ(calls(1, 16, 1), 1000u);
  EXPECT_EQ(calls(2, 0, 0), 1000u);
  // The median bucket is within 3 % of the true median.
  for (const trace::Histogram& h : out_.all<trace::Histogram>()) {
    if (h.scope != 2 || h.op != 0) continue;
    std::uint64_t seen = 0;
    std::size_t i = 0;
    while (seen + h.buckets[i + 1] < 500) seen += h.buckets[(i += 2) - 1];
    EXPECT_NEAR(static_cast<double>(format::histogram_lower(static_cast<unsigned>(h.buckets[i]))),
                500.0, 500 * 0.032);
  }
}

}  // namespace
}  // namespace hitch::frames
