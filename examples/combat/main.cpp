// combat: a small game whose hitches are known beforehand. Nothing here knows of hitchtrace.
//
//   hitchtrace run -- ./combat
//   hitchtrace report combat.hitch
//
// Read schedule.h for which frames hitch, plants.h for how, scene.h for the fight itself.
#include <SDL.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "draw.h"
#include "jobs.h"
#include "limiter.h"
#include "options.h"
#include "plants.h"
#include "scene.h"
#include "schedule.h"

namespace combat {
namespace {

struct Planted {
  int frame;
  Plant plant;
  double ms;
};

// One JSON object a line. False when the file could not be written.
bool write_truth(const std::string& path, const std::vector<Planted>& planted) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  for (const Planted& hitch : planted) {
    std::fprintf(file, "{\"frame\": %d, \"plant\": \"%s\", \"ms\": %.3f}\n", hitch.frame,
                 plant_name(hitch.plant), hitch.ms);
  }
  return std::fclose(file) == 0;
}

bool quit_wanted() {
  SDL_Event event;
  bool quit = false;
  while (SDL_PollEvent(&event) != 0) quit = quit || event.type == SDL_QUIT;
  return quit;
}

std::vector<Planted> play(const Options& options, SDL_Renderer* renderer) {
  Jobs jobs(4);
  Plants plants(jobs, options.seed);
  Scene scene(jobs, options.seed);
  Painter painter(renderer);
  Limiter limiter;

  const std::vector<Appointment> schedule = make_schedule(options.seed, options.frames);
  auto next = schedule.begin();
  std::vector<Planted> planted;
  double work_ms = 0;
  for (int frame = 0; frame < options.frames && !quit_wanted(); ++frame) {
    const auto start = std::chrono::steady_clock::now();
    scene.step();
    if (next != schedule.end() && next->frame == frame) {
      if (options.plant_on[static_cast<std::size_t>(next->plant)])
        planted.push_back({frame, next->plant, plants.run(next->plant)});
      ++next;
    }
    painter.draw(scene, work_ms);
    work_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (options.limit) limiter.wait();
    SDL_RenderPresent(renderer);
  }
  std::printf("combat: %zu hits, %zu planted hitches\n", scene.hits(), planted.size());
  return planted;
}

int run(int argc, char** argv) {
  int status = 0;
  const std::optional<Options> options = parse_options(argc, argv, status);
  if (!options) return status;

  if (SDL_Init(SDL_INIT_VIDEO) != 0) {
    std::fprintf(stderr, "combat: SDL cannot start: %s\n", SDL_GetError());
    return 1;
  }
  SDL_Window* window = SDL_CreateWindow("combat", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED,
                                        static_cast<int>(Scene::kWidth),
                                        static_cast<int>(Scene::kHeight), SDL_WINDOW_SHOWN);
  SDL_Renderer* renderer =
      window == nullptr
          ? nullptr
          : SDL_CreateRenderer(window, -1, options->accelerated ? 0 : SDL_RENDERER_SOFTWARE);
  if (renderer == nullptr) {
    std::fprintf(stderr, "combat: no window: %s\n", SDL_GetError());
    SDL_Quit();
    return 1;
  }
  const std::vector<Planted> planted = play(*options, renderer);
  SDL_DestroyRenderer(renderer);
  SDL_DestroyWindow(window);
  SDL_Quit();

  if (!options->truth.empty() && !write_truth(options->truth, planted)) {
    std::fprintf(stderr, "combat: cannot write %s\n", options->truth.c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace combat

int main(int argc, char** argv) { return combat::run(argc, argv); }
