/* SPDX-License-Identifier: MIT
 *
 * cleanup.h - what a scope owns ends with the scope.
 *
 * CLEANUP(fn) before a declaration calls fn(&variable) on every way out; steal() takes the value out
 * of it, so that nothing is left to end.
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CLEANUP(fn) __attribute__((cleanup(fn)))

#define steal(variable) \
    ({ \
        __auto_type stolen_ = *(variable); \
        *(variable) = NULL; \
        stolen_; \
    })

static inline void
free_ptr(void *variable)
{
    free(*(void **)variable);
}

static inline void
fclose_ptr(FILE **file)
{
    if (*file != NULL)
        fclose(*file);
}

static inline void
close_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

#endif
