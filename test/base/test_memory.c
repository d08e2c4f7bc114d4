/* SPDX-License-Identifier: MIT
 *
 * test_memory.c - arenas, growing buffers up to their limits, and views.
 */
#include "../unit.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"

static void
an_arena_gives_zeroed_aligned_memory_that_does_not_overlap(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    uint64_t seed = 3;
    owed_dice dice = dice_seeded(&seed);
    enum { PIECES = 500 };
    unsigned char *pieces[PIECES];
    size_t sizes[PIECES];
    for (int i = 0; i < PIECES; i++) {
        sizes[i] = dice.next(dice.state) % (i % 50 == 0 ? 40000 : 200);
        pieces[i] = arena_alloc(&arena, sizes[i]);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(pieces[i][j], 0);
        memset(pieces[i], i % 251, sizes[i]);
    }
    for (int i = 0; i < PIECES; i++)
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(pieces[i][j], i % 251);
    arena_done(&arena);
}

static void
an_arena_refuses_what_is_over_its_limit_and_has_it_all_again_after_a_reset(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 4096);
    assert_non_null(arena_alloc(&arena, 4096));
    assert_null(arena_alloc(&arena, 1));
    arena_reset(&arena);
    assert_int_equal(arena.used, 0);
    char *again = arena_alloc(&arena, 4096);
    assert_non_null(again);
    for (int i = 0; i < 4096; i++)
        assert_int_equal(again[i], 0);
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_alloc(&arena, SIZE_MAX / 2));
    arena_done(&arena);
}

static void
an_arena_copies_text(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    const char bytes[] = {'a', '\0', 'b'};
    char *copy = arena_copy(&arena, (struct str){bytes, sizeof bytes});
    assert_memory_equal(copy, "a\0b\0", 4);
    assert_string_equal(arena_strdup(&arena, "text"), "text");
    assert_string_equal(arena_strdup(&arena, NULL), "");
    assert_string_equal(arena_printf(&arena, "%s-%d", "x", 7), "x-7");
    arena_done(&arena);
}

static void
a_buffer_holds_what_was_added_and_ends_in_a_nul(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 1 << 20);
    assert_string_equal(buf_text(&buf), "");
    buf_puts(&buf, "one");
    buf_putc(&buf, ' ');
    buf_int(&buf, INT64_MIN);
    buf_printf(&buf, " %s %d", "two", 3);
    buf_str(&buf, STR(" three"));
    buf_str(&buf, (struct str){NULL, 0});
    assert_string_equal(buf_text(&buf), "one -9223372036854775808 two 3 three");
    assert_int_equal(buf_view(&buf).len, strlen(buf_text(&buf)));
    buf_clear(&buf);
    assert_string_equal(buf_text(&buf), "");
    for (int i = 0; i < 10000; i++)
        buf_printf(&buf, "%04d", i);
    assert_int_equal(buf.len, 40000);
    assert_false(buf.failed);
    assert_memory_equal(buf_text(&buf) + 4 * 9999, "9999", 5);
    buf_done(&buf);
}

static void
a_buffer_takes_nothing_in_part_and_nothing_after_it_failed(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 5);
    buf_puts(&buf, "four");
    buf_puts(&buf, "xx");
    assert_true(buf.failed);
    assert_string_equal(buf_text(&buf), "four");
    buf_putc(&buf, 'x');
    assert_string_equal(buf_text(&buf), "four");
    buf_clear(&buf);
    buf_printf(&buf, "%s", "12345");
    assert_false(buf.failed);
    assert_string_equal(buf_text(&buf), "12345");
    buf_printf(&buf, "%d", 6);
    assert_true(buf.failed);
    assert_string_equal(buf_text(&buf), "12345");
    buf_done(&buf);
}

static void
a_buffer_takes_the_rest_of_a_file(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    for (int i = 0; i < 3000; i++)
        fprintf(file, "%04d", i);
    fseek(file, 4, SEEK_SET);
    struct buf buf;
    buf_init(&buf, 12000);
    buf_puts(&buf, "0000");
    assert_true(buf_add_file(&buf, file));
    assert_false(buf.failed);
    assert_int_equal(buf.len, 12000);
    assert_memory_equal(buf_text(&buf) + 11996, "2999", 5);
    rewind(file);
    assert_true(buf_add_file(&buf, file));
    assert_true(buf.failed);
    fclose(file);
    buf_clear(&buf);
    FILE *folder = fopen("/", "re");
    assert_non_null(folder);
    assert_false(buf_add_file(&buf, folder));
    fclose(folder);
    buf_done(&buf);
}

static void
a_view_is_trimmed_at_both_ends(void **state)
{
    (void)state;
    static const struct {
        const char *text, *trimmed;
    } cases[] = {{"", ""}, {" \t\r\n", ""}, {" a b\r\n", "a b"}, {"a", "a"}, {"\v a", "\v a"}};
    for (size_t i = 0; i < COUNT(cases); i++)
        check_case(str_is(str_trim(str_of(cases[i].text)), cases[i].trimmed), cases[i].text);
    assert_true(str_is(str_skip(STR("abc"), 2), "c"));
    assert_true(str_eq(str_of(NULL), (struct str){NULL, 0}));
    assert_false(str_eq(STR("ab"), STR("ac")));
    assert_false(str_eq(STR("ab"), STR("abc")));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arena_gives_zeroed_aligned_memory_that_does_not_overlap),
        cmocka_unit_test(
            an_arena_refuses_what_is_over_its_limit_and_has_it_all_again_after_a_reset),
        cmocka_unit_test(an_arena_copies_text),
        cmocka_unit_test(a_buffer_holds_what_was_added_and_ends_in_a_nul),
        cmocka_unit_test(a_buffer_takes_nothing_in_part_and_nothing_after_it_failed),
        cmocka_unit_test(a_buffer_takes_the_rest_of_a_file),
        cmocka_unit_test(a_view_is_trimmed_at_both_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
