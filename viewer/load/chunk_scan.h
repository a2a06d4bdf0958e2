// Finding and checking chunks without help of the index.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "format/file_layout.h"
#include "viewer/load/byte_source.h"

namespace hitch::load {

struct ChunkPlace {
  std::uint64_t offset = 0;  // of the ChunkFrame
  format::ChunkFrame frame{};

  std::uint64_t end() const { return offset + sizeof(format::ChunkFrame) + frame.stored_bytes; }
};

// Reads and checks the frame at `offset`, not what follows it. None: no chunk can start there.
std::optional<format::ChunkFrame> read_chunk_frame(const ByteSource& source, std::uint64_t offset);

// True when frame and stored bytes agree with the frame's CRC. Leaves the stored bytes in `stored`.
bool read_stored(const ByteSource& source, const ChunkPlace& place, std::string& stored);

// The chunk's records or index entries as they were before compression. False: they do not fit what
// the frame says, or the codec is unknown.
bool unpack(const ChunkPlace& place, std::string&& stored, std::string& raw);

struct Scan {
  std::vector<ChunkPlace> records;  // every readable record chunk in file order
  std::uint64_t end = 0;            // past the last readable record chunk
  std::uint64_t tail_bytes = 0;     // after `end`, not counting index and trailer
  struct Hole {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<Hole> holes;  // unreadable bytes between readable chunks
};

// Walks the whole source from `begin`. After unreadable bytes it looks for the next chunk whose CRC
// holds.
Scan scan_chunks(const ByteSource& source, std::uint64_t begin);

}  // namespace hitch::load
