/* Lies about the length of a key, to see that a tool which watches memory sees into the library. Never run
 * without one. */
#include "filters.h"

int main(void)
{
    gloom_filter *filter = make_filter(GLOOM_KIND_ATOMIC, 10, 7, 0);
    unsigned char *key = malloc(24);
    REQUIRE(key != NULL);
    memset(key, 1, 24);
    printf("before\n");
    fflush(stdout);
    gloom_status status = gloom_add(filter, key, 32);
    printf("after: %d\n", (int)status);
    free(key);
    gloom_free(filter);
    return 0;
}
