/* Other users of a folder that all may write, as a spool or a temporary one: what they put there must not harm a service that
 * saves, loads and maps. Runs as root, with processes of other users; docs/security.md, "Neighbours", names each test.
 *
 * usage: neighbours (on the disk, in memory, and on an overlay where mounts are allowed) */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include <grp.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/xattr.h>

#include "filters.h"
#include "folder.h"
#include "native.h"
#include "processes.h"

enum { ROOT = 0, NEIGHBOUR = 65534, SERVICE = 12345, KEYS = 100, WATCHDOG_SECONDS = 120 };

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
    static char path[PATH_ROOM + sizeof "spool/"];
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

    /* Of another group, the new one gets what the list gives its group, and not what the mask shows. */
    REQUIRE(set_list(path_of("spool"), "system.posix_acl_default", 0, 6));
    unlink(spool("filter"));
    plant_file();
    REQUIRE(removexattr(spool("filter"), "system.posix_acl_access") == 0);
    REQUIRE(chown(spool("filter"), ROOT, NEIGHBOUR) == 0 && chmod(spool("filter"), 0660) == 0);
    save();
    CHECK_U64(mode_of(spool("filter")), 0600);
    unlink(spool("filter"));
    save(); /* a new file gets what the folder says */
    CHECK(getxattr(spool("filter"), "system.posix_acl_access", NULL, 0) > 0);
}

/* ---- links ---- */

/* A folder of the service's own, with a filter in it that nobody else may read. */
static void make_private(void)
{
    gloom_filter *filter = a_filter();
    remove_tree(path_of("private"));
    REQUIRE(mkdir(path_of("private"), 0755) == 0);
    CHECK_OK(gloom_save(filter, path_of("private/secret"), GLOOM_FORMAT_NATIVE, NULL));
    REQUIRE(chmod(path_of("private/secret"), 0600) == 0);
    REQUIRE(chown(path_of("private/secret"), SERVICE, SERVICE) == 0 && chown(path_of("private"), SERVICE, SERVICE) == 0);
    gloom_free(filter);
}

static void fails_with(gloom_status status, const gloom_error *error, int os_error, const char *call)
{
    if (status != GLOOM_ERR_IO || error->os_error != os_error)
        check_failed(__FILE__, __LINE__, "%s gave %d, error %d (%s), wanted %s", call, (int)status, error->os_error,
                     status == GLOOM_OK ? "" : error->message, strerror(os_error));
    CHECK(true);
}

/* The path that the bodies below use, and what they must be told; 0 for nothing. */
static char path_to_use[PATH_ROOM];
static int error_to_expect;

/* Every call that takes a path. */
static void use_in_every_way(void)
{
    gloom_filter *filter = a_filter(), *out = NULL;
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    gloom_error error = {0};
    options.num_blocks = 40;
    options.k = 7;
    fails_with(gloom_save(filter, path_to_use, GLOOM_FORMAT_NATIVE, &error), &error, error_to_expect, "gloom_save");
    fails_with(gloom_load(path_to_use, NULL, &out, &error), &error, error_to_expect, "gloom_load");
    fails_with(gloom_inspect(path_to_use, &info, &error), &error, error_to_expect, "gloom_inspect");
    for (uint32_t flags = 0; flags < 8; flags++)
        fails_with(gloom_map(path_to_use, flags, &out, &error), &error, error_to_expect, "gloom_map");
    CHECK_STATUS(gloom_map_create(path_to_use, &options, &out, &error), GLOOM_ERR_IO);
    CHECK(error.os_error == error_to_expect || error.os_error == EEXIST);
    CHECK(out == NULL);
    gloom_free(filter);
}

static void save_there(void)
{
    gloom_filter *filter = a_filter(), *out = NULL;
    gloom_error error = {0};
    gloom_status status = gloom_save(filter, path_to_use, GLOOM_FORMAT_V1, &error);
    if (status != GLOOM_OK)
        fprintf(stderr, "gloom_save: %s\n", error.message);
    CHECK_OK(status);
    CHECK_OK(gloom_load(path_to_use, NULL, &out, &error));
    gloom_free(out);
    gloom_free(filter);
}

