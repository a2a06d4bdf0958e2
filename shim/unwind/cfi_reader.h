// Reads unwind tables of a mapped module within bounds.
#pragma once
#include <cstdint>
#include <cstring>

namespace hitch::unwind {

// A bounded cursor: past the end everything reads as zero and ok() turns false.
class Reader {
 public:
  Reader(std::uintptr_t at, std::uintptr_t end) : at_(at), end_(end) {}
  bool ok() const { return ok_; }
  std::uintptr_t at() const { return at_; }
  bool done() const { return at_ >= end_ || !ok_; }
  std::uintptr_t end() const { return end_; }

  template <class T>
  T take() {
    T value{};
    if (!ok_ || end_ - at_ < sizeof(T)) {
      ok_ = false;
      return value;
    }
    std::memcpy(&value, reinterpret_cast<const void*>(at_), sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = take<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    ok_ = false;
    return value;
  }
  std::int64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
      const auto byte = take<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
    ok_ = false;
    return 0;
  }
  void skip(std::uint64_t bytes) {
    if (!ok_ || end_ - at_ < bytes) {
      ok_ = false;
      return;
    }
    at_ += bytes;
  }
  // A reader for the next `bytes`, which this one skips.
  Reader part(std::uint64_t bytes) {
    const std::uintptr_t begin = at_;
    skip(bytes);
    return {begin, ok_ ? begin + bytes : begin};
  }
  void fail() { ok_ = false; }

 private:
  std::uintptr_t at_;
  std::uintptr_t end_;
  bool ok_ = true;
};

// DW_EH_PE_* encodings.
constexpr std::uint8_t kOmit = 0xff;
inline std::uintptr_t take_encoded(Reader& in, std::uint8_t encoding, std::uintptr_t data_base) {
  const std::uintptr_t place = in.at();
  std::uintptr_t value = 0;
  switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
      value = in.take<std::uint64_t>();
      break;
    case 0x01:
      value = in.uleb();
      break;
    case 0x09:
      value = static_cast<std::uintptr_t>(in.sleb());
      break;
    case 0x02:
      value = in.take<std::uint16_t>();
      break;
    case 0x03:
      value = in.take<std::uint32_t>();
      break;
    case 0x0a:
      value = static_cast<std::uintptr_t>(std::intptr_t{in.take<std::int16_t>()});
      break;
    case 0x0b:
      value = static_cast<std::uintptr_t>(std::intptr_t{in.take<std::int32_t>()});
      break;
    default:
      in.fail();
  }
  switch (encoding & 0x70) {
    case 0x00:
      return value;
    case 0x10:
      return value + place;
    case 0x30:
      return value + data_base;
    default:
      in.fail();
      return 0;
  }
}

// A byte range of the module.
struct Bytes {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

}  // namespace hitch::unwind
