// Records the shim writes into its chunks and the recorder drains: the private wire of one run.
//
// Every record is a whole number of 64-bit words. Word 0 of each is
//
//   63                                                8 7        0
//   +--------------------------------------------------+----------+
//   | key: TSC ticks since SharedHeader::tsc_base      |   kind   |
//   +--------------------------------------------------+----------+
//
// The key orders records of all threads: the moment before the real call for a release, after it
// for an allocation. Records of one thread have keys that never fall. Sizes and layouts are pinned
// below; change one and raise kSharedVersion in shared_memory.h.
#pragma once
#include <cstdint>

namespace hitch::format {

// Which entry point an allocation or release came through.
enum class Op : std::uint8_t {
  kMalloc = 0,
  kCalloc = 1,
  kRealloc = 2,  // realloc(NULL, n) as an allocation, realloc(p, 0) as a release
  kAligned = 3,  // memalign posix_memalign aligned_alloc valloc pvalloc
  kNew = 4,
  kNewArray = 5,
  kNewAligned = 6,
  kFree = 7,
  kDelete = 8,
  kDeleteArray = 9,
  kHeap = 10,  // a heap of the game's own, reported through hitch_heap_*
  kMmap = 11,
  kMunmap = 12,
  kMremap = 13,
  kCount = 14,
};

// clang-format off
enum class BufferKind : std::uint8_t {
  kPad         = 0x00,  // 1 word; nothing: fills a chunk that is closed early
  kAlloc       = 0x10,  // 4 words, kind | Op; key = t1:
                        //   w1 = block (48 bits) | low half of the previous free's ticks << 48
                        //   w2 = call site (48)  | high half of the previous free's ticks << 48
                        //   w3 = size (32 bits)  | duration in ticks << 32
  kAllocWide   = 0x20,  // 5 words, kind | Op; size or duration does not fit 32 bits:
                        //   w1, w2 as above; w3 = duration; w4 = size
  kFree        = 0x30,  // 3 words, kind | Op; key = t0, published before the real call; w1, w2 as above.
                        //   Its duration rides in the next record of the thread that has w1/w2
  kReallocBegin   = 0x40,  // 3 words, like kFree: old block is released
  kReallocMoved   = 0x41,  // 4 words, like kAlloc: new block; closes the thread's last kReallocBegin
  kReallocInPlace = 0x42,  // 4 words, like kAlloc
  kReallocFailed  = 0x43,  // 4 words, like kAlloc; w1 block = old block, which lives on
  kReallocFreed   = 0x44,  // 4 words, like kAlloc; realloc(p, 0) released the block; w1 block = 0
  kHeapAlloc   = 0x50,  // 5 words; like kAlloc, w4 = heap id (32) ; size clipped to 32 bits
  kHeapFree    = 0x51,  // 4 words; like kFree, w3 = heap id
  kHeapReset   = 0x52,  // 2 words; w1 = heap id: every live block of the heap is released
  kHeapDefine  = 0x53,  // TextRecord; id = heap, aux = parent heap id + 1, or 0
  kMap         = 0x58,  // 4 words, kMap | 0..: mmap: w1 = address, w2 = call site, w3 = pages | ticks << 32
  kUnmap       = 0x59,  // 4 words; the same
  kRemap       = 0x5a,  // 4 words; the same, w1 = new address
  kFrame       = 0x60,  // FrameWords words; see FrameRecord
  kFlush       = 0x61,  // FlushRecord: level count's sums of one thread since its last flush
  kOutlier     = 0x62,  // OutlierRecord; its callstack is the thread's last one
  kMessage     = 0x63,  // TextRecord; a line from hitch_message
  kTagDefine   = 0x64,  // TextRecord; id = tag
  kTagPush     = 0x65,  // 2 words; w1 = tag id
  kTagPop      = 0x66,  // 1 word
  kModule      = 0x67,  // ModuleRecord followed by its path: a module that is loaded now
  kModuleGone  = 0x68,  // 2 words; w1 = load bias: dlclose unmapped it
  kGapEnd      = 0x69,  // 2 words; w1 = events lost by this thread since its previous record
  kThreadStart = 0x6a,  // 2 words; w1 = thread id as the game sees it
  kRequest     = 0x6b,  // 2 words; w1 = a RequestKind, from the C API
  kStack       = 0x70,  // 2 words or more: the thread's callstack from now on, as the difference to its last one.
                        //   w1 and later = return addresses of fresh entries (48 bits), outermost first;
                        //   w1 also = outermost entries kept (8) << 48 | fresh entries (8) << 56.
                        //   Nothing kept and nothing fresh: not known
};
// clang-format on

constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << 48) - 1;
constexpr unsigned kAllocWords = 4;
constexpr unsigned kFreeWords = 3;
constexpr unsigned kMaxStackEntries = 120;
constexpr unsigned kMaxText = 240;
// No record is longer; the recorder rejects a chunk that claims one.
constexpr unsigned kMaxRecordWords = 128;