static char link_target[PATH_ROOM];

static void plant_link(void)
{
    REQUIRE(symlink(link_target, spool("link")) == 0);
}

static void use_link_as(unsigned user, const char *path, int os_error)
{
    (void)snprintf(path_to_use, sizeof path_to_use, "%s", path);
    error_to_expect = os_error;
    as(user, os_error == 0 ? save_there : use_in_every_way);
}

static void links_of_others(void)
{
    static const struct {
        const char *target, *path; /* of the link, and what the service uses */
    } CASES[] = {{"private/secret", "spool/link"},            /* a file of the service */
                 {"private/new", "spool/link"},               /* a name that is free */
                 {"private", "spool/link/secret"},            /* a folder on the way */
                 {"private", "spool/link/new"},
                 {"private", "spool/link/../private/secret"}, /* ... and out of it again */
                 {"private/secret", "spool/own"}};            /* behind a link of the service's own */
    size_t len;
    static const unsigned SERVICES[] = {ROOT, SERVICE};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        CONTEXT("%s: a link of another user to %s, used as %s", place, CASES[i].target, CASES[i].path);
        make_spool(01777);
        make_private();
        unsigned char *secret = read_file(path_of("private/secret"), &len);
        (void)snprintf(link_target, sizeof link_target, "%s", path_of(CASES[i].target));
        as(NEIGHBOUR, plant_link);
        REQUIRE(symlink("link", spool("own")) == 0);
        for (size_t j = 0; j < 2; j++) {
            REQUIRE(lchown(spool("own"), SERVICES[j], SERVICES[j]) == 0);
            use_link_as(SERVICES[j], path_of(CASES[i].path), EACCES);
        }
        CHECK(file_is(path_of("private/secret"), secret, len));
        CHECK_U64(status_of(path_of("private/secret")).st_uid, SERVICE);
        CHECK_U64(names_in(path_of("private")), 1);
        CHECK_U64(names_in(path_of("spool")), 2);
        free(secret);

        /* The neighbour's own links lead the neighbour; and where nobody else could have put one, nobody is stopped. */
        if (i == 1) {
            REQUIRE(chmod(path_of("private"), 0777) == 0);
            use_link_as(NEIGHBOUR, spool("link"), 0);
            REQUIRE(unlink(path_of("private/new")) == 0);
            REQUIRE(chmod(path_of("spool"), 0755) == 0);
            use_link_as(SERVICE, spool("link"), 0);
            CHECK_U64(status_of(path_of("private/new")).st_uid, SERVICE);
        }
    }

    CONTEXT("%s: a second name for a link of the service's own", place);
    make_spool(01777);
    make_private();
    REQUIRE(symlink(path_of("private/secret"), path_of("private/link")) == 0);
    REQUIRE(lchown(path_of("private/link"), SERVICE, SERVICE) == 0);
    REQUIRE(linkat(AT_FDCWD, path_of("private/link"), AT_FDCWD, spool("link"), 0) == 0);
    use_link_as(SERVICE, spool("link"), EACCES);

    CONTEXT("%s: a link of the folder's owner", place);
    make_spool(01777);
    make_private();
    (void)snprintf(link_target, sizeof link_target, "%s", path_of("private/secret"));
    plant_link();
    use_link_as(SERVICE, spool("link"), 0);
    CHECK_U64(names_in(path_of("private")), 1);
    remove_tree(path_of("private"));
}

/* A second name for a file of the service: the save takes the name and leaves the file. */
static void hard_links(void)
{
    size_t len;
    CONTEXT("%s: a hard link", place);
    make_spool(01777);
    make_private();
    unsigned char *secret = read_file(path_of("private/secret"), &len);
    REQUIRE(link(path_of("private/secret"), spool("filter")) == 0);
    save();
    CHECK(file_is(path_of("private/secret"), secret, len));
    CHECK_U64(status_of(path_of("private/secret")).st_nlink, 1);
    CHECK_U64(status_of(spool("filter")).st_uid, ROOT);
    free(secret);
    remove_tree(path_of("private"));
}

