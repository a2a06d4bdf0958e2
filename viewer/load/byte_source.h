// Where a trace's bytes come from: a file, or memory in tests.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "viewer/load/load_error.h"

namespace hitch::load {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fixed when the source is opened: a file that still grows is read up to there.
  virtual std::uint64_t size() const = 0;
  // Copies up to `bytes` from `offset`; returns how many there were. Fewer than asked for: end of
  // the source, or an error of the device.
  virtual std::size_t read(std::uint64_t offset, void* to, std::size_t bytes) const = 0;
};

Loaded<std::shared_ptr<const ByteSource>> open_file(const std::string& path);
std::shared_ptr<const ByteSource> from_memory(std::string bytes);

}  // namespace hitch::load
