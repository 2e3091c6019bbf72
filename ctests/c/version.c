/* A program can tell at run time whether the library it got is the one its header describes. */
#include "check.h"

int main(void)
{
    char text[32];
    CHECK_U64(gloom_version(), GLOOM_VERSION);
    CHECK_U64(GLOOM_VERSION, GLOOM_VERSION_MAJOR * 10000 + GLOOM_VERSION_MINOR * 100 + GLOOM_VERSION_PATCH);
    CHECK_U64(gloom_abi_version(), GLOOM_ABI_VERSION);
    CHECK_STRING(gloom_version_string(), GLOOM_VERSION_STRING);
    (void)snprintf(text, sizeof text, "%d.%d.%d", GLOOM_VERSION_MAJOR, GLOOM_VERSION_MINOR,
                   GLOOM_VERSION_PATCH);
    CHECK_STRING(GLOOM_VERSION_STRING, text);
    return check_report();
}