/* ---- what is no regular file ---- */

static void plant_fifo(void)
{
    REQUIRE(mkfifo(spool("fifo"), 0666) == 0 && chmod(spool("fifo"), 0666) == 0);
}

/* The watchdog would end a call that waits. */
static void fifos(void)
{
    static const unsigned SERVICES[] = {ROOT, SERVICE};
    CONTEXT("%s: a FIFO", place);
    make_spool(01777);
    as(NEIGHBOUR, plant_fifo);
    REQUIRE(symlink("fifo", spool("link")) == 0);
    for (size_t i = 0; i < 2; i++) {
        use_link_as(SERVICES[i], spool("fifo"), ENODEV);
        use_link_as(SERVICES[i], spool("link"), ENODEV);
    }
    CHECK(S_ISFIFO(status_of(spool("fifo")).st_mode));
}

/* ---- names of files that are not complete ---- */

static void hidden_name(char *path, uint64_t number)
{
    char name[64];
    (void)snprintf(name, sizeof name, ".filter.gloom-%016" PRIx64, number);
    (void)snprintf(path, PATH_ROOM, "%s", spool(name));
}

enum { PLANTED = 40 };

/* Whatever somebody else gives such a name stays, and is not opened. */
static void plant_hidden(void)
{
    char path[PATH_ROOM], old[PATH_ROOM];
    for (uint64_t i = 0; i < PLANTED; i++) {
        hidden_name(path, i);
        if (i % 4 == 0)
            REQUIRE(mkfifo(path, 0666) == 0);
        else if (i % 4 == 1)
            REQUIRE(symlink(link_target, path) == 0);
        else if (i % 4 == 2)
            write_file(path, "mine", 4);
        else
            REQUIRE(mkdir(path, 0777) == 0);
        /* As names were once. */
        (void)snprintf(old, sizeof old, ".filter.gloom-%d-%d", (int)getppid(), (int)i);
        write_file(spool(old), "", 0);
    }
}

static void hidden_names_of_others(void)
{
    CONTEXT("%s: names that somebody has taken", place);
    make_spool(01777);
    make_private();
    (void)snprintf(link_target, sizeof link_target, "%s", path_of("private/secret"));
    as(NEIGHBOUR, plant_hidden);
    save();
    save();
    CHECK_U64(names_in(path_of("spool")), 2 * PLANTED + 1);
    CHECK(exists(path_of("private/secret")));
    remove_tree(path_of("private"));
}

static void make_left(const char *path)
{
    write_file(path, "left", 4);
}

/* Of one's own files with such a name, those go whose makers have died. */
static void leftovers(void)
{
    char dead[PATH_ROOM], living[PATH_ROOM], second[PATH_ROOM], for_another[PATH_ROOM], read_only[PATH_ROOM];
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 2, .l_len = 1};
    CONTEXT("%s: files that were left", place);
    make_spool(01777);
    hidden_name(dead, 1);
    hidden_name(living, 2);
    hidden_name(second, 3);
    hidden_name(read_only, UINT64_MAX);
    (void)snprintf(for_another, sizeof for_another, "%s", spool(".another.gloom-0000000000000001"));
    make_left(dead);
    make_left(living);
    make_left(second);
    make_left(for_another);
    make_left(read_only);
    make_left(spool(".filter.gloom-000000000000000G"));
    make_left(spool(".filter.gloom-1"));
    REQUIRE(chmod(read_only, 0400) == 0);
    REQUIRE(link(second, spool("second")) == 0);
    int file = open(living, O_RDWR);
    REQUIRE(file >= 0 && fcntl(file, F_OFD_SETLK, &lock) == 0);
    save();
    CHECK(!exists(dead) && !exists(read_only));
    CHECK(exists(living) && exists(second) && exists(for_another));
    CHECK_U64(names_in(path_of("spool")), 7);
    close(file);
    save();
    CHECK(!exists(living));

    /* Also where it has the name as well, as by linking and removing. */
    REQUIRE(link(spool("filter"), dead) == 0);
    save();
    CHECK(!exists(dead));

    /* Also of one who may not write it. */
    make_left(dead);
    REQUIRE(chown(dead, SERVICE, SERVICE) == 0 && chmod(dead, 0400) == 0);
    (void)snprintf(path_to_use, sizeof path_to_use, "%s", spool("filter"));
    unlink(spool("filter"));
    as(SERVICE, save_there);
    CHECK(!exists(dead));

    /* Making a map removes them as well. */
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *map = NULL;
    options.num_blocks = 40;
    options.k = 7;
    make_left(dead);
    unlink(spool("filter"));
    CHECK_OK(gloom_map_create(spool("filter"), &options, &map, NULL));
    CHECK(!exists(dead));
    gloom_free(map);
}

