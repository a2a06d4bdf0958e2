// Where functions start, from .eh_frame: what is left in a stripped file. The tables must be there
// for exceptions and unwinding to work, so nearly every x86-64 file has them.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hitch::symbolise {

struct FunctionRange {
  std::uint64_t start = 0;
  std::uint64_t bytes = 0;
};

class FdeIndex {
 public:
  FdeIndex() = default;
  // `eh_frame` are the section's bytes, `address` is where the file wants it loaded. Bytes are
  // untrusted: reading stops at the first entry that makes no sense.
  FdeIndex(std::string_view eh_frame, std::uint64_t address);

  std::optional<FunctionRange> find(std::uint64_t address) const;
  std::size_t size() const { return ranges_.size(); }

 private:
  std::vector<FunctionRange> ranges_;  // by start
};

}  // namespace hitch::symbolise
