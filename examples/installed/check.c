/* Which lines of stdin are certainly not in a list of keys?
 *
 *   check LIST <lines        prints the lines that are not in the file LIST; "maybe" stays silent */
#define _POSIX_C_SOURCE 200809L
#include <gloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The length of a line without its end. */
static size_t trimmed(const char *line, size_t length)
{
    return length > 0 && line[length - 1] == '\n' ? length - 1 : length;
}

int main(int argc, char **argv)
{
    FILE *list = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!list) {
        fprintf(stderr, "usage: check LIST <lines\n");
        return 2;
    }

    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    uint64_t keys = 0;
    while ((length = getline(&line, &capacity, list)) >= 0)
        keys++;
    rewind(list);

    gloom_options options = GLOOM_OPTIONS_INIT;
    options.kind = GLOOM_KIND_PLAIN; /* one thread */
    options.expected_items = keys;
    options.fp_rate = 0.001;
    gloom_filter *filter = NULL;
    gloom_error error;
    if (gloom_create(&options, &filter, &error) != GLOOM_OK) {
        fprintf(stderr, "check: %s\n", error.message);
        return 1;
    }
    while ((length = getline(&line, &capacity, list)) >= 0)
        gloom_add(filter, line, trimmed(line, (size_t)length)); /* cannot fail with these arguments */

    while ((length = getline(&line, &capacity, stdin)) >= 0)
        if (!gloom_test(filter, line, trimmed(line, (size_t)length)))
            fwrite(line, 1, (size_t)length, stdout);

    free(line);
    fclose(list);
    gloom_free(filter);
    return 0;
}
