/* What C or Rust leave undefined, to see that the tools notice. Never run without them.
 *
 *   undefined c       a sum that overflows, in C
 *   undefined rust    a filter that is none: where its blocks would be is not aligned */
#include "filters.h"

int main(int argc, char **argv)
{
    REQUIRE(argc == 2);
    gloom_filter *filter = make_filter(GLOOM_KIND_ATOMIC, 1, 7, 0);
    if (strcmp(argv[1], "c") == 0) {
        int sum = INT32_MAX - 1;
        sum += argc;
        printf("after: %d\n", sum);
    } else {
        static _Alignas(64) unsigned char ones[4096];
        memset(ones, 1, sizeof ones);
        printf("after: %d\n", (int)gloom_num_blocks((const gloom_filter *)(const void *)ones));
    }
    gloom_free(filter);
    return 0;
}
