// Any bytes as a trace file: read, summed up, analysed, written as text. The checksum of a chunk
// would keep the fuzzer out of its records, so bytes are also tried as the payload of a chunk that
// is otherwise well-made.
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>

#include "format/crc32c.h"
#include "format/file_layout.h"
#include "viewer/analyse/report.h"
#include "viewer/load/trace_reader.h"
#include "viewer/render/json_report.h"
#include "viewer/render/record_dump.h"
#include "viewer/render/text_report.h"

namespace {

using namespace hitch;

std::string as_chunk(const std::string& payload) {
  format::FileHeader header{};
  std::memcpy(header.magic, format::kFileMagic, sizeof header.magic);
  header.major = format::kFileMajor;
  header.header_bytes = sizeof header;
  header.tsc_hz = 1'000'000'000;
  format::ChunkFrame frame{};
  frame.magic = format::kChunkMagic;
  frame.kind = static_cast<std::uint8_t>(format::ChunkKind::kRecords);
  frame.stored_bytes = frame.raw_bytes = static_cast<std::uint32_t>(payload.size());
  frame.first_frame = ~std::uint64_t{0};
  frame.crc32c =
      format::crc32c(&frame, sizeof frame, format::crc32c(payload.data(), payload.size()));
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(&frame), sizeof frame);
  return bytes + payload;
}

void read_whole(std::string bytes) {
  auto reader = load::TraceReader::open(load::from_memory(std::move(bytes)));
  if (!reader) {
    if (reader.error().sentence().empty()) __builtin_trap();
    return;
  }
  std::ostringstream out;
  render::write_dump(*reader, render::DumpFormat::kJsonLines, out);
  render::write_events(*reader, render::DumpFormat::kText, out);
  const analyse::Report report = analyse::build_report(*reader, {}, {10});
  render::SiteNames names(report.trace, render::offset_namer(report.trace));
  render::text_report(report, "fuzz", {false, false, 80}, 10, names);
  render::json_report(report, "fuzz", 10, names, out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_whole(bytes);
  if (size <= format::kMaxRawChunk) read_whole(as_chunk(bytes));
  return 0;
}
