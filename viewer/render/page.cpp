#include "viewer/render/page.h"

#include <algorithm>
#include <array>

namespace hitch::render {
namespace {

bool continues_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// Position after `columns` code points.
std::size_t position_of_column(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size() && columns > 0) {
    ++at;
    while (at < text.size() && continues_code_point(text[at])) ++at;
    --columns;
  }
  return at;
}

// Bytes of the well-formed code point at `at`, or 0.
std::size_t code_point_bytes(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t bytes = lead < 0x80                   ? 1
                            : lead >= 0xc2 && lead < 0xe0 ? 2
                            : lead >= 0xe0 && lead < 0xf0 ? 3
                            : lead >= 0xf0 && lead < 0xf5 ? 4
                                                          : 0;
  if (bytes == 0 || at + bytes > text.size()) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!continues_code_point(text[at + i])) return 0;
  }
  return bytes;
}

// Keeps escape sequences, which take no columns, also behind the cut: the last one ends the colour.
std::string clip(std::string_view text, std::size_t columns) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\x1b') {
      const std::size_t end = std::min(text.find('m', at), text.size() - 1);
      out += text.substr(at, end + 1 - at);
      at = end + 1;
      continue;
    }
    std::size_t next = at + 1;
    while (next < text.size() && continues_code_point(text[next])) ++next;
    if (columns > 0) {
      out += text.substr(at, next - at);
      --columns;
    }
    at = next;
  }
  return out;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b') {
      while (at < text.size() && text[at] != 'm') ++at;
    } else if (!continues_code_point(text[at])) {
      ++columns;
    }
  }
  return columns;
}

std::string fit(const std::string& text, std::size_t columns) {
  const std::size_t have = columns_of(text);
  if (have <= columns) return text;
  if (columns <= 2) return text.substr(0, position_of_column(text, columns));
  if (columns < 24) return text.substr(0, position_of_column(text, columns - 2)) + "..";
  const std::size_t tail = (columns - 2) / 3;
  const std::size_t head = columns - 2 - tail;
  return text.substr(0, position_of_column(text, head)) + ".." +
         text.substr(position_of_column(text, have - tail));
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = code_point_bytes(text, at);
    const auto byte = static_cast<unsigned char>(text[at]);
    // U+0080..U+009F are control characters too.
    const bool control =
        byte < 0x20 || byte == 0x7f ||
        (byte == 0xc2 && bytes == 2 && static_cast<unsigned char>(text[at + 1]) < 0xa0);
    if (bytes == 0 || control) {
      out += control && byte < 0x20 ? ' ' : '?';
      at += std::max<std::size_t>(bytes, 1);
      continue;
    }
    out += text.substr(at, bytes);
    at += bytes;
  }
  return out;
}

std::string pad_right(std::string text, std::size_t columns) {
  const std::size_t have = columns_of(text);
  if (have < columns) text.append(columns - have, ' ');
  return text;
}

std::string pad_left(std::string text, std::size_t columns) {
  const std::size_t have = columns_of(text);
  if (have < columns) text.insert(0, columns - have, ' ');
  return text;
}

std::string Page::paint(Ink ink, const std::string& text) const {
  static constexpr std::array<const char*, 7> kCodes = {"", "1", "2", "31", "33", "32", "36"};
  if (!style_.colour || ink == Ink::kPlain || text.empty()) return text;
  return std::string("\x1b[") + kCodes[static_cast<std::size_t>(ink)] + "m" + text + "\x1b[0m";
}

void Page::line(const std::string& text) {
  const std::size_t last = text.find_last_not_of(' ');
  if (last != std::string::npos) text_ += clip(std::string_view(text).substr(0, last + 1), width());
  text_ += '\n';
  ++lines_;
}

void Page::wrap(std::size_t indent, std::size_t hanging, const std::string& text) {
  std::string current(indent, ' ');
  std::size_t columns = indent;
  bool empty = true;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = text.find(' ', at);
    if (end == std::string::npos) end = text.size();
    std::string word = text.substr(at, end - at);
    if (word.find('\x1b') == std::string::npos) {
      word = fit(word, width() - std::min(width() - 1, std::max(indent, hanging)));
    }
    at = end + 1;
    const std::size_t word_columns = columns_of(word);
    if (!empty && columns + 1 + word_columns > width()) {
      line(current);
      current.assign(hanging, ' ');
      columns = hanging;
      empty = true;
    }
    if (!empty) {
      current += ' ';
      ++columns;
    }
    current += word;
    columns += word_columns;
    empty = false;
  }
  line(current);
}

void Page::heading(const std::string& title, const std::string& remark) {
  line();
  std::string text = paint(Ink::kBold, title);
  if (!remark.empty())
    text += "  " + paint(Ink::kDim, fit(remark, width() - columns_of(title) - 2));
  line(text);
}

}  // namespace hitch::render