/* ---- savers who may only read ---- */

/* ---- locks ---- */

static int lock_to_hold; /* which byte */

/* Puts a file there, and holds a lock of it until it is told to end. */
static void put_and_lock(process *parent)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = lock_to_hold, .l_len = 1};
    gloom_filter *filter = a_filter();
    become(NEIGHBOUR);
    CHECK_OK(gloom_save(filter, spool("filter"), GLOOM_FORMAT_NATIVE, NULL));
    gloom_free(filter);
    REQUIRE(chmod(spool("filter"), 0666) == 0);
    int file = open(spool("filter"), O_RDWR);
    REQUIRE(file >= 0 && fcntl(file, F_OFD_SETLK, &lock) == 0);
    say(parent, 1);
    hear_that(parent, 2);
    close(file);
}

/* A stranger's file whose locks the stranger holds: nobody waits. */
static void locks_of_others(void)
{
    for (lock_to_hold = 0; lock_to_hold < 2; lock_to_hold++) {
        gloom_filter *filter = a_filter(), *map = NULL;
        CONTEXT("%s: a stranger holds lock %d", place, lock_to_hold);
        make_spool(01777);
        process child = start_process(put_and_lock, (process){0});
        hear_that(&child, 1);
        CHECK_STATUS(gloom_save(filter, spool("filter"), GLOOM_FORMAT_NATIVE, NULL), GLOOM_ERR_BUSY);
        CHECK_STATUS(gloom_map(spool("filter"), GLOOM_MAP_READ_WRITE, &map, NULL), GLOOM_ERR_BUSY);
        CHECK_OK(gloom_map(spool("filter"), 0, &map, NULL));
        gloom_free(map);
        say(&child, 2);
        end_process(&child);
        map = NULL;
        CHECK_OK(gloom_map(spool("filter"), GLOOM_MAP_READ_WRITE, &map, NULL));
        gloom_free(map);
        CHECK_OK(gloom_save(filter, spool("filter"), GLOOM_FORMAT_NATIVE, NULL));
        gloom_free(filter);
    }
}

static gloom_status status_to_expect;

static void save_and_expect(void)
{
    gloom_filter *filter = a_filter();
    CHECK_STATUS(gloom_save(filter, spool("filter"), GLOOM_FORMAT_NATIVE, NULL), status_to_expect);
    gloom_free(filter);
}

/* Of two who replace a file that neither may write, one is told that it is in use. */
static void savers_who_may_only_read(void)
{
    CONTEXT("%s: savers who may only read", place);
    make_spool(0777);
    mode_to_plant = 0644;
    plant_file();
    int file = open(spool("filter"), O_RDONLY);
    REQUIRE(file >= 0 && flock(file, LOCK_EX) == 0);
    status_to_expect = GLOOM_ERR_BUSY;
    as(SERVICE, save_and_expect);
    CHECK(file_is(spool("filter"), "planted", 7));
    close(file);
    status_to_expect = GLOOM_OK;
    as(SERVICE, save_and_expect);
    CHECK_U64(status_of(spool("filter")).st_uid, SERVICE);
}

