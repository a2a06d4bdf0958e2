// The bytes around the records of a trace file.
//
//   FileHeader | Chunk* | index chunk | FileTrailer
//   Chunk = ChunkFrame + stored bytes (zstd, or plain when that is not smaller)
//
// Index and trailer are missing when the recorder was killed; readers then find the chunks by
// scanning from the header: each ChunkFrame carries its length and a CRC32C of what follows it.
// Everything is little-endian.
#pragma once
#include <cstdint>

namespace hitch::format {

constexpr std::uint8_t kFileMagic[8] = {'H', 'I', 'T', 'C', 'H', 'T', 'R', 'C'};
constexpr std::uint16_t kFileMajor = 1;  // readers reject any other
// Readers accept newer ones: fields and records were only added.
constexpr std::uint16_t kFileMinor = 1;

struct FileHeader {
  std::uint8_t magic[8];
  std::uint16_t major;
  std::uint16_t minor;
  std::uint32_t header_bytes;  // sizeof(FileHeader)
  std::uint64_t tsc_hz;        // first estimate; Calibration records refine it
  std::uint64_t created_realtime_ns;
};

constexpr std::uint32_t kChunkMagic = 0x4b4e4348;  // "HCNK"

enum class ChunkKind : std::uint8_t { kRecords = 1, kIndex = 2 };
enum class ChunkCodec : std::uint8_t { kPlain = 0, kZstd = 1 };

// What a chunk holds beside its records' kinds: what may be skipped by a reader that does not need
// it, and taken out of the file by a recorder that needs the room.
enum class ChunkContent : std::uint16_t {
  kMixed = 0,   // anything
  kRows = 1,    // sums of frames, outliers, large blocks
  kEvents = 2,  // Events records alone
};

struct ChunkFrame {
  std::uint32_t magic;
  std::uint8_t kind;           // ChunkKind
  std::uint8_t codec;          // ChunkCodec
  std::uint16_t content;       // ChunkContent
  std::uint32_t stored_bytes;  // that follow this frame
  std::uint32_t raw_bytes;     // after decompression; at most kMaxRawChunk
  std::uint32_t crc32c;  // of the stored bytes and of this frame with crc32c = 0, in that order
  std::uint32_t reserved2;
  std::uint64_t first_ticks;  // smallest and largest TIME inside; first > last: none
  std::uint64_t last_ticks;
  std::uint64_t first_frame;  // smallest and largest Frame id of rows inside; first > last: none
  std::uint64_t last_frame;
};
constexpr std::uint32_t kMaxRawChunk = 8 * 1024 * 1024;

// The index chunk's payload is a plain array of these, one for each record chunk in file order.
struct IndexEntry {
  std::uint64_t offset;  // of the ChunkFrame
  std::uint64_t first_ticks;
  std::uint64_t last_ticks;
  std::uint64_t first_frame;
  std::uint64_t last_frame;
};

constexpr std::uint8_t kTrailerMagic[8] = {'H', 'T', 'C', 'H', 'I', 'D', 'X', '1'};
struct FileTrailer {
  std::uint64_t index_offset;  // of the index ChunkFrame
  std::uint8_t magic[8];
};

static_assert(sizeof(FileHeader) == 32 && sizeof(ChunkFrame) == 56);
static_assert(sizeof(IndexEntry) == 40 && sizeof(FileTrailer) == 16);

}  // namespace hitch::format
