/* Other users of a folder that all may write, as a spool or a temporary one: what they put there must not harm a service that
 * saves, loads and maps. Runs as root, with processes of other users; docs/security.md, "Neighbours", names each test.
 *
 * usage: neighbours (on the disk, in memory, and on an overlay where mounts are allowed) */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include <grp.h>
#include <sys/xattr.h>

#include "filters.h"
#include "folder.h"
#include "processes.h"

enum { ROOT = 0, NEIGHBOUR = 65534, SERVICE = 12345, KEYS = 100, WATCHDOG_SECONDS = 600 };

static const char *place; /* what the folder is on, for messages */

static void become(unsigned user)
{
    gid_t group = (gid_t)user;
    REQUIRE(setgroups(1, &group) == 0 && setgid(group) == 0 && setuid((uid_t)user) == 0);
    umask(022);
}

static void (*body_of_user)(void);
static unsigned user_of_body;

static void run_as_user(process *parent)
{
    (void)parent;
    become(user_of_body);
    body_of_user();
    CHECK(true);
}

/* Runs something in a process of another user. */
static void as(unsigned user, void (*body)(void))
{
    user_of_body = user;
    body_of_user = body;
    in_a_process(run_as_user);
}

/* The folder that all may write. */
static const char *spool(const char *name)
{
    static char path[PATH_ROOM];
    (void)snprintf(path, sizeof path, "spool/%s", name);
    return path_of(path);
}

static void make_spool(mode_t mode)
{
    remove_tree(path_of("spool"));
    REQUIRE(chmod(folder, 0755) == 0);
    REQUIRE(mkdir(path_of("spool"), 0777) == 0 && chmod(path_of("spool"), mode) == 0);
}

static gloom_filter *a_filter(void)
{
    gloom_filter *filter = make_filter(GLOOM_KIND_ATOMIC, 40, 7, 0);
    add_numbers(filter, 0, KEYS);
    return filter;
}

static void save(void)
{
    gloom_filter *filter = a_filter();
    gloom_error error = {0};
    gloom_status status = gloom_save(filter, spool("filter"), GLOOM_FORMAT_NATIVE, &error);
    if (status != GLOOM_OK)
        fprintf(stderr, "gloom_save: %s\n", error.message);
    CHECK_OK(status);
    gloom_free(filter);
}

static mode_t mode_of(const char *path)
{
    return status_of(path).st_mode & 07777;
}

/* ---- permissions ---- */

static mode_t mode_to_plant;

static void plant_file(void)
{
    write_file(spool("filter"), "planted", 7);
    REQUIRE(chmod(spool("filter"), mode_to_plant) == 0);
}

/* A planted file's mode says nothing about the new file, and its set-user-id bit least of all. */
static void modes_of_others(void)
{
    static const mode_t MODES[] = {06777, 04755, 02777, 01666, 07777, 0666, 0600, 0606, 0755};
    for (size_t i = 0; i < sizeof MODES / sizeof MODES[0]; i++) {
        CONTEXT("%s: a file of another user, mode %o", place, (unsigned)MODES[i]);
        make_spool(01777);
        mode_to_plant = MODES[i];
        as(NEIGHBOUR, plant_file);
        save();
        CHECK_U64(mode_of(spool("filter")), 0644);
        CHECK_U64(status_of(spool("filter")).st_uid, ROOT);
        CHECK_U64(names_in(path_of("spool")), 1);
    }
}

/* One's own file keeps its mode, but for the three bits that a file of data never has. */
static void modes_of_ones_own(void)
{
    static const mode_t MODES[] = {06777, 04755, 02640, 01666, 0600, 0640, 0604, 0444, 0755};
    for (size_t i = 0; i < sizeof MODES / sizeof MODES[0]; i++) {
        CONTEXT("%s: a file of one's own, mode %o", place, (unsigned)MODES[i]);
        make_spool(01777);
        mode_to_plant = MODES[i];
        plant_file();
        save();
        CHECK_U64(mode_of(spool("filter")), MODES[i] & 0777);
    }
}

