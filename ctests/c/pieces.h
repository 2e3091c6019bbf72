/* Memory that shows who reads or writes beyond its ends. Each piece on the heap is an allocation of exactly its size,
 * for tools that watch memory. A piece at a guard needs no tool: it touches a page that nobody may look at, so one
 * byte too far ends the program; vector loads in assembly, too, which a tool may not see.
 *
 * The program defines _DEFAULT_SOURCE before its first #include. */
#ifndef PIECES_H
#define PIECES_H

#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

typedef enum { ON_HEAP, BEFORE_GUARD, BEHIND_GUARD, PLACE_COUNT } place;
static const char *const PLACE_NAMES[PLACE_COUNT] = {"on the heap", "before a guard", "behind a guard"};

enum { GUARDED_PAGES = 16 };

typedef struct {
    void **start;
    size_t used, room;
} piece_list;

/* What was taken from the heap; and the regions between guards, of which the first `used` are taken. */
static piece_list heap_pieces, guarded_pieces;

static inline void remember_piece(piece_list *list, void *piece)
{
    if (list->used == list->room) {
        list->room = list->room * 2 + 64;
        list->start = realloc(list->start, list->room * sizeof *list->start);
        REQUIRE(list->start != NULL);
    }
    list->start[list->used++] = piece;
}

static inline unsigned char *guarded_region(size_t page)
{
    static size_t made;
    if (guarded_pieces.used < made)
        return guarded_pieces.start[guarded_pieces.used++];
    unsigned char *region = mmap(NULL, (GUARDED_PAGES + 2) * page, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(region != MAP_FAILED);
    REQUIRE(mprotect(region, page, PROT_NONE) == 0);
    REQUIRE(mprotect(region + (GUARDED_PAGES + 1) * page, page, PROT_NONE) == 0);
    remember_piece(&guarded_pieces, region);
    made++;
    return region;
}

/* A piece of `size` bytes with anything in it; never NULL. */
static inline void *take_piece(place where, size_t size)
{
    if (where == ON_HEAP) {
        /* An empty piece is the end of another, so that its first byte is one too far. */
        char *piece = malloc(size == 0 ? 1 : size);
        REQUIRE(piece != NULL);
        remember_piece(&heap_pieces, piece);
        return size == 0 ? piece + 1 : piece;
    }
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    REQUIRE(size <= GUARDED_PAGES * page);
    unsigned char *region = guarded_region(page);
    return where == BEHIND_GUARD ? region + page : region + (GUARDED_PAGES + 1) * page - size;
}

/* All pieces become invalid. Regions stay for the next time. */
static inline void give_pieces_back(void)
{
    for (size_t i = 0; i < heap_pieces.used; i++)
        free(heap_pieces.start[i]);
    heap_pieces.used = 0;
    guarded_pieces.used = 0;
}

/* At the end: what was kept. */
static inline void free_pieces(void)
{
    give_pieces_back();
    free(heap_pieces.start);
    free(guarded_pieces.start);
    memset(&heap_pieces, 0, sizeof heap_pieces);
}

#endif
