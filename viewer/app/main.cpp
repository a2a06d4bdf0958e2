#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "viewer/app/command_line.h"

int main(int count, char** words) {
  try {
    return hitch::app::run_command_line(std::vector<std::string>(words + 1, words + count),
                                        std::cout, std::cerr);
  } catch (const std::bad_alloc&) {
    std::cerr << "hitchtrace: not enough memory.\n";
  } catch (const std::exception& error) {
    std::cerr << "hitchtrace: " << error.what() << '\n';
  }
  return 1;
}
