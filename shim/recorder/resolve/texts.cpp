#include "recorder/resolve/texts.h"

#include <algorithm>
#include <cstring>

#include "format/buffer_records.h"

namespace hitch::resolve {

namespace {

// Length of the well-formed UTF-8 sequence at the start, or 0.
std::size_t sequence_length(const char* text, std::size_t available) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  unsigned char least = 0x80;
  unsigned char most = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) length = 2;
  if (lead >= 0xe0 && lead <= 0xef) length = 3;
  if (lead >= 0xf0 && lead <= 0xf4) length = 4;
  if (lead == 0xe0) least = 0xa0;
  if (lead == 0xed) most = 0x9f;
  if (lead == 0xf0) least = 0x90;
  if (lead == 0xf4) most = 0x8f;
  if (length == 0 || length > available) return 0;
  if (byte(1) < least || byte(1) > most) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  return length;
}

}  // namespace

std::string clean_utf8(std::string text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequence_length(text.data() + i, text.size() - i);
    if (length == 0) text[i] = '?';
    i += std::max<std::size_t>(length, 1);
  }
  return text;
}

std::string text_of_record(const std::uint64_t* words, unsigned word_count) {
  format::TextRecord record;
  if (word_count * 8 < sizeof(record)) return {};
  std::memcpy(&record, words, sizeof(record));
  const std::size_t room = word_count * 8 - sizeof(record);
  const char* text = reinterpret_cast<const char*>(words) + sizeof(record);
  return clean_utf8(std::string(text, std::min<std::size_t>(record.bytes, room)));
}

}  // namespace hitch::resolve