/* What one group could read, another one need not. */
static void modes_of_another_group(void)
{
    static const struct {
        mode_t old, mask, new;
    } CASES[] = {{0600, 022, 0600}, {0640, 022, 0640}, {0660, 022, 0640}, {0664, 077, 0604}, {02670, 0, 0660}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        CONTEXT("%s: a file of another group, mode %o", place, (unsigned)CASES[i].old);
        make_spool(01777);
        write_file(spool("filter"), "old", 3);
        REQUIRE(chown(spool("filter"), ROOT, NEIGHBOUR) == 0 && chmod(spool("filter"), CASES[i].old) == 0);
        mode_t mask = umask(CASES[i].mask);
        save();
        umask(mask);
        CHECK_U64(mode_of(spool("filter")), CASES[i].new);
        CHECK_U64(status_of(spool("filter")).st_gid, ROOT);
    }
}

/* Lists as the kernel has them: a version, then tag, permissions and id of each entry, little-endian. */
static bool set_list(const char *path, const char *name, unsigned group, unsigned mask)
{
    unsigned char list[4 + 5 * 8];
    const struct {
        uint16_t tag, permissions;
        uint32_t id;
    } ENTRIES[] = {{1, 6, UINT32_MAX}, /* the owner */
                   {2, 6, NEIGHBOUR},  /* a user by name */
                   {4, (uint16_t)group, UINT32_MAX},
                   {16, (uint16_t)mask, UINT32_MAX},
                   {32, 0, UINT32_MAX}}; /* others */
    memcpy(list, "\2\0\0\0", 4);
    memcpy(list + 4, ENTRIES, sizeof ENTRIES);
    if (setxattr(path, name, list, sizeof list, 0) == 0)
        return true;
    REQUIRE(errno == EOPNOTSUPP);
    printf("%s: no access control lists: not tested\n", place);
    return false;
}

/* With a list, the mode shows the mask and not what the group may do. */
static void lists(void)
{
    CONTEXT("%s: a file with a list", place);
    make_spool(01777);
    mode_to_plant = 0600;
    plant_file();
    if (!set_list(spool("filter"), "system.posix_acl_access", 0, 6))
        return;
    CHECK_U64(mode_of(spool("filter")), 0660);
    save();
    CHECK_U64(mode_of(spool("filter")), 0600);

    plant_file();
    REQUIRE(set_list(spool("filter"), "system.posix_acl_access", 4, 6));
    save();
    CHECK_U64(mode_of(spool("filter")), 0640);

    CONTEXT("%s: a folder with a list for new files", place);
    make_spool(01777);
    mode_to_plant = 0660;
    plant_file();
    REQUIRE(set_list(path_of("spool"), "system.posix_acl_default", 4, 6));
    save();
    CHECK_U64(mode_of(spool("filter")), 0660);
    CHECK(getxattr(spool("filter"), "system.posix_acl_access", NULL, 0) == -1 && errno == ENODATA);
    unlink(spool("filter"));
    save(); /* a new file gets what the folder says */
    CHECK(getxattr(spool("filter"), "system.posix_acl_access", NULL, 0) > 0);
}

static void all_tests(void)
{
    modes_of_others();
    modes_of_ones_own();
    modes_of_another_group();
    lists();
    remove_tree(path_of("spool"));
    CONTEXT("%s", "");
}

static void on(medium where)
{
    place = where == ON_DISK ? "on the disk" : "in memory";
    make_folder(where);
    all_tests();
    CHECK_U64(names_in(folder), 0);
    remove_folder();
}

int main(void)
{
    if (geteuid() != 0) {
        printf("NOT TESTED: neighbours.c needs root, to be several users\n");
        return 0;
    }
    alarm(WATCHDOG_SECONDS); /* a wait that does not end ends the program */
    umask(022);
    on(ON_DISK);
    on(IN_MEMORY);
    return check_report();
}
