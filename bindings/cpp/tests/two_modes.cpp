// A unit that takes results where the rest of the program takes exceptions: both are in one program.
#define GLOOM_NO_EXCEPTIONS
#include <gloom/gloom.hpp>

static_assert(GLOOM_EXCEPTIONS == 0);

int status_of_a_bad_rate();

int status_of_a_bad_rate() { return static_cast<int>(gloom::filter::atomic(1, 2).status()); }
