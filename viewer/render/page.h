// Text laid out for a terminal of a given width.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hitch::render {

struct Style {
  bool colour = false;
  bool unicode = false;  // block characters and arrows; plain ASCII otherwise
  unsigned width = 80;
};
constexpr unsigned kMinWidth = 64;

enum class Ink : std::uint8_t { kPlain, kBold, kDim, kRed, kYellow, kGreen, kCyan };

// Columns a text takes: code points, escape sequences not counted.
std::size_t columns_of(std::string_view text);
// Cuts at the end, or in the middle when there is room to keep both ends, and marks the cut.
std::string fit(const std::string& text, std::size_t columns);
// Control characters and broken UTF-8 replaced: texts come from the game.
std::string printable(std::string_view text);
std::string pad_right(std::string text, std::size_t columns);
std::string pad_left(std::string text, std::size_t columns);

class Page {
 public:
  explicit Page(Style style) : style_(style) {}

  const Style& style() const { return style_; }
  std::size_t width() const { return style_.width; }
  std::string paint(Ink ink, const std::string& text) const;

  // What does not fit is cut.
  void line(const std::string& text = "");
  // Breaks `text` at spaces; further lines are indented by `hanging` columns.
  void wrap(std::size_t indent, std::size_t hanging, const std::string& text);
  void heading(const std::string& title, const std::string& remark = "");

  const std::string& text() const { return text_; }
  std::size_t lines() const { return lines_; }

 private:
  Style style_;
  std::string text_;
  std::size_t lines_ = 0;
};

}  // namespace hitch::render