enum class Api : std::uint8_t {
  kNone = 0,
  kGlx = 1,
  kEgl = 2,
  kSdl = 3,
  kMark = 4,    // hitch_frame_mark
  kWindow = 5,  // recorder-made pseudo-frame
};

// Written by the presenting thread when the outermost present returns. Counters are the thread's
// cumulative ones (getrusage), so that a lost record costs nothing but resolution.
struct FrameRecord {
  std::uint64_t head;           // kind | present exit ticks
  std::uint64_t present_entry;  // ticks since tsc_base
  std::uint32_t epoch;          // frame epoch that ends with this record
  std::uint8_t api;             // Api
  std::uint8_t flags;           // bit 0: surface changed
  std::uint16_t reserved;
  std::uint64_t sleep_ticks;      // cumulative, this thread, inside sleep calls (limiter)
  std::uint64_t cpu_ns_at_entry;  // cumulative thread CPU time at present entry
  std::uint64_t cpu_ns;           // and at present exit
  std::uint32_t voluntary;        // cumulative context switches
  std::uint32_t involuntary;
  std::uint32_t minor_faults;  // cumulative, this thread
  std::uint32_t major_faults;
  std::uint32_t process_minor_faults;
  std::uint32_t process_major_faults;
  std::uint64_t process_cpu_ns;
};

// Level `count`: what a thread did since its last flush, written at its first call of a newer
// epoch.
struct FlushRecord {
  std::uint64_t head;   // kind | ticks at the flush
  std::uint32_t epoch;  // the epoch the sums belong to
  std::uint32_t reserved;
  std::uint64_t allocs;
  std::uint64_t frees;
  std::uint64_t reallocs;
  std::uint64_t bytes;
  std::uint64_t ticks;  // zero unless timed
};

struct OutlierRecord {
  std::uint64_t head;  // kind | key
  std::uint64_t block;
  std::uint64_t caller_op;  // call site (48) | Op << 48
  std::uint64_t size;
  std::uint64_t duration;  // ticks
};

// Entries of a callstack that stand for what is not known of it; always outermost.
constexpr std::uint64_t kStackTruncated = 1;  // no unwind information leads further out
constexpr std::uint64_t kStackCut = 2;        // deeper than is kept

// Text follows the header, zero padded to whole words.
struct TextRecord {
  std::uint64_t head;
  std::uint32_t id;
  std::uint32_t aux;
  std::uint32_t bytes;  // at most kMaxText
  std::uint32_t reserved;
};

struct ModuleRecord {
  std::uint64_t head;
  std::uint64_t bias;   // link_map l_addr
  std::uint64_t start;  // first mapped address
  std::uint64_t end;    // past the last
  std::uint8_t build_id[20];
  std::uint8_t build_id_bytes;  // 0: the module has none
  std::uint8_t reserved;
  std::uint16_t path_bytes;  // path follows, zero padded to whole words, cut to kMaxText
};

