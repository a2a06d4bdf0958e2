#include "viewer/app/suggest.h"

#include <algorithm>

namespace hitch::app {

unsigned edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<unsigned> table((a.size() + 1) * width);
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      unsigned& here = table[i * width + j];
      if (i == 0 || j == 0) {
        here = static_cast<unsigned>(i + j);
        continue;
      }
      const bool same = a[i - 1] == b[j - 1];
      here = std::min({table[(i - 1) * width + j] + 1, table[i * width + j - 1] + 1,
                       table[(i - 1) * width + j - 1] + (same ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        here = std::min(here, table[(i - 2) * width + j - 2] + 1);
    }
  }
  return table.back();
}

std::string closest_word(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  unsigned best_distance = ~0U;
  for (const std::string& candidate : candidates) {
    // Somebody may have stopped typing.
    const bool is_start = word.size() >= 3 && candidate.starts_with(word);
    const unsigned distance = is_start ? 1 : edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  const auto limit = static_cast<unsigned>(std::max<std::size_t>(1, word.size() / 3));
  return best_distance <= limit ? best : std::string();
}

}  // namespace hitch::app
