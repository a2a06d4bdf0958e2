#include "options.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace combat {
namespace {

constexpr const char* kHelp =
    "combat: a fight with hitches whose causes are known\n"
    "\n"
    "  --frames N          how long to play (default 600 frames)\n"
    "  --seed N            which fight, and in which frames hitches are planted (default 1)\n"
    "  --no-limit          do not hold 60 frames a second\n"
    "  --no-plant NAME     leave one cause out: alloc, fault, lock, wait, cpu, or all\n"
    "  --truth FILE        write what was planted where, one JSON object a line\n"
    "  --accelerated       let SDL choose its renderer (default: the software renderer)\n"
    "  --help              this text\n"
    "\n"
    "SDL_VIDEODRIVER=dummy plays without a screen.\n";

bool parse_number(const char* text, std::uint64_t& number) {
  char* end = nullptr;
  number = std::strtoull(text, &end, 10);
  return end != text && *end == '\0';
}

bool switch_off(const char* name, Options& options) {
  if (std::strcmp(name, "all") == 0) {
    options.plant_on.fill(false);
    return true;
  }
  const std::optional<Plant> plant = plant_from_name(name);
  if (plant) options.plant_on[static_cast<std::size_t>(*plant)] = false;
  return plant.has_value();
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv, int& status) {
  Options options;
  status = 2;
  for (int i = 1; i < argc; ++i) {
    const char* flag = argv[i];
    if (std::strcmp(flag, "--help") == 0) {
      std::fputs(kHelp, stdout);
      status = 0;
      return std::nullopt;
    }
    if (std::strcmp(flag, "--no-limit") == 0) {
      options.limit = false;
      continue;
    }
    if (std::strcmp(flag, "--accelerated") == 0) {
      options.accelerated = true;
      continue;
    }
    const char* value = i + 1 < argc ? argv[++i] : "";
    std::uint64_t number = 0;
    bool understood = false;
    if (std::strcmp(flag, "--frames") == 0) {
      understood = parse_number(value, number) && number > 0 && number < 10'000'000;
      options.frames = static_cast<int>(number);
    } else if (std::strcmp(flag, "--seed") == 0) {
      understood = parse_number(value, options.seed);
    } else if (std::strcmp(flag, "--truth") == 0) {
      understood = *value != '\0';
      options.truth = value;
    } else if (std::strcmp(flag, "--no-plant") == 0) {
      understood = switch_off(value, options);
    }
    if (!understood) {
      std::fprintf(stderr, "combat: cannot use '%s %s'; see --help\n", flag, value);
      return std::nullopt;
    }
  }
  return options;
}

}  // namespace combat