enum class RequestKind : std::uint64_t { kStart = 1, kStop = 2 };

static_assert(sizeof(FrameRecord) == 80 && sizeof(FlushRecord) == 56 &&
              sizeof(OutlierRecord) == 40);
static_assert(sizeof(TextRecord) == 24 && sizeof(ModuleRecord) == 56);

constexpr std::uint64_t make_head(BufferKind kind, Op op, std::uint64_t key) {
  return (key << 8) | static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(op);
}
constexpr std::uint64_t make_head(BufferKind kind, std::uint64_t key) {
  return (key << 8) | static_cast<std::uint64_t>(kind);
}
constexpr std::uint64_t key_of(std::uint64_t head) { return head >> 8; }
constexpr std::uint8_t kind_byte(std::uint64_t head) { return static_cast<std::uint8_t>(head); }
constexpr std::uint32_t words_for_bytes(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((bytes + 7) / 8);
}

// Length in words of the record that starts at `words`, of which `available` words are readable.
// Returns 0 when the record is malformed or does not fit: the caller must stop reading the chunk.
// Reads each length field once; the memory is the game's and may change under the reader.
inline unsigned record_words(const std::uint64_t* words, unsigned available) {
  if (available == 0) return 0;
  const std::uint8_t kind = kind_byte(words[0]);
  unsigned length = 0;
  switch (kind & 0xf0) {
    case 0x00:
      length = kind == 0 ? 1 : 0;
      break;
    case 0x10:
      length = kAllocWords;
      break;
    case 0x20:
      length = 5;
      break;
    case 0x30:
      length = kFreeWords;
      break;
    case 0x70: {
      if (kind != 0x70 || available < 2) return 0;
      const auto fresh = static_cast<unsigned>(words[1] >> 56);
      if (fresh > kMaxStackEntries) return 0;
      length = fresh > 1 ? 1 + fresh : 2;
      break;
    }
    case 0x40:
      length = kind == 0x40 ? kFreeWords : (kind <= 0x44 ? kAllocWords : 0);
      break;
    default:
      switch (static_cast<BufferKind>(kind)) {
        case BufferKind::kHeapAlloc:
          length = 5;
          break;
        case BufferKind::kHeapFree:
        case BufferKind::kMap:
        case BufferKind::kUnmap:
        case BufferKind::kRemap:
          length = 4;
          break;
        case BufferKind::kHeapReset:
        case BufferKind::kTagPush:
        case BufferKind::kModuleGone:
        case BufferKind::kGapEnd:
        case BufferKind::kThreadStart:
        case BufferKind::kRequest:
          length = 2;
          break;
        case BufferKind::kTagPop:
          length = 1;
          break;
        case BufferKind::kFrame:
          length = sizeof(FrameRecord) / 8;
          break;
        case BufferKind::kFlush:
          length = sizeof(FlushRecord) / 8;
          break;
        case BufferKind::kOutlier:
          length = sizeof(OutlierRecord) / 8;
          break;
        case BufferKind::kHeapDefine:
        case BufferKind::kMessage:
        case BufferKind::kTagDefine: {
          if (available < sizeof(TextRecord) / 8) return 0;
          const std::uint32_t bytes = static_cast<std::uint32_t>(words[2]);
          if (bytes > kMaxText) return 0;
          length = static_cast<unsigned>(sizeof(TextRecord) / 8) + words_for_bytes(bytes);
          break;
        }
        case BufferKind::kModule: {
          if (available < sizeof(ModuleRecord) / 8) return 0;
          const std::uint32_t bytes = static_cast<std::uint32_t>(words[6] >> 48);
          if (bytes > kMaxText) return 0;
          length = static_cast<unsigned>(sizeof(ModuleRecord) / 8) + words_for_bytes(bytes);
          break;
        }
        default:
          return 0;
      }
  }
  return length <= available ? length : 0;
}

}  // namespace hitch::format
