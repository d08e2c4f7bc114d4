/* SPDX-License-Identifier: MIT
 *
 * test_fit.c - what becomes of a text that is too long for its channel.
 */
#include "../unit.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unicode/uversion.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "notify/fit.h"
#include "notify/sms_text.h"

#define ELLIPSIS "\xe2\x80\xa6"
#define ICU_LIBRARY "libicuuc.so." U_ICU_VERSION_SHORT

/* What a reader sees as one character. */
#define FAMILY "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7" // joined
#define THUMB "\xf0\x9f\x91\x8d\xf0\x9f\x8f\xbd"                                          // toned
#define HEART "\xe2\x9d\xa4\xef\xb8\x8f"
#define KEYCAP "1\xef\xb8\x8f\xe2\x83\xa3"
#define FLAG "\xf0\x9f\x87\xba\xf0\x9f\x87\xa6"
#define ENGLAND \
    "\xf0\x9f\x8f\xb4\xf3\xa0\x81\xa7\xf3\xa0\x81\xa2\xf3\xa0\x81\xa5\xf3\xa0\x81\xae\xf3\xa0\x81" \
    "\xa7\xf3\xa0\x81\xbf"
#define ACCENTS "e\xcc\x81\xcc\xa3"
#define JAMO "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab"
#define HANGUL "\xed\x95\x9c"
#define CONJUNCT "\xe0\xa4\x95\xe0\xa5\x8d\xe0\xa4\xb7\xe0\xa4\xbf" // ka, virama, ssa, vowel sign
#define TAMIL "\xe0\xae\xa8\xe0\xae\xbf"
#define THAI "\xe0\xb8\x81\xe0\xb8\xb3"
#define HEBREW "\xd7\xa9\xd6\xb8\xd7\x81"
#define ARABIC "\xd8\xa8\xd9\x91\xd9\x8e"

static bool library_is_missing;

/* The library's loading, which a test can make fail. */
void *
dlopen(const char *name, int flags)
{
    static void *(*real)(const char *, int);
    if (real == NULL) {
        void *found = dlsym(RTLD_NEXT, "dlopen");
        memcpy(&real, &found, sizeof real);
    }
    return library_is_missing ? NULL : real(name, flags);
}

static bool
icu_is_mapped(void)
{
    void *library = dlopen(ICU_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    if (library != NULL)
        dlclose(library);
    return library != NULL;
}

static void
fits_as(struct fit fit, const char *text, const char *const *wanted)
{
    struct fit_pieces pieces CLEANUP(fit_pieces_done);
    owed_error err;
    owed_status status = fit_text(&fit, text, &pieces, &err);
    if (status != OWED_OK)
        fail_msg("\"%s\": %s", text, err.text);
    for (size_t i = 0; i < pieces.count; i++)
        if (wanted[i] == NULL || strcmp(pieces.texts[i], wanted[i]) != 0)
            fail_msg("piece %zu of \"%s\" is \"%s\"", i, text, pieces.texts[i]);
    check_case(wanted[pieces.count] == NULL, text);
}

#define FITS_AS(fit_, text_, ...) fits_as(fit_, text_, (const char *const[]){__VA_ARGS__, NULL})

static void
refused(struct fit fit, const char *text, const char *says)
{
    struct fit_pieces pieces;
    owed_error err = {0};
    check_case(fit_text(&fit, text, &pieces, &err) == OWED_LIMIT, text);
    if (strstr(err.text, says) == NULL)
        fail_msg("\"%s\", not \"%s\"", err.text, says);
    assert_null(pieces.memory);
}

static struct fit
fit_of(enum fit_unit unit, size_t most, enum fit_policy policy)
{
    return (struct fit){.unit = unit, .most = most, .policy = policy};
}

#define CUT(most_) fit_of(FIT_CHARACTERS, most_, FIT_CUT)
#define SPLIT(most_) fit_of(FIT_CHARACTERS, most_, FIT_SPLIT)

static const char *
times(struct buf *buf, size_t count, const char *text)
{
    buf_init(buf, 1 << 20);
    for (size_t i = 0; i < count; i++)
        buf_puts(buf, text);
    return buf_text(buf);
}

/* --- ICU --- */

static void
icu_is_loaded_by_the_first_text_that_needs_it(void **state)
{
    (void)state;
    FITS_AS(CUT(20),
        "gr\xc3\xbc\xc3\x9f"
        "e",
        "gr\xc3\xbc\xc3\x9f"
        "e");
    FITS_AS(CUT(8), "ascii that is long", "ascii" ELLIPSIS);
    refused(fit_of(FIT_CHARACTERS, 2, FIT_REFUSE), FAMILY FAMILY, "10 characters");
    assert_false(icu_is_mapped());
    FITS_AS(CUT(9), FAMILY FAMILY, FAMILY ELLIPSIS);
    assert_true(icu_is_mapped());
}

static void
without_icu_such_a_text_is_refused_with_what_is_missing(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        library_is_missing = true;
        struct fit fit = CUT(3);
        struct fit_pieces pieces;
        owed_error err = {0};
        bool is_told = fit_text(&fit, FAMILY, &pieces, &err) == OWED_CONFIG &&
            strstr(err.text, "needs " ICU_LIBRARY ", which cannot be loaded") != NULL &&
            strstr(err.text, "libicu" U_ICU_VERSION_SHORT) != NULL;
        bool is_needless = fit_text(&fit, "abcd", &pieces, &err) == OWED_OK;
        fit_pieces_done(&pieces);
        _exit(is_told && is_needless ? 0 : 1);
    }
    int said;
    assert_int_equal(waitpid(child, &said, 0), child);
    assert_true(WIFEXITED(said) && WEXITSTATUS(said) == 0);
}

