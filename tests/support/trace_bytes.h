// A second reader of trace files, written against file_layout.h alone: fails the running test at
// the first byte that is not as the layout says. Needs GoogleTest and zstd.
#pragma once
#include <gtest/gtest.h>
#include <zstd.h>

#include <cstring>
#include <string>
#include <vector>

#include "format/crc32c.h"
#include "format/file_layout.h"
#include "format/trace_records.h"

namespace hitch::support {

using format::ChunkFrame;

struct Parsed {
  std::vector<ChunkFrame> chunks;
  std::vector<std::string> payloads;
  std::vector<std::uint64_t> offsets;
  std::vector<format::IndexEntry> index;
  bool trailer = false;
};

inline Parsed parse(const std::string& bytes) {
  Parsed parsed;
  format::FileHeader header{};
  EXPECT_GE(bytes.size(), sizeof(header));
  if (bytes.size() < sizeof(header)) return parsed;
  std::memcpy(&header, bytes.data(), sizeof(header));
  EXPECT_EQ(std::memcmp(header.magic, "HITCHTRC", 8), 0);
  EXPECT_EQ(header.major, format::kFileMajor);
  EXPECT_EQ(header.header_bytes, 32u);
  std::size_t at = sizeof(header);
  while (at + sizeof(ChunkFrame) <= bytes.size()) {
    ChunkFrame frame{};
    std::memcpy(&frame, bytes.data() + at, sizeof(frame));
    EXPECT_EQ(frame.magic, format::kChunkMagic);
    const std::uint64_t offset = at;
    at += sizeof(frame);
    if (frame.magic != format::kChunkMagic || at + frame.stored_bytes > bytes.size()) {
      ADD_FAILURE() << "chunk cut at " << offset;
      return parsed;
    }
    const std::string stored = bytes.substr(at, frame.stored_bytes);
    at += frame.stored_bytes;
    ChunkFrame zeroed = frame;
    zeroed.crc32c = 0;
    EXPECT_EQ(frame.crc32c, format::crc32c(&zeroed, sizeof(zeroed),
                                           format::crc32c(stored.data(), stored.size())));
    std::string payload(frame.raw_bytes, '\0');
    if (frame.codec == 1) {
      EXPECT_EQ(ZSTD_decompress(payload.data(), payload.size(), stored.data(), stored.size()),
                payload.size());
    } else {
      payload = stored;
    }
    if (frame.kind == static_cast<std::uint8_t>(format::ChunkKind::kIndex)) {
      parsed.index.resize(payload.size() / sizeof(format::IndexEntry));
      std::memcpy(parsed.index.data(), payload.data(), payload.size());
      format::FileTrailer trailer{};
      EXPECT_EQ(bytes.size() - at, sizeof(trailer));
      std::memcpy(&trailer, bytes.data() + at, sizeof(trailer));
      EXPECT_EQ(std::memcmp(trailer.magic, "HTCHIDX1", 8), 0);
      EXPECT_EQ(trailer.index_offset, offset);
      parsed.trailer = true;
      return parsed;
    }
    parsed.chunks.push_back(frame);
    parsed.payloads.push_back(std::move(payload));
    parsed.offsets.push_back(offset);
  }
  EXPECT_EQ(at, bytes.size());
  return parsed;
}

template <class Record>
std::vector<Record> records(const Parsed& parsed) {
  std::vector<Record> found;
  for (const std::string& payload : parsed.payloads) {
    format::RecordDecoder decoder(payload);
    while (decoder.next()) {
      if (decoder.kind() == Record::kKind) found.push_back(decoder.read<Record>());
    }
    EXPECT_FALSE(decoder.malformed());
  }
  return found;
}

}  // namespace hitch::support
