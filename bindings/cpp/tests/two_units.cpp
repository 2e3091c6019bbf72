// The other one of two translation units that include the header; see main.cpp.
#include <gloom/gloom.hpp>

bool made_and_asked_elsewhere();
const std::error_category &category_elsewhere();

const std::error_category &category_elsewhere() { return gloom::category(); }

bool made_and_asked_elsewhere() {
#if GLOOM_EXCEPTIONS
    gloom::filter f = gloom::filter::atomic(100, 0.01);
    f.add("here");
#else
    gloom::filter f = gloom::filter::atomic(100, 0.01).value();
    f.add("here").value();
#endif
    return f.test("here") && !f.test("there");
}