/* --- units and policies --- */

static void
each_channel_counts_in_its_own_unit(void **state)
{
    (void)state;
    struct buf text CLEANUP(buf_done);
    times(&text, 2, "\xf0\x9f\x8e\x81"); // of 4 bytes, 1 character, 2 units
    static const struct {
        enum fit_unit unit;
        size_t most;
        const char *says;
    } cases[] = {
        {FIT_BYTES, 8, "8 bytes"},
        {FIT_CHARACTERS, 2, "2 characters"},
        {FIT_UTF16, 4, "4 UTF-16 units"},
        {FIT_SEGMENTS, 1, "1 SMS segments"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        FITS_AS(fit_of(cases[i].unit, cases[i].most, FIT_REFUSE), buf_text(&text), buf_text(&text));
        refused(
            fit_of(cases[i].unit, cases[i].most - 1, FIT_REFUSE), buf_text(&text), cases[i].says);
    }
    FITS_AS(CUT(4), "", "");
}

static void
a_policy_is_one_of_three_words(void **state)
{
    (void)state;
    static const struct option keys[] = {FIT_OPTION("channel"), {.name = NULL}};
    const struct option *const tables[] = {keys, NULL};
    static const struct {
        const char *word;
        owed_status status;
        enum fit_policy policy;
    } cases[] = {{NULL, OWED_OK, FIT_REFUSE}, {"refuse", OWED_OK, FIT_REFUSE},
        {"cut", OWED_OK, FIT_CUT}, {"split", OWED_OK, FIT_SPLIT}, {"crop", OWED_CONFIG, FIT_CUT}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct options *values;
        struct fit fit = {.policy = FIT_CUT};
        owed_error err = {0};
        assert_int_equal(options_new(tables, 0, &values, &err), OWED_OK);
        if (cases[i].word != NULL)
            assert_int_equal(options_set(values, "channel", "too-long", cases[i].word, SOURCE_FILE,
                                 "here", &err),
                OWED_OK);
        assert_int_equal(fit_read(values, &fit, &err), cases[i].status);
        assert_int_equal(fit.policy, cases[i].policy);
        options_free(values);
    }
}

static void
a_cut_text_ends_after_a_word_with_an_ellipsis(void **state)
{
    (void)state;
    FITS_AS(CUT(17), "Your order is on its way", "Your order is on" ELLIPSIS);
    FITS_AS(CUT(18), "Your order is on its way", "Your order is on" ELLIPSIS);
    FITS_AS(CUT(19), "Your order is on \r\n its way", "Your order is on" ELLIPSIS);
    FITS_AS(CUT(10), "a longestwordofall", "a longest" ELLIPSIS);
    FITS_AS(fit_of(FIT_BYTES, 10, FIT_CUT), "abcdefghijklm", "abcdefg" ELLIPSIS);
    refused(CUT(1), "abc", "nothing would be left");
    refused(CUT(3), "      abc", "nothing would be left");
}

static void
the_ellipsis_of_an_sms_keeps_to_its_alphabet(void **state)
{
    (void)state;
    struct buf text CLEANUP(buf_done);
    struct buf wanted CLEANUP(buf_done);
    times(&text, 161, "a");
    times(&wanted, 157, "a");
    buf_puts(&wanted, "...");
    FITS_AS(fit_of(FIT_SEGMENTS, 1, FIT_CUT), buf_text(&text), buf_text(&wanted));
    struct buf cyrillic CLEANUP(buf_done);
    struct buf other CLEANUP(buf_done);
    times(&cyrillic, 71, "\xd0\xb6");
    times(&other, 69, "\xd0\xb6");
    buf_puts(&other, ELLIPSIS);
    FITS_AS(fit_of(FIT_SEGMENTS, 1, FIT_CUT), buf_text(&cyrillic), buf_text(&other));
}

static void
a_split_text_ends_its_pieces_after_words(void **state)
{
    (void)state;
    FITS_AS(SPLIT(10), "one two three four", "one two ", "three four");
    FITS_AS(SPLIT(5), "abcdefghijkl", "abcde", "fghij", "kl");
    FITS_AS(SPLIT(6), "a bcdefghij", "a bcde", "fghij");
}

static void
pieces_of_white_space_alone_are_left_out(void **state)
{
    (void)state;
    FITS_AS(SPLIT(4), "abcd\n\n", "abcd");
    FITS_AS(SPLIT(2), "ab    cd", "ab", "cd");
    refused(SPLIT(2), "    ", "white space alone");
}

static void
more_pieces_than_anybody_reads_are_refused(void **state)
{
    (void)state;
    struct buf text CLEANUP(buf_done);
    times(&text, 10, "0123456789");
    struct fit fit = SPLIT(10);
    struct fit_pieces pieces CLEANUP(fit_pieces_done);
    owed_error err;
    assert_int_equal(fit_text(&fit, buf_text(&text), &pieces, &err), OWED_OK);
    assert_int_equal(pieces.count, FIT_PIECES);
    buf_putc(&text, '0');
    refused(fit, buf_text(&text), "more than 10 messages of 10 characters");
}

/* --- what is never divided --- */

static const char *const characters[] = {FAMILY, THUMB, HEART, KEYCAP, FLAG, ENGLAND, ACCENTS, JAMO,
    HANGUL, CONJUNCT, TAMIL, THAI, HEBREW, ARABIC, "\r\n", "a", "\xd0\xb6", " "};

static void
no_character_is_divided_in_any_script(void **state)
{
    (void)state;
    for (size_t i = 0; i + 3 < COUNT(characters); i++) {
        const char *character = characters[i];
        size_t bytes = strlen(character);
        char text[128], first[64], second[64];
        snprintf(text, sizeof text, "x%s%sx", character, character);
        snprintf(first, sizeof first, "x%s", character);
        snprintf(second, sizeof second, "%sx", character);
        // All of the second one but a byte would fit into the first piece.
        FITS_AS(fit_of(FIT_BYTES, 2 * bytes, FIT_SPLIT), text, first, second);
        refused(fit_of(FIT_BYTES, bytes - 1, FIT_SPLIT), character, "the text has a character of");
        if (character[0] != '\r') {
            snprintf(text, sizeof text, "x%s%s%sx", character, character, character);
            snprintf(second, sizeof second, "x%s" ELLIPSIS, character);
            FITS_AS(fit_of(FIT_BYTES, 2 * bytes + 3, FIT_CUT), text, second);
        }
    }
}

static void
a_url_is_never_divided(void **state)
{
    (void)state;
    static const char *const urls[] = {"https://a.example/b?c=d&e=(f)", "HTTP://A.EXAMPLE/B",
        "ftp://a.example/b-c", "www.a.example/b/c", "mailto:ada@a.example", "tel:+49-151-0000",
        "https://a.example/K\xc3\xa4se/b", "https://\xd0\xb0.example/\xd0\xb1"};
    for (size_t i = 0; i < COUNT(urls); i++) {
        size_t bytes = strlen(urls[i]);
        char text[128], second[64];
        // A dot at the end of the sentence is none of the URL's.
        snprintf(text, sizeof text, "go to %s. Bye", urls[i]);
        snprintf(second, sizeof second, "%s", urls[i]);
        FITS_AS(fit_of(FIT_BYTES, bytes, FIT_SPLIT), text, "go to ", second, ". Bye");
        FITS_AS(fit_of(FIT_BYTES, bytes + 5, FIT_CUT), text, "go to" ELLIPSIS);
        refused(fit_of(FIT_BYTES, bytes - 1, FIT_SPLIT), text, "the text has a URL of");
        refused(fit_of(FIT_BYTES, bytes - 1, FIT_CUT), text, "the text has a URL of");
        snprintf(text, sizeof text, "%s is it", urls[i]);
        refused(fit_of(FIT_BYTES, bytes + 2, FIT_CUT), text, "nothing would be left");
    }
}

static void
what_follows_a_url_without_a_space_is_none_of_it(void **state)
{
    (void)state;
    FITS_AS(SPLIT(12), "www.a.b.c/de\xe3\x80\x82\xe8\xb0\xa2\xe8\xb0\xa2", "www.a.b.c/de",
        "\xe3\x80\x82\xe8\xb0\xa2\xe8\xb0\xa2");
    FITS_AS(SPLIT(12), "\xe7\x9c\x8bhttp://a.b/c", "\xe7\x9c\x8b", "http://a.b/c");
}

/* --- any text --- */

struct dice {
    uint64_t state;
};

static size_t throw(struct dice * dice, size_t sides)
{
    dice->state = dice->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(dice->state >> 33) % sides;
}

#define ATOMS 60

/* A text of known parts, none of which may be divided. */
struct sample {
    struct buf text;
    bool may_end[2048];
};

static void
make_sample(struct sample *sample, struct dice *dice)
{
    static const char *const urls[] = {" https://a.example/b?c=d ", " www.b.example/c "};
    memset(sample->may_end, 0, sizeof sample->may_end);
    buf_clear(&sample->text);
    size_t count = 1 + throw(dice, ATOMS);
    for (size_t i = 0; i < count; i++) {
        bool is_url = throw(dice, 10) == 0;
        const char *atom =
            is_url ? urls[throw(dice, 2)] : characters[throw(dice, COUNT(characters))];
        buf_puts(&sample->text, atom);
        sample->may_end[sample->text.len] = true;
        if (is_url) {
            sample->may_end[sample->text.len - 1] = true;
            sample->may_end[sample->text.len - strlen(atom) + 1] = true;
        }
    }
}

static size_t
units(enum fit_unit unit, const char *text)
{
    struct sms_count count = sms_count_of(str_of(text));
    size_t points = 0;
    for (const char *p = text; *p != '\0'; p++)
        points += ((unsigned char)*p & 0xc0) != 0x80;
    const size_t all[] = {strlen(text), points, count.units, sms_count_segments(&count)};
    return all[unit];
}

static void
check_pieces(const struct fit *fit, const struct sample *sample, const struct fit_pieces *pieces)
{
    size_t at = 0;
    const char *text = sample->text.p;
    for (size_t i = 0; i < pieces->count; i++) {
        const char *piece = pieces->texts[i];
        assert_true(units(fit->unit, piece) <= fit->most);
        // White space alone may have been left out before it.
        while (strncmp(text + at, piece, strlen(piece)) != 0) {
            check_case(is_space(text[at]), text);
            at++;
        }
        check_case(at == 0 || sample->may_end[at], text);
        at += strlen(piece);
        check_case(sample->may_end[at], text);
    }
    for (; at < sample->text.len; at++)
        check_case(is_space(text[at]), text);
}

static void
check_cut(const struct fit *fit, const struct sample *sample, const struct fit_pieces *pieces)
{
    const char *kept = pieces->texts[0];
    assert_int_equal(pieces->count, 1);
    assert_true(units(fit->unit, kept) <= fit->most);
    if (strcmp(kept, sample->text.p) == 0)
        return;
    size_t len = strlen(kept) - 3; // of both ellipses
    check_case(strncmp(kept, sample->text.p, len) == 0 && sample->may_end[len], sample->text.p);
}

static void
pieces_joined_are_the_text_and_divide_nothing(void **state)
{
    (void)state;
    struct dice dice = {20261130};
    struct sample sample;
    buf_init(&sample.text, sizeof sample.may_end - 1);
    size_t fitted = 0;
    for (int i = 0; i < 4000; i++) {
        make_sample(&sample, &dice);
        struct fit fit = {.unit = (enum fit_unit) throw(&dice, 4),
            .policy = throw(&dice, 2) == 0 ? FIT_CUT : FIT_SPLIT};
        fit.most = 1 + (fit.unit == FIT_SEGMENTS ? throw(&dice, 3) : throw(&dice, 120));
        struct fit_pieces pieces;
        owed_error err;
        if (fit_text(&fit, sample.text.p, &pieces, &err) != OWED_OK)
            continue;
        fitted++;
        if (fit.policy == FIT_CUT)
            check_cut(&fit, &sample, &pieces);
        else
            check_pieces(&fit, &sample, &pieces);
        fit_pieces_done(&pieces);
    }
    assert_true(fitted > 2000);
    buf_done(&sample.text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_icu_such_a_text_is_refused_with_what_is_missing),
        cmocka_unit_test(icu_is_loaded_by_the_first_text_that_needs_it),
        cmocka_unit_test(each_channel_counts_in_its_own_unit),
        cmocka_unit_test(a_policy_is_one_of_three_words),
        cmocka_unit_test(a_cut_text_ends_after_a_word_with_an_ellipsis),
        cmocka_unit_test(the_ellipsis_of_an_sms_keeps_to_its_alphabet),
        cmocka_unit_test(a_split_text_ends_its_pieces_after_words),
        cmocka_unit_test(pieces_of_white_space_alone_are_left_out),
        cmocka_unit_test(more_pieces_than_anybody_reads_are_refused),
        cmocka_unit_test(no_character_is_divided_in_any_script),
        cmocka_unit_test(a_url_is_never_divided),
        cmocka_unit_test(what_follows_a_url_without_a_space_is_none_of_it),
        cmocka_unit_test(pieces_joined_are_the_text_and_divide_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
