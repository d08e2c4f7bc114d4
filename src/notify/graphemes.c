/* SPDX-License-Identifier: MIT
 *
 * graphemes.c - ICU's break iterator, loaded when it is needed.
 */
#include "notify/graphemes.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unicode/ubrk.h>
#include <unicode/uversion.h>

#include "base/error.h"

#define ICU_LIBRARY "libicuuc.so." U_ICU_VERSION_SHORT

/* The headers rename each function to one with the version in its name. */
#define NAME_OF(function_) AS_TEXT(function_)
#define AS_TEXT(word_) #word_

static struct {
    __typeof__(&ubrk_open) open;
    __typeof__(&ubrk_close) close;
    __typeof__(&ubrk_setUText) set_text;
    __typeof__(&ubrk_next) next;
    __typeof__(&utext_openUTF8) text_open;
    __typeof__(&utext_close) text_close;
    bool is_there;
    char why_not[256];
} icu;

static void
find(void *library, const char *name, void *ret_function)
{
    void *function = dlsym(library, name);
    icu.is_there &= function != NULL;
    memcpy(ret_function, &function, sizeof function);
}

/* load keeps the library for the rest of the process. */
static void
load(void)
{
    void *library = dlopen(ICU_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    icu.is_there = library != NULL;
    if (library != NULL) {
        find(library, NAME_OF(ubrk_open), &icu.open);
        find(library, NAME_OF(ubrk_close), &icu.close);
        find(library, NAME_OF(ubrk_setUText), &icu.set_text);
        find(library, NAME_OF(ubrk_next), &icu.next);
        find(library, NAME_OF(utext_openUTF8), &icu.text_open);
        find(library, NAME_OF(utext_close), &icu.text_close);
    }
    if (!icu.is_there)
        snprintf(icu.why_not, sizeof icu.why_not, "%s", or_empty(dlerror()));
}

/* mark_ascii needs nobody: only CR and LF are one character together. */
static bool
mark_ascii(struct str text, bool *ends)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.p[i] >= 0x80)
            return false;
    for (size_t i = 1; i < text.len; i++)
        ends[i] = text.p[i - 1] != '\r' || text.p[i] != '\n';
    ends[text.len] = true;
    return true;
}

static owed_status
mark_by_icu(struct str text, bool *ends, owed_error *err)
{
    UErrorCode code = U_ZERO_ERROR;
    UText *view = icu.text_open(NULL, text.p, (int64_t)text.len, &code);
    UBreakIterator *breaks = icu.open(UBRK_CHARACTER, "", NULL, 0, &code);
    icu.set_text(breaks, view, &code);
    if (U_SUCCESS(code))
        for (int32_t at = icu.next(breaks); at != UBRK_DONE; at = icu.next(breaks))
            ends[at] = true;
    if (breaks != NULL)
        icu.close(breaks);
    if (view != NULL)
        icu.text_close(view);
    if (U_FAILURE(code))
        return fail_native(
            err, OWED_CONFIG, code, "%s does not tell characters: is it whole?", ICU_LIBRARY);
    return OWED_OK;
}

owed_status
graphemes_mark(struct str text, bool *ends, owed_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (mark_ascii(text, ends))
        return OWED_OK;
    if (text.len > INT32_MAX)
        return fail(err, OWED_LIMIT, "a text of %zu bytes is too long to be taken apart", text.len);
    pthread_once(&once, load);
    if (!icu.is_there)
        return fail(err, OWED_CONFIG,
            "a text that is too long and not of ASCII alone needs %s, which cannot be loaded (%s): "
            "install it (libicu%s on Debian)",
            ICU_LIBRARY, icu.why_not, U_ICU_VERSION_SHORT);
    return mark_by_icu(text, ends, err);
}
