#include "viewer/symbolise/fde_index.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace hitch::symbolise {
namespace {

// DW_EH_PE_* of the LSB: how pointers in .eh_frame are written.
enum : std::uint8_t {
  kFormatMask = 0x0f,
  kAbsolute = 0x00,
  kUdata2 = 0x02,
  kUdata4 = 0x03,
  kUdata8 = 0x04,
  kSdata2 = 0x0a,
  kSdata4 = 0x0b,
  kSdata8 = 0x0c,
  kRelationMask = 0x70,
  kPcRelative = 0x10,
  kIndirect = 0x80,
  kOmitted = 0xff,
};

class Reader {
 public:
  Reader(std::string_view bytes, std::uint64_t address) : bytes_(bytes), address_(address) {}

  bool ok() const { return ok_; }
  std::size_t at() const { return at_; }
  void seek(std::size_t position) {
    if (position > bytes_.size()) ok_ = false;
    at_ = std::min(position, bytes_.size());
  }

  template <class T>
  T take() {
    T value{};
    if (bytes_.size() - at_ < sizeof value) {
      ok_ = false;
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint64_t take_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = take<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80 || !ok_) return value;
    }
    ok_ = false;
    return 0;
  }
  std::string_view take_text() {
    const std::size_t end = bytes_.find('\0', at_);
    if (end == std::string_view::npos) {
      ok_ = false;
      return {};
    }
    const std::string_view text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }
  std::uint64_t take_pointer(std::uint8_t encoding, bool relative) {
    const std::uint64_t here = address_ + at_;
    std::uint64_t value = 0;
    switch (encoding & kFormatMask) {
      case kAbsolute:
      case kUdata8:
      case kSdata8:
        value = take<std::uint64_t>();
        break;
      case kUdata2:
        value = take<std::uint16_t>();
        break;
      case kUdata4:
        value = take<std::uint32_t>();
        break;
      case kSdata2:
        value = static_cast<std::uint64_t>(std::int64_t{take<std::int16_t>()});
        break;
      case kSdata4:
        value = static_cast<std::uint64_t>(std::int64_t{take<std::int32_t>()});
        break;
      default:
        ok_ = false;
    }
    if (relative && (encoding & kRelationMask) == kPcRelative) value += here;
    return value;
  }

 private:
  std::string_view bytes_;
  std::uint64_t address_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

// The encoding of the addresses in FDEs that belong to the CIE at `position`; kOmitted when it
// cannot be told.
std::uint8_t fde_encoding(std::string_view bytes, std::uint64_t address, std::size_t position) {
  Reader in(bytes, address);
  in.seek(position);
  const auto length = in.take<std::uint32_t>();
  if (length == 0xffffffff) in.take<std::uint64_t>();
  const auto id = in.take<std::uint32_t>();
  const auto version = in.take<std::uint8_t>();
  const std::string_view augmentation = in.take_text();
  if (!in.ok() || id != 0) return kOmitted;
  if (augmentation.empty()) return kAbsolute;
  if (augmentation[0] != 'z') return kOmitted;
  in.take_leb();  // code alignment
  in.take_leb();  // data alignment
  if (version == 1) {
    in.take<std::uint8_t>();
  } else {
    in.take_leb();
  }
  in.take_leb();  // augmentation bytes
  for (const char letter : augmentation.substr(1)) {
    if (letter == 'R') {
      const auto encoding = in.take<std::uint8_t>();
      return in.ok() ? encoding : std::uint8_t{kOmitted};
    }
    if (letter == 'L') {
      in.take<std::uint8_t>();
    } else if (letter == 'P') {
      const auto encoding = in.take<std::uint8_t>();
      in.take_pointer(encoding, false);
    } else if (letter != 'S' && letter != 'B') {
      return kOmitted;
    }
    if (!in.ok()) return kOmitted;
  }
  return kAbsolute;
}

}  // namespace

FdeIndex::FdeIndex(std::string_view eh_frame, std::uint64_t address) {
  std::unordered_map<std::size_t, std::uint8_t> encodings;  // by CIE position
  Reader in(eh_frame, address);
  while (in.at() + 4 <= eh_frame.size()) {
    std::uint64_t length = in.take<std::uint32_t>();
    if (length == 0) break;  // terminator
    if (length == 0xffffffff) length = in.take<std::uint64_t>();
    const std::size_t body = in.at();
    if (!in.ok() || length < 4 || length > eh_frame.size() - body) break;
    const auto cie_distance = in.take<std::uint32_t>();
    if (cie_distance != 0 && cie_distance <= body) {
      const std::size_t cie = body - cie_distance;
      const auto known = encodings.find(cie);
      const std::uint8_t encoding =
          known != encodings.end() ? known->second : fde_encoding(eh_frame, address, cie);
      encodings.emplace(cie, encoding);
      if (encoding != kOmitted && (encoding & kIndirect) == 0) {
        const std::uint64_t start = in.take_pointer(encoding, true);
        const std::uint64_t bytes = in.take_pointer(encoding & kFormatMask, false);
        // The linker leaves entries of dropped functions at address 0.
        if (in.ok() && start != 0 && bytes != 0) ranges_.push_back({start, bytes});
      }
    }
    in.seek(body + static_cast<std::size_t>(length));
  }
  std::sort(ranges_.begin(), ranges_.end(),
            [](const FunctionRange& a, const FunctionRange& b) { return a.start < b.start; });
}

std::optional<FunctionRange> FdeIndex::find(std::uint64_t address) const {
  auto after = std::upper_bound(
      ranges_.begin(), ranges_.end(), address,
      [](std::uint64_t value, const FunctionRange& range) { return value < range.start; });
  if (after == ranges_.begin()) return std::nullopt;
  const FunctionRange& range = *--after;
  if (address - range.start >= range.bytes) return std::nullopt;
  return range;
}

}  // namespace hitch::symbolise
