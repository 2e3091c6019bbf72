// A unit that takes results where the rest of the program takes exceptions: both are in one program.
#define GLOOM_NO_EXCEPTIONS
#include <gloom/gloom.hpp>

static_assert(GLOOM_EXCEPTIONS == 0);

int status_of_a_bad_rate();

int status_of_a_bad_rate() { return static_cast<int>(gloom::filter::atomic(1, 2).status()); }

#if defined(__cpp_exceptions)
void write_to_a_sink_that_throws();

void write_to_a_sink_that_throws() {
    static_cast<void>(gloom::filter::atomic(10, 0.1).value().write_to([](gloom::bytes_view) -> int { throw 1; }));
}
#endif
