/* SPDX-License-Identifier: MIT
 *
 * test_digest.c - published vectors, and what strict decoders refuse.
 */
#include "../unit.h"

#include "base/clock.h"
#include "base/digest.h"

static void
assert_hex(const uint8_t digest[SHA256_BYTES], const char *expected)
{
    struct buf text;
    buf_init(&text, 256);
    hex_write(&text, digest, SHA256_BYTES);
    assert_string_equal(buf_text(&text), expected);
    buf_done(&text);
}

static void
sha256_gives_the_published_digests(void **state)
{
    (void)state;
    uint8_t digest[SHA256_BYTES];
    assert_true(sha256(NULL, 0, digest));
    assert_hex(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    const struct str pieces[] = {STR("a"), STR(""), STR("bc")};
    assert_true(sha256(pieces, 3, digest));
    assert_hex(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void
hmac_gives_the_digests_of_rfc_4231(void **state)
{
    (void)state;
    uint8_t mac[SHA256_BYTES];
    const struct str jefe[] = {STR("what do ya want "), STR("for nothing?")};
    assert_true(hmac_sha256(STR("Jefe"), jefe, 2, mac));
    assert_hex(mac, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    char long_key[131];
    memset(long_key, 0xaa, sizeof long_key);
    const struct str text[] = {STR("Test Using Larger Than Block-Size Key - Hash Key First")};
    assert_true(hmac_sha256((struct str){long_key, sizeof long_key}, text, 1, mac));
    assert_hex(mac, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    assert_true(hmac_sha256((struct str){NULL, 0}, NULL, 0, mac));
    assert_hex(mac, "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

static void
hex_reads_exactly_what_was_asked_for(void **state)
{
    (void)state;
    uint8_t bytes[2] = {9, 9};
    assert_true(hex_read("00fF", bytes, 2));
    assert_int_equal(bytes[0], 0);
    assert_int_equal(bytes[1], 255);
    static const char *const bad[] = {"", "00f", "00ff0", "00fg", "0x00", " 0ff"};
    for (size_t i = 0; i < COUNT(bad); i++)
        check_case(!hex_read(bad[i], bytes, 2), bad[i]);
    assert_int_equal(bytes[1], 255);
}

static void
base64_gives_the_texts_of_rfc_4648(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        const char *text;
    } cases[] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}, {"\xfb\xff\xfe", "+//+"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buf text;
        buf_init(&text, 100);
        base64_write(&text, (const uint8_t *)cases[i].bytes, strlen(cases[i].bytes));
        assert_string_equal(buf_text(&text), cases[i].text);
        buf_clear(&text);
        check_case(base64_read(str_of(cases[i].text), &text), cases[i].text);
        assert_string_equal(buf_text(&text), cases[i].bytes);
        buf_done(&text);
    }
}

static void
base64_refuses_whatever_another_text_could_stand_for(void **state)
{
    (void)state;
    static const char *const bad[] = {"Zg", "Zg=", "Z===", "====", "Zh==", "Zm9=", "Zm9v\n", "Zm 9",
        "Zg==Zg==", "=m9v", "Zm-_", "Zg=A", "Zm9vY"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct buf bytes;
        buf_init(&bytes, 100);
        check_case(!base64_read(str_of(bad[i]), &bytes), bad[i]);
        buf_done(&bytes);
    }
    struct buf small;
    buf_init(&small, 2);
    assert_false(base64_read(STR("Zm9v"), &small));
    buf_done(&small);
}

static void
any_bytes_come_back_from_base64_and_hex(void **state)
{
    (void)state;
    uint64_t seed = 6;
    owed_dice dice = dice_seeded(&seed);
    for (int i = 0; i < 2000; i++) {
        uint8_t bytes[64], hexed[64];
        size_t len = dice.next(dice.state) % sizeof bytes;
        dice_fill(&dice, bytes, len);
        struct buf text, back;
        buf_init(&text, 200);
        buf_init(&back, 200);
        base64_write(&text, bytes, len);
        assert_true(base64_read(buf_view(&text), &back));
        assert_int_equal(back.len, len);
        assert_memory_equal(buf_text(&back), bytes, len);
        buf_clear(&text);
        hex_write(&text, bytes, len);
        assert_true(hex_read(buf_text(&text), hexed, len));
        assert_memory_equal(hexed, bytes, len);
        buf_done(&text);
        buf_done(&back);
    }
}

static void
base64url_has_two_other_letters_and_no_padding(void **state)
{
    (void)state;
    struct buf text, bytes;
    buf_init(&text, 100);
    buf_init(&bytes, 100);
    buf_puts(&text, "t=");
    base64url_write(&text, (const uint8_t *)"\xfb\xff\xfe\xff", 4);
    assert_string_equal(buf_text(&text), "t=-__-_w");
    static const char *const same[] = {"-__-_w", "-__-_w==", "+//+/w=="};
    for (size_t i = 0; i < COUNT(same); i++) {
        buf_clear(&bytes);
        check_case(base64url_read(str_of(same[i]), &bytes), same[i]);
        assert_int_equal(bytes.len, 4);
        assert_memory_equal(bytes.p, "\xfb\xff\xfe\xff", 4);
    }
    static const char *const bad[] = {"A", "AB", "-__-_ w", "*___"};
    for (size_t i = 0; i < COUNT(bad); i++)
        check_case(!base64url_read(str_of(bad[i]), &bytes), bad[i]);
    buf_done(&text);
    buf_done(&bytes);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_gives_the_published_digests),
        cmocka_unit_test(hmac_gives_the_digests_of_rfc_4231),
        cmocka_unit_test(hex_reads_exactly_what_was_asked_for),
        cmocka_unit_test(base64_gives_the_texts_of_rfc_4648),
        cmocka_unit_test(base64_refuses_whatever_another_text_could_stand_for),
        cmocka_unit_test(any_bytes_come_back_from_base64_and_hex),
        cmocka_unit_test(base64url_has_two_other_letters_and_no_padding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
