#include "support/trace_builder.h"

#include <unistd.h>
#include <zstd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "format/buffer_records.h"
#include "format/crc32c.h"

namespace hitch::support {
namespace {

using namespace format;

template <class Struct>
void append_struct(std::string& out, const Struct& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string chunk_bytes(ChunkKind kind, const std::string& payload, bool compress,
                        ChunkFrame frame) {
  std::string stored = payload;
  frame.magic = kChunkMagic;
  frame.kind = static_cast<std::uint8_t>(kind);
  frame.codec = static_cast<std::uint8_t>(ChunkCodec::kPlain);
  if (compress) {
    std::string packed(ZSTD_compressBound(payload.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), payload.data(), payload.size(), 3));
    if (packed.size() < payload.size()) {
      stored = std::move(packed);
      frame.codec = static_cast<std::uint8_t>(ChunkCodec::kZstd);
    }
  }
  frame.stored_bytes = static_cast<std::uint32_t>(stored.size());
  frame.raw_bytes = static_cast<std::uint32_t>(payload.size());
  frame.crc32c = 0;
  frame.crc32c = crc32c(&frame, sizeof frame, crc32c(stored.data(), stored.size()));
  std::string bytes;
  append_struct(bytes, frame);
  return bytes + stored;
}

}  // namespace

TraceBuilder::TraceBuilder(std::uint64_t ticks_per_second) : hz_(ticks_per_second) {
  FileHeader header{};
  std::memcpy(header.magic, kFileMagic, sizeof header.magic);
  header.major = kFileMajor;
  header.minor = kFileMinor;
  header.header_bytes = sizeof header;
  header.tsc_hz = ticks_per_second;
  header.created_realtime_ns = 1'760'000'000'000'000'000;
  append_struct(file_, header);
}

std::uint64_t TraceBuilder::ticks(double ms) const {
  return static_cast<std::uint64_t>(std::llround(ms * static_cast<double>(hz_) / 1000));
}

TraceBuilder& TraceBuilder::meta(const std::string& key, const std::string& value) {
  return add(trace::Meta{key, value});
}

TraceBuilder& TraceBuilder::preamble(unsigned workers, unsigned sites) {
  meta("tool.version", "0.1.0");
  meta("machine.cpu", "Synthetic CPU");
  meta("machine.kernel", "6.1.0");
  meta("game.exe", "/opt/game/bin/game");
  meta("game.pid", "4242");
  meta("game.allocator", "libc.so.6 (glibc 2.36)");
  meta("clock.kind", "tsc");
  meta("clock.price_ticks", std::to_string(ticks(0.000012)));
  meta("fault.price_ns", "1000");
  meta("option.level", "trace");
  meta("option.time", "all");
  meta("option.outlier_us", "30");
  add(trace::Calibration{0, 5'000'000'000, 1'760'000'000'000'000'000});
  add(trace::Module{0,
                    0,
                    "/opt/game/bin/game",
                    std::string("\x01\x02\xab\xcd", 4),
                    0x400000,
                    0x400000,
                    0x800000,
                    {0x1000, 0x200000, 0x1000}});
  add(trace::Thread{0, 4242, "game", 0});
  for (unsigned i = 1; i <= workers; ++i) {
    add(trace::Thread{i, 4242u + i, "worker-" + std::to_string(i), 0});
  }
  for (unsigned i = 0; i < sites; ++i) {
    add(trace::Site{i, 0x401000 + 0x100u * i, 1, static_cast<std::uint64_t>(Op::kMalloc), 0});
  }
  return *this;
}

TraceBuilder& TraceBuilder::frame(const FrameSpec& spec) {
  const auto ns = [](double ms) { return static_cast<std::uint64_t>(std::llround(ms * 1e6)); };
  const std::uint64_t id = next_frame_++;
  trace::Frame frame;
  frame.id = id;
  frame.kind = spec.kind;
  frame.thread = spec.kind == 1 ? 0 : 1;
  frame.api = static_cast<std::uint64_t>(spec.kind == 1 ? Api::kWindow : Api::kGlx);
  frame.begin = now_;
  now_ += ticks(spec.wall_ms);
  frame.end = now_;
  if (spec.kind != 1) {
    const double work = spec.wall_ms - spec.present_ms - spec.sleep_ms;
    frame.present_ticks = ticks(spec.present_ms);
    frame.sleep_ticks = ticks(spec.sleep_ms);
    frame.present_cpu_ns = ns(spec.present_cpu_ms);
    frame.cpu_ns = ns(work - spec.waiting_ms + spec.present_cpu_ms);
    frame.voluntary = spec.voluntary;
    frame.involuntary = spec.involuntary;
    frame.minor_faults = spec.minor_faults;
    frame.major_faults = spec.major_faults;
  }
  frame.process_minor_faults = spec.minor_faults + spec.other_minor_faults;
  frame.process_major_faults = spec.major_faults;
  frame.process_cpu_ns = frame.cpu_ns;
  frame.live_blocks = 1000;
  frame.live_bytes = 1'000'000;
  frame.own_ticks = ticks(spec.own_ms);
  frame.flags = spec.flags;
  frame.pool_chunks = 3;
  frame.message = spec.message;
  add(frame);
  trace::FrameThread main;
  main.frame = id;
  main.allocs = spec.allocs;
  main.frees = spec.allocs;
  main.bytes = spec.bytes;
  main.alloc_ticks = ticks(spec.alloc_ms);
  main.slowest_ticks = ticks(spec.alloc_ms / 2);
  main.slowest_site = spec.sites.empty() ? 0 : spec.sites.front().site + 1;
  main.own_ticks = frame.own_ticks;
  add(main);
  for (const ThreadWork& other : spec.others) {
    trace::FrameThread row;
    row.frame = id;
    row.thread = other.thread;
    row.allocs = other.allocs;
    row.bytes = other.allocs * 64;
    row.alloc_ticks = ticks(other.alloc_ms);
    row.slowest_ticks = row.alloc_ticks;
    add(row);
  }
  for (const SiteWork& work : spec.sites) {
    add(trace::FrameSite{id, work.thread, work.site, work.allocs, work.frees, 0, work.bytes,
                         ticks(work.ms), ticks(work.ms / 2)});
  }
  if (encoder_.bytes().size() > 64 * 1024) end_chunk();
  return *this;
}

TraceBuilder& TraceBuilder::frames(std::size_t count, const FrameSpec& spec) {
  for (std::size_t i = 0; i < count; ++i) frame(spec);
  return *this;
}

TraceBuilder& TraceBuilder::finish() {
  const auto ns =
      static_cast<std::uint64_t>(static_cast<double>(now_) * 1e9 / static_cast<double>(hz_));
  add(trace::Calibration{now_, 5'000'000'000 + ns, 1'760'000'000'000'000'000 + ns});
  trace::Counters counters;
  counters.allocs = counters.frees = next_frame_ * 100;
  counters.recorded = next_frame_ * 200;
  add(counters);
  trace::End end;
  end.time = now_;
  end.reason = 1;
  end.recorder_cpu_ns = ns / 50;
  end.recorder_peak_bytes = 40 << 20;
  end.pool_chunks_peak = 12;
  end.pool_chunks = 1024;
  end.events = counters.recorded;
  return add(end);
}

TraceBuilder& TraceBuilder::end_chunk() {
  if (encoder_.empty()) return *this;
  append_chunk(encoder_.bytes(), encoder_.first_ticks(), encoder_.last_ticks());
  encoder_.start(now_);
  chunk_first_frame_ = next_frame_;
  return *this;
}

TraceBuilder& TraceBuilder::raw_chunk(const std::string& payload) {
  end_chunk();
  append_chunk(payload, ~std::uint64_t{0}, 0);
  return *this;
}

TraceBuilder& TraceBuilder::garbage(const std::string& bytes) {
  end_chunk();
  file_ += bytes;
  return *this;
}

void TraceBuilder::append_chunk(const std::string& payload, std::uint64_t first,
                                std::uint64_t last) {
  ChunkFrame frame{};
  frame.first_ticks = first;
  frame.last_ticks = last;
  const bool rows = next_frame_ > chunk_first_frame_;
  frame.first_frame = rows ? chunk_first_frame_ : ~std::uint64_t{0};
  frame.last_frame = rows ? next_frame_ - 1 : 0;
  append_struct(index_, IndexEntry{file_.size(), frame.first_ticks, frame.last_ticks,
                                   frame.first_frame, frame.last_frame});
  file_ += chunk_bytes(ChunkKind::kRecords, payload, compress_, frame);
}

std::string TraceBuilder::bytes(bool with_index) {
  end_chunk();
  if (!with_index) return file_;
  std::string whole = file_;
  ChunkFrame frame{};
  frame.first_ticks = frame.first_frame = ~std::uint64_t{0};
  FileTrailer trailer{};
  trailer.index_offset = whole.size();
  std::memcpy(trailer.magic, kTrailerMagic, sizeof trailer.magic);
  whole += chunk_bytes(ChunkKind::kIndex, index_, compress_, frame);
  append_struct(whole, trailer);
  return whole;
}

trace::FrameFault fault_row(std::uint64_t frame, std::uint64_t thread, format::FaultOwner owner,
                            std::uint64_t id, std::uint64_t faults, format::FaultKind kind) {
  trace::FrameFault row;
  row.frame = frame;
  row.thread = thread;
  row.owner = static_cast<std::uint64_t>(owner);
  row.id = id;
  row.kind = static_cast<std::uint64_t>(kind);
  row.faults = faults;
  return row;
}

std::string write_temporary(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::temp_directory_path() / "hitchtrace-tests";
  std::filesystem::create_directories(folder);
  const auto path = folder / (std::to_string(::getpid()) + "-" + name);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << bytes;
  if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
  return path.string();
}

}  // namespace hitch::support