static void all_tests(void)
{
    modes_of_others();
    modes_of_ones_own();
    modes_of_another_group();
    lists();
    links_of_others();
    hard_links();
    fifos();
    hidden_names_of_others();
    leftovers();
    locks_of_others();
    savers_who_may_only_read();
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

/* ---- mounts of one's own ---- */

/* Gives the process a view of the file system that is its own; false where that is not allowed. */
static bool unshare_mounts(const char *what)
{
    if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
        return true;
    printf("NOT TESTED: mounts are not allowed: %s\n", what);
    CHECK(true);
    return false;
}

/* With a folder of files in memory of so many bytes. */
static void mount_memory(const char *path, const char *size)
{
    REQUIRE(mkdir(path, 0755) == 0 || errno == EEXIST);
    REQUIRE(mount("none", path, "tmpfs", 0, size) == 0);
}

/* A container: an image below, and a layer for what is written. */
static bool mount_overlay(void)
{
    char options[4 * PATH_ROOM], layers[PATH_ROOM];
    (void)snprintf(layers, sizeof layers, "%s", path_of("layers"));
    mount_memory(layers, "size=64m");
    static const char *const names[] = {"layers/image", "layers/upper", "layers/work", "merged"};
    for (size_t i = 0; i < 4; i++)
        REQUIRE(mkdir(path_of(names[i]), 0755) == 0);
    (void)snprintf(options, sizeof options, "lowerdir=%s/image,upperdir=%s/upper,workdir=%s/work", layers, layers, layers);
    gloom_filter *filter = a_filter();
    CHECK_OK(gloom_save(filter, path_of("layers/image/filter"), GLOOM_FORMAT_NATIVE, NULL));
    gloom_free(filter);
    if (mount("none", path_of("merged"), "overlay", 0, options) == 0)
        return true;
    printf("NOT TESTED: no overlayfs here\n");
    CHECK(true);
    return false;
}

static void on_overlay(process *parent)
{
    (void)parent;
    place = "on an overlay";
    if (!unshare_mounts(place) || !mount_overlay())
        return;
    REQUIRE(unlink(path_of("merged/filter")) == 0 && chmod(folder, 0755) == 0);
    (void)snprintf(folder, sizeof folder, "%s", path_of("merged"));
    all_tests();
}

/* A reader who maps a file of the image before a writer opens it goes on with the image's, and can tell. */
static void stale_on_overlay(process *parent)
{
    gloom_filter *reader = NULL, *writer = NULL, *later = NULL;
    (void)parent;
    CONTEXT("%s", "a map of a file of the image");
    if (!unshare_mounts("maps on an overlay") || !mount_overlay())
        return;
    const char *path = path_of("merged/filter");
    CHECK_OK(gloom_map(path, 0, &reader, NULL));
    CHECK(!gloom_is_stale(reader));
    CHECK_OK(gloom_map(path, GLOOM_MAP_READ_WRITE, &writer, NULL));
    add_numbers(writer, KEYS, 2 * KEYS);
    CHECK(!gloom_is_stale(writer));
    CHECK(gloom_is_stale(reader));
    CHECK(numbers_missing(reader, KEYS, 2 * KEYS) > 0); /* or this would be no fault of overlayfs any more */
    CHECK_OK(gloom_map(path, 0, &later, NULL));
    CHECK(!gloom_is_stale(later));
    CHECK_U64(numbers_missing(later, 0, 2 * KEYS), 0);
    gloom_free(reader);
    gloom_free(writer);
    CHECK(!gloom_is_stale(later));
    gloom_free(later);
}

/* A file of 4 KiB on the disk that says that it is a filter of 64 MiB. */
static void write_sparse(const char *path, uint64_t num_blocks)
{
    gloom_filter *filter = make_filter(GLOOM_KIND_PLAIN, num_blocks, 7, 0);
    size_t len;
    unsigned char *bytes = bytes_of(filter, GLOOM_FORMAT_NATIVE, &len);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    REQUIRE(file >= 0 && ftruncate(file, (off_t)len) == 0);
    REQUIRE(pwrite(file, bytes, 4096, 0) == 4096);
    REQUIRE(pwrite(file, bytes + len - NATIVE_TRAILER_SIZE, NATIVE_TRAILER_SIZE, (off_t)(len - NATIVE_TRAILER_SIZE)) ==
            NATIVE_TRAILER_SIZE);
    close(file);
    free(bytes);
    gloom_free(filter);
}

static void sparse_on_a_small_disk(process *parent)
{
    enum { BLOCKS = 1 << 20 };
    gloom_filter *map = NULL;
    gloom_error error;
    gloom_map_options options = GLOOM_MAP_OPTIONS_INIT;
    struct stat before, after;
    (void)parent;
    CONTEXT("%s", "a file with holes on a small disk");
    if (!unshare_mounts("a small disk"))
        return;
    mount_memory(path_of("small"), "size=16m");
    write_sparse(path_of("small/filter"), BLOCKS);
    before = status_of(path_of("small/filter"));
    CHECK(before.st_blocks < 100 && before.st_size > (off_t)BLOCKS * 64);
    CHECK_STATUS(gloom_map(path_of("small/filter"), GLOOM_MAP_READ_WRITE, &map, &error), GLOOM_ERR_IO);
    CHECK_U64((uint64_t)error.os_error, ENOSPC);
    after = status_of(path_of("small/filter"));
    CHECK_U64((uint64_t)after.st_blocks, (uint64_t)before.st_blocks);
    CHECK_U64((uint64_t)after.st_size, (uint64_t)before.st_size);

    options.flags = GLOOM_MAP_READ_WRITE;
    options.max_bytes = (uint64_t)BLOCKS * 64 - 1;
    CHECK_STATUS(gloom_map_with_options(path_of("small/filter"), &options, &map, &error), GLOOM_ERR_LIMIT);
    CHECK_HAS(error.message, "max_bytes");
    options.flags = 0;
    CHECK_STATUS(gloom_map_with_options(path_of("small/filter"), &options, &map, &error), GLOOM_ERR_LIMIT);
    CHECK(map == NULL);
    options.max_bytes++;
    CHECK_OK(gloom_map_with_options(path_of("small/filter"), &options, &map, &error));
    CHECK_U64(gloom_num_blocks(map), BLOCKS);
    gloom_free(map);
    map = NULL;

    /* Where there is the space, it is taken. */
    REQUIRE(mount("none", path_of("small"), "tmpfs", MS_REMOUNT, "size=128m") == 0);
    CHECK_OK(gloom_map(path_of("small/filter"), GLOOM_MAP_READ_WRITE, &map, &error));
    CHECK((uint64_t)status_of(path_of("small/filter")).st_blocks * 512 >= (uint64_t)BLOCKS * 64);
    gloom_free(map);
}

/* A mount whose links are not followed by the system. */
static void mount_without_links(process *parent)
{
    const unsigned long no_links = 256; /* MS_NOSYMFOLLOW, since Linux 5.10 */
    gloom_filter *filter = a_filter(), *out = NULL;
    gloom_error error;
    (void)parent;
    CONTEXT("%s", "a mount whose links are not followed");
    if (!unshare_mounts("a mount whose links are not followed"))
        return;
    REQUIRE(mkdir(path_of("mount"), 0755) == 0);
    if (mount("none", path_of("mount"), "tmpfs", no_links, "size=16m") != 0) {
        printf("NOT TESTED: no such mounts here\n");
        CHECK(true);
        return;
    }
    CHECK_OK(gloom_save(filter, path_of("mount/filter"), GLOOM_FORMAT_V1, NULL));
    REQUIRE(symlink("filter", path_of("mount/link")) == 0);
    fails_with(gloom_load(path_of("mount/link"), NULL, &out, &error), &error, ELOOP, "gloom_load");
    fails_with(gloom_save(filter, path_of("mount/link"), GLOOM_FORMAT_V1, &error), &error, ELOOP, "gloom_save");
    gloom_free(filter);
}

/* A user namespace, in which all users of outside look alike: the folder's owner and whoever made the link. */
static void links_in_a_user_namespace(process *parent)
{
    (void)parent;
    CONTEXT("%s", "a link in a user namespace");
    make_spool(01777);
    make_private();
    (void)snprintf(link_target, sizeof link_target, "%s", path_of("private/secret"));
    as(NEIGHBOUR, plant_link);
    REQUIRE(setgid(SERVICE) == 0 && setuid(SERVICE) == 0);
    if (unshare(CLONE_NEWUSER) != 0) {
        printf("NOT TESTED: no user namespaces here\n");
        CHECK(true);
        return;
    }
    REQUIRE(prctl(PR_SET_DUMPABLE, 1) == 0); /* or /proc/self would not be its own */
    int map = open("/proc/self/uid_map", O_WRONLY);
    REQUIRE(map >= 0 && write(map, "0 12345 1", 9) == 9 && close(map) == 0);
    CHECK_U64(status_of(path_of("spool")).st_uid, 65534);
    (void)snprintf(path_to_use, sizeof path_to_use, "%s", spool("link"));
    error_to_expect = EACCES;
    use_in_every_way();
}

/* A jail without /proc: everything works; only the boot cannot be told, so a file that a writer left counts as one of
 * another boot. */
static void without_proc(process *parent)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    gloom_filter *map = NULL, *filter = a_filter(), *out = NULL;
    size_t len;
    (void)parent;
    CONTEXT("%s", "without /proc");
    if (!unshare_mounts("a jail without /proc"))
        return;
    mount_memory("/proc", "size=1m");
    REQUIRE(!exists("/proc/self"));
    options.num_blocks = 40;
    options.k = 7;
    const char *path = path_of("filter");
    CHECK_OK(gloom_map_create(path, &options, &map, NULL));
    add_numbers(map, 0, KEYS);
    CHECK_OK(gloom_sync(map, NULL));
    CHECK_OK(gloom_inspect(path, &info, NULL));
    CHECK_U64(info.dirty, 1);
    unsigned char *left = read_file(path, &len); /* as a writer leaves it that dies */
    gloom_free(map);
    map = NULL;
    for (int i = 0; i < 2; i++) {
        CHECK_OK(gloom_map(path, GLOOM_MAP_READ_WRITE, &map, NULL));
        CHECK_U64(numbers_missing(map, 0, KEYS), 0);
        gloom_free(map);
        map = NULL;
    }
    CHECK_OK(gloom_inspect(path, &info, NULL));
    CHECK_U64(info.dirty, 0);

    write_file(path, left, len);
    CHECK_OK(gloom_inspect(path, &info, NULL));
    CHECK_U64(info.dirty, 1);
    CHECK_STATUS(gloom_load(path, NULL, &out, NULL), GLOOM_ERR_CORRUPT);
    CHECK_STATUS(gloom_map(path, 0, &out, NULL), GLOOM_ERR_CORRUPT);
    CHECK_STATUS(gloom_map(path, GLOOM_MAP_READ_WRITE, &out, NULL), GLOOM_ERR_CORRUPT);
    CHECK(out == NULL);
    CHECK_OK(gloom_map(path, GLOOM_MAP_READ_WRITE | GLOOM_MAP_ALLOW_DIRTY, &map, NULL));
    CHECK_U64(numbers_missing(map, 0, KEYS), 0);
    gloom_free(map);

    for (int i = 0; i < 2; i++) {
        CHECK_OK(gloom_save(filter, path, GLOOM_FORMAT_V1, NULL));
        CHECK_OK(gloom_load(path, NULL, &out, NULL));
        CHECK(gloom_equal(filter, out));
        gloom_free(out);
    }
    CHECK_U64(names_in(folder), 1);
    unlink(path);
    free(left);
    gloom_free(filter);
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
    static void (*const WITH_MOUNTS[])(process *) = {on_overlay, stale_on_overlay, sparse_on_a_small_disk, mount_without_links,
                                                    links_in_a_user_namespace, without_proc};
    for (size_t i = 0; i < sizeof WITH_MOUNTS / sizeof WITH_MOUNTS[0]; i++) {
        make_folder(ON_DISK);
        in_a_process(WITH_MOUNTS[i]);
        remove_folder();
    }
    return check_report();
}
