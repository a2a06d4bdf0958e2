// Untrusted bytes of a trace file -> records. Memory stays bounded by one chunk; any bytes at all
// end in records, warnings or a LoadError.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/file_layout.h"
#include "format/trace_records.h"
#include "viewer/load/byte_source.h"
#include "viewer/load/chunk_scan.h"
#include "viewer/load/load_error.h"

namespace hitch::load {

// Checks magic, major version and header length.
Loaded<format::FileHeader> read_header(const ByteSource& source);

class TraceReader {
 public:
  // Finds the chunks: through the index, or by scanning when it is missing or wrong (a warning
  // then).
  static Loaded<TraceReader> open(std::shared_ptr<const ByteSource> source);

  const format::FileHeader& header() const { return header_; }
  const std::vector<ChunkPlace>& chunks() const { return chunks_; }
  bool indexed() const { return indexed_; }

  // Sentences about what could not be read, each once.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // Records of kinds that a newer version wrote, in the last walk.
  std::uint64_t unknown_records() const { return unknown_; }

  // Calls f(const trace::X&) for every record of every chunk that `wanted` accepts, in file order.
  // `unknown(kind)` is called for records this version does not know.
  template <class F>
  void for_each_record(F&& f,
                       const std::function<bool(const format::ChunkFrame&)>& wanted = nullptr,
                       const std::function<void(std::uint64_t kind)>& unknown = nullptr) {
    unknown_ = 0;
    std::string raw;
    for (const ChunkPlace& place : chunks_) {
      if (wanted && !wanted(place.frame)) continue;
      if (!read_chunk(place, raw)) continue;
      format::RecordDecoder decoder(raw);
      while (decoder.next()) {
        const bool known = decoder.dispatch([&](const auto& record) {
          if (!decoder.malformed()) f(record);
        });
        if (known) continue;
        ++unknown_;
        if (unknown) unknown(decoder.kind());
      }
      if (decoder.malformed()) warn_malformed(place);
    }
  }

  // One chunk's records as bytes. False: it cannot be read. Safe from several threads at once.
  bool raw_chunk(const ChunkPlace& place, std::string& raw) const;

 private:
  TraceReader(std::shared_ptr<const ByteSource> source, const format::FileHeader& header)
      : source_(std::move(source)), header_(header) {}

  bool take_index();
  void take_scan();
  bool read_chunk(const ChunkPlace& place, std::string& raw);
  void warn(std::string sentence);
  void warn_malformed(const ChunkPlace& place);

  std::shared_ptr<const ByteSource> source_;
  format::FileHeader header_;
  std::vector<ChunkPlace> chunks_;
  std::vector<std::string> warnings_;
  std::uint64_t unknown_ = 0;
  bool indexed_ = false;
};

}  // namespace hitch::load
