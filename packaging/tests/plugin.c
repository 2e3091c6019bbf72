/* Somebody's shared library with libgloom.a inside. */
#include <gloom.h>
#include <stdlib.h>
#include <string.h>

int plugin_remembers(const char *key);
int plugin_remembers(const char *key)
{
    gloom_filter *filter = gloom_new_sharded(1000, 0.01, 0);
    int right = filter && !gloom_test(filter, key, strlen(key)) && gloom_add(filter, key, strlen(key)) == GLOOM_OK &&
                gloom_test(filter, key, strlen(key));
    gloom_free(filter);
    return right;
}
