/* SPDX-License-Identifier: MIT
 *
 * test_push.c - keys, tokens and what a browser alone can read.
 */
#include "../unit.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <owed/channels.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/digest.h"
#include "notify/channels/push.h"
#include "notify/channels/subscription.h"
#include "notify/channels/token.h"
#include "notify/channels/vapid.h"

/* --- keys in files --- */

static char folder[] = "/tmp/owed-push-XXXXXX";

/* key_file writes a key into a file of the folder and gives its path, in memory of the test's. */
static const char *
key_file(const char *name, EVP_PKEY *key, bool is_public, const EVP_CIPHER *cipher, char path[256])
{
    snprintf(path, 256, "%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    if (key != NULL && is_public)
        assert_int_equal(PEM_write_PUBKEY(file, key), 1);
    else if (key != NULL)
        assert_int_equal(PEM_write_PKCS8PrivateKey(file, key, cipher,
                             cipher == NULL ? NULL : "phrase", cipher == NULL ? 0 : 6, NULL, NULL),
            1);
    fclose(file);
    return path;
}

static EVP_PKEY *ec_key;
static EVP_PKEY *rsa_key;

static int
make_keys(void **state)
{
    (void)state;
    ec_key = EVP_EC_gen("P-256");
    rsa_key = EVP_RSA_gen(2048);
    return mkdtemp(folder) == NULL || ec_key == NULL || rsa_key == NULL;
}

static int
drop_keys(void **state)
{
    (void)state;
    static const char *const names[] = {
        "ec.p8", "rsa.pem", "empty", "text", "public", "p384", "small", "phrase"};
    char path[256];
    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    EVP_PKEY_free(ec_key);
    EVP_PKEY_free(rsa_key);
    return rmdir(folder);
}

/* part cuts the nth part off a token, decoded. */
static void
part(const char *token, int n, struct buf *out)
{
    for (; n > 0; n--)
        token = strchr(token, '.') + 1;
    buf_clear(out);
    assert_true(base64url_read((struct str){token, strcspn(token, ".")}, out));
}

static bool
verifies(EVP_PKEY *key, const char *token, enum jwt_algorithm algorithm)
{
    uint8_t der[256], *end = der;
    CLEANUP(buf_done) struct buf signature;
    buf_init(&signature, 1024);
    part(token, 2, &signature);
    if (algorithm == JWT_ES256) {
        assert_int_equal(signature.len, 64);
        const uint8_t *pair = (const uint8_t *)signature.p;
        ECDSA_SIG *both = ECDSA_SIG_new();
        ECDSA_SIG_set0(both, BN_bin2bn(pair, 32, NULL), BN_bin2bn(pair + 32, 32, NULL));
        size_t len = (size_t)i2d_ECDSA_SIG(both, &end);
        ECDSA_SIG_free(both);
        buf_clear(&signature);
        buf_add(&signature, der, len);
    }
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    assert_int_equal(EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key), 1);
    bool is_good = EVP_DigestVerify(context, (const uint8_t *)signature.p, signature.len,
                       (const uint8_t *)token, (size_t)(strrchr(token, '.') - token)) == 1;
    EVP_MD_CTX_free(context);
    return is_good;
}

static void
a_token_is_signed_so_that_the_public_half_of_its_key_proves_it(void **state)
{
    (void)state;
    char path[256];
    owed_error err;
    const struct {
        enum jwt_algorithm algorithm;
        EVP_PKEY *key;
        const char *name;
        const char *head;
    } cases[] = {
        {JWT_ES256, ec_key, "ec.p8", "{\"alg\":\"ES256\",\"typ\":\"JWT\",\"kid\":\"K\\\"1\"}"},
        {JWT_RS256, rsa_key, "rsa.pem", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"K\\\"1\"}"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct jwt_key *key = NULL;
        CLEANUP(buf_done) struct buf token, text;
        buf_init(&token, JWT_BYTES);
        buf_init(&text, JWT_BYTES);
        key_file(cases[i].name, cases[i].key, false, NULL, path);
        assert_int_equal(jwt_key_read(path, cases[i].algorithm, &key, &err), OWED_OK);
        // Numbers that begin with zeros come about once in 128: they have to keep their length.
        for (int round = 0; round < 300; round++) {
            buf_clear(&token);
            assert_true(jwt_sign(key, "K\"1", STR("{\"iss\":\"T\"}"), &token));
            assert_true(verifies(cases[i].key, buf_text(&token), cases[i].algorithm));
            if (cases[i].algorithm == JWT_RS256)
                break; // the same each time
        }
        part(buf_text(&token), 0, &text);
        assert_string_equal(buf_text(&text), cases[i].head);
        part(buf_text(&token), 1, &text);
        assert_string_equal(buf_text(&text), "{\"iss\":\"T\"}");
        token.p[token.len - 9] = token.p[token.len - 9] == 'A' ? 'B' : 'A';
        assert_false(verifies(cases[i].key, buf_text(&token), cases[i].algorithm));
        jwt_key_free(key);
    }
}

static void
a_key_that_does_not_fit_is_refused_by_the_name_of_its_file(void **state)
{
    (void)state;
    EVP_PKEY *p384 = EVP_EC_gen("P-384");
    EVP_PKEY *small = EVP_RSA_gen(1024);
    const struct {
        const char *name;
        EVP_PKEY *key;
        bool is_public;
        const EVP_CIPHER *cipher;
    } cases[] = {
        {"empty", NULL, false, NULL},
        {"public", ec_key, true, NULL},
        {"p384", p384, false, NULL},
        {"small", small, false, NULL},
        {"phrase", ec_key, false, EVP_aes_128_cbc()},
    };
    char path[256];
    for (size_t i = 0; i < COUNT(cases); i++) {
        key_file(cases[i].name, cases[i].key, cases[i].is_public, cases[i].cipher, path);
        for (enum jwt_algorithm algorithm = JWT_ES256; algorithm <= JWT_RS256; algorithm++) {
            struct jwt_key *key = NULL;
            owed_error err = {0};
            check_case(jwt_key_read(path, algorithm, &key, &err) == OWED_CONFIG, cases[i].name);
            check_case(strstr(err.text, path) == err.text, err.text);
        }
    }
    struct jwt_key *key = NULL;
    owed_error err;
    // Each for the other's algorithm.
    assert_int_equal(
        jwt_key_read(key_file("ec.p8", ec_key, false, NULL, path), JWT_RS256, &key, &err),
        OWED_CONFIG);
    assert_non_null(strstr(err.text, "a private RSA key of 2048 bits or more"));
    assert_int_equal(
        jwt_key_read(key_file("rsa.pem", rsa_key, false, NULL, path), JWT_ES256, &key, &err),
        OWED_CONFIG);
    assert_non_null(strstr(err.text, "a private key on P-256"));
    assert_int_equal(jwt_key_read("/nowhere/key", JWT_ES256, &key, &err), OWED_CONFIG);
    assert_string_equal(err.text, "/nowhere/key cannot be read: No such file or directory");
    assert_int_equal(jwt_key_read(folder, JWT_ES256, &key, &err), OWED_CONFIG);
    assert_non_null(strstr(err.text, "is no plain file"));
    EVP_PKEY_free(p384);
    EVP_PKEY_free(small);
}

/* --- tokens that are kept --- */

struct mint {
    struct token token;
    int64_t now_us;
    atomic_int made;
    bool is_broken;
    pthread_barrier_t *met; // of the test and the maker of that number
    int meets;
};

static int64_t
mint_clock(void *state)
{
    const struct mint *mint = state;
    return mint->now_us;
}

static bool
mint_token(void *state, struct token_made *ret_made, owed_answer *answer)
{
    struct mint *mint = state;
    int number = atomic_fetch_add(&mint->made, 1) + 1;
    if (number == mint->meets)
        pthread_barrier_wait(mint->met);
    if (mint->is_broken) {
        *answer = (owed_answer){.verdict = OWED_ANSWER_WAIT, .wait_us = 7, .reason = "no"};
        return false;
    }
    buf_printf(&ret_made->text, "token %d", number);
    ret_made->renew_us = 100;
    ret_made->end_us = 200;
    return true;
}

static void
open_mint(struct mint *mint)
{
    *mint = (struct mint){.now_us = 1000};
    const owed_clock clock = {.now_us = mint_clock, .monotonic_us = mint_clock, .state = mint};
    token_init(&mint->token, clock, mint_token, mint);
}

static void
expect_token(struct mint *mint, const char *expected, uint64_t *ret_round)
{
    uint64_t round = 0;
    owed_answer answer = {0};
    CLEANUP(buf_done) struct buf text;
    buf_init(&text, TOKEN_BYTES);
    bool is_taken = token_take(&mint->token, &text, &round, &answer);
    assert_string_equal(is_taken ? buf_text(&text) : answer.reason, expected);
    if (ret_round != NULL)
        *ret_round = round;
}

static void
a_token_is_kept_until_shortly_before_its_end(void **state)
{
    (void)state;
    struct mint mint;
    open_mint(&mint);
    expect_token(&mint, "token 1", NULL);
    mint.now_us += 99;
    expect_token(&mint, "token 1", NULL);
    mint.now_us += 1;
    expect_token(&mint, "token 2", NULL);
    // One that cannot be made anew is used to its end, and not asked for with each message.
    mint.is_broken = true;
    mint.now_us += 150;
    expect_token(&mint, "token 2", NULL);
    expect_token(&mint, "token 2", NULL);
    assert_int_equal(mint.made, 3);
    mint.now_us += 50;
    expect_token(&mint, "no", NULL);
    mint.is_broken = false;
    expect_token(&mint, "token 5", NULL);
    token_done(&mint.token);
}

static void
a_token_that_was_taken_for_none_is_made_anew_once(void **state)
{
    (void)state;
    struct mint mint;
    uint64_t first = 0, second = 0;
    open_mint(&mint);
    expect_token(&mint, "token 1", &first);
    token_drop(&mint.token, first);
    expect_token(&mint, "token 2", &second);
    // Another thread that was refused with the first one has nothing to throw away any more.
    token_drop(&mint.token, first);
    expect_token(&mint, "token 2", NULL);
    assert_int_equal(mint.made, 2);
    token_done(&mint.token);
}

static void *
take_one(void *state)
{
    expect_token(state, "token 1", NULL);
    return NULL;
}

static void
of_many_threads_one_makes_the_token(void **state)
{
    (void)state;
    struct mint mint;
    pthread_t threads[8];
    pthread_barrier_t met;
    open_mint(&mint);
    pthread_barrier_init(&met, NULL, 2);
    mint.met = &met;
    mint.meets = 1;
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_one, &mint), 0);
    pthread_barrier_wait(&met); // not before all are on their way
    for (size_t i = 0; i < COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(mint.made, 1);
    pthread_barrier_destroy(&met);
    token_done(&mint.token);
}

static void
while_one_thread_makes_it_anew_the_others_use_the_old_one(void **state)
{
    (void)state;
    struct mint mint;
    open_mint(&mint);
    expect_token(&mint, "token 1", NULL);
    mint.now_us += 150;
    pthread_t maker;
    pthread_barrier_t met;
    pthread_barrier_init(&met, NULL, 2);
    mint.met = &met;
    mint.meets = 2;
    mint.is_broken = true;
    assert_int_equal(pthread_create(&maker, NULL, take_one, &mint), 0);
    int64_t give_up_us = clock_monotonic_us(&clock_system) + 10 * US_PER_SECOND;
    while (atomic_load(&mint.made) < 2) {
        assert_true(clock_monotonic_us(&clock_system) < give_up_us);
        sched_yield();
    }
    expect_token(&mint, "token 1", NULL);
    pthread_barrier_wait(&met);
    pthread_join(maker, NULL);
    assert_int_equal(mint.made, 2);
    pthread_barrier_destroy(&met);
    token_done(&mint.token);
}

/* --- what a browser alone can read (RFC 8291, appendix A) --- */

static void
decode(const char *text, uint8_t *bytes, size_t len)
{
    CLEANUP(buf_done) struct buf decoded;
    buf_init(&decoded, len);
    assert_true(base64url_read(str_of(text), &decoded));
    assert_int_equal(decoded.len, len);
    memcpy(bytes, decoded.p, len);
}

static EVP_PKEY *
key_of(const char *scalar, const char *point)
{
    uint8_t secret[32], shared[EC_POINT_BYTES];
    EVP_PKEY *key = NULL;
    decode(scalar, secret, sizeof secret);
    decode(point, shared, sizeof shared);
    BIGNUM *number = BN_bin2bn(secret, sizeof secret, NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0);
    OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, shared, sizeof shared);
    OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, number);
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    assert_int_equal(EVP_PKEY_fromdata_init(context), 1);
    assert_int_equal(EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, params), 1);
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(builder);
    BN_free(number);
    return key;
}

#define BROWSER_POINT \
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
#define BROWSER_AUTH "BTBZMqHH6r4Tts7J_aSIgg"

static void
the_vector_of_rfc_8291_comes_out_byte_for_byte(void **state)
{
    (void)state;
    struct webpush_keys keys;
    struct webpush_once once = {
        .key = key_of("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw",
            "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8")};
    decode(BROWSER_POINT, keys.point, sizeof keys.point);
    decode(BROWSER_AUTH, keys.auth, sizeof keys.auth);
    decode("DGv6ra1nlYgDCS1FRnbzlw", once.salt, sizeof once.salt);
    CLEANUP(buf_done) struct buf body, text;
    buf_init(&body, WEBPUSH_BODY_BYTES);
    buf_init(&text, 1024);
    assert_true(
        webpush_seal(&keys, &once, STR("When I grow up, I want to be a watermelon"), &body));
    base64url_write(&text, (const uint8_t *)body.p, body.len);
    assert_string_equal(buf_text(&text),
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIg"
        "Dll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXP"
        "XLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN");
    EVP_PKEY_free(once.key);
}

static void
each_message_has_a_key_and_a_salt_of_its_own_and_a_bound(void **state)
{
    (void)state;
    struct webpush_keys keys;
    char text[WEBPUSH_TEXT_BYTES + 1];
    memset(text, 'x', sizeof text);
    decode(BROWSER_POINT, keys.point, sizeof keys.point);
    decode(BROWSER_AUTH, keys.auth, sizeof keys.auth);
    CLEANUP(buf_done) struct buf first, second;
    buf_init(&first, 2 * WEBPUSH_BODY_BYTES);
    buf_init(&second, 2 * WEBPUSH_BODY_BYTES);
    struct str longest = {text, WEBPUSH_TEXT_BYTES};
    assert_true(webpush_encrypt(&keys, longest, &first));
    assert_true(webpush_encrypt(&keys, longest, &second));
    assert_int_equal(first.len, WEBPUSH_BODY_BYTES);
    assert_memory_not_equal(first.p, second.p, WEBPUSH_SALT_BYTES);
    assert_memory_not_equal(first.p + 21, second.p + 21, EC_POINT_BYTES);
    buf_clear(&first);
    assert_false(webpush_encrypt(&keys, (struct str){text, sizeof text}, &first));
    buf_clear(&first);
    keys.point[64] ^= 1;
    assert_false(webpush_encrypt(&keys, STR("x"), &first));
}

/* --- who is pushed to --- */

/* Zeros, which lie on no curve. */
#define NO_POINT \
    "BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define KEYS "\"keys\":{\"p256dh\":\"" BROWSER_POINT "\",\"auth\":\"" BROWSER_AUTH "\"}"

static void
a_subscription_is_read_as_browsers_write_it(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = {0};
    struct subscription read;
    owed_error err;
    uint8_t auth[WEBPUSH_AUTH_BYTES];
    decode(BROWSER_AUTH, auth, sizeof auth);
    assert_int_equal(subscription_read("{\"endpoint\":\"https://Push.example:8443/p/secret\","
                                       "\"expirationTime\":null," KEYS "}",
                         &arena, &read, &err),
        OWED_OK);
    assert_string_equal(read.endpoint, "https://Push.example:8443/p/secret");
    assert_string_equal(read.origin, "https://push.example:8443");
    assert_memory_equal(read.keys.auth, auth, sizeof auth);
    // Padded, as some libraries write it.
    assert_int_equal(subscription_read(
                         "{\"endpoint\":\"https://p.example\",\"keys\":{\"p256dh\":\"" BROWSER_POINT
                         "=\",\"auth\":\"" BROWSER_AUTH "==\"}}",
                         &arena, &read, &err),
        OWED_OK);
}

static void
what_is_no_subscription_is_refused_and_not_shown(void **state)
{
    (void)state;
    static const struct {
        const char *address;
        const char *says;
    } cases[] = {
        {"secret", "it is no JSON object"},
        {"[\"secret\"]", "it is no JSON object"},
        {"{" KEYS "}", "its endpoint lacks"},
        {"{\"endpoint\":7," KEYS "}", "its endpoint lacks"},
        {"{\"endpoint\":\"secret\"," KEYS "}", "its endpoint is no URL"},
        {"{\"endpoint\":\"ftp://secret.example/\"," KEYS "}", "its endpoint is no URL"},
        {"{\"endpoint\":\"https://a.example/\\u0000secret\"," KEYS "}", "its endpoint lacks"},
        {"{\"endpoint\":\"https://a.example/secret\"}", "its keys lack"},
        {"{\"endpoint\":\"https://a.example/secret\",\"keys\":{\"auth\":\"" BROWSER_AUTH "\"}}",
            "p256dh is no key on P-256"},
        {"{\"endpoint\":\"https://a.example/secret\",\"keys\":{\"p256dh\":\"" BROWSER_AUTH
         "\",\"auth\":\"" BROWSER_AUTH "\"}}",
            "p256dh is no key on P-256"},
        {"{\"endpoint\":\"https://a.example/secret\",\"keys\":{\"p256dh\":\"" NO_POINT
         "\",\"auth\":\"" BROWSER_AUTH "\"}}",
            "p256dh is no key on P-256"},
        {"{\"endpoint\":\"https://a.example/secret\",\"keys\":{\"p256dh\":\"" BROWSER_POINT "\"}}",
            "auth is not of 16 bytes"},
        {"{\"endpoint\":\"https://a.example/secret\",\"keys\":{\"p256dh\":\"" BROWSER_POINT
         "\",\"auth\":\"YQ\"}}",
            "auth is not of 16 bytes"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CLEANUP(arena_done) struct arena arena = {0};
        struct subscription read;
        owed_error err = {0};
        check_case(subscription_read(cases[i].address, &arena, &read, &err) == OWED_INVALID,
            cases[i].says);
        check_case(strstr(err.text, cases[i].says) != NULL, err.text);
        check_case(strstr(err.text, "secret") == NULL, err.text);
    }
}

static void
a_push_service_is_of_the_list_or_not(void **state)
{
    (void)state;
    static const char *const hosts[] = {"push.example", "*.notify.example", NULL};
    static const struct {
        const char *origin;
        bool is_listed;
    } cases[] = {
        {"https://push.example", true},
        {"https://push.example:8443", true},
        {"https://a.push.example", false},
        {"https://xpush.example", false},
        {"https://push.example.evil", false},
        {"https://a.b.notify.example", true},
        {"https://notify.example", false},
        {"https://.notify.example", false},
        {"https://[::1]:80", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct subscription one = {0};
        snprintf(one.origin, sizeof one.origin, "%s", cases[i].origin);
        check_case(subscription_host_is(&one, hosts) == cases[i].is_listed, cases[i].origin);
    }
}

static void
who_we_are_is_signed_for_each_push_service_and_kept_for_hours(void **state)
{
    (void)state;
    char path[256];
    struct jwt_key *key = NULL;
    struct vapid vapid;
    const int64_t now_us = INT64_C(1800000000) * US_PER_SECOND, hour = 3600 * US_PER_SECOND;
    assert_int_equal(
        jwt_key_read(key_file("ec.p8", ec_key, false, NULL, path), JWT_ES256, &key, NULL), OWED_OK);
    assert_true(vapid_init(&vapid, key, "mailto:ops@shop.example"));
    struct buf lines[5];
    const struct {
        const char *origin;
        int64_t at_us;
    } asked[] = {{"https://a.example", now_us}, {"https://b.example", now_us},
        {"https://a.example", now_us + 10 * hour}, {"https://a.example", now_us + 11 * hour},
        {"https://a.example", now_us}};
    for (size_t i = 0; i < COUNT(asked); i++) {
        buf_init(&lines[i], JWT_BYTES);
        assert_true(vapid_write(&vapid, asked[i].origin, asked[i].at_us, &lines[i]));
    }
    CLEANUP(buf_done) struct buf claims;
    buf_init(&claims, JWT_BYTES);
    part(buf_text(&lines[0]), 1, &claims);
    assert_string_equal(buf_text(&claims),
        "{\"aud\":\"https://a.example\",\"exp\":1800043200,\"sub\":\"mailto:ops@shop.example\"}");
    assert_string_not_equal(buf_text(&lines[0]), buf_text(&lines[1]));
    assert_string_equal(buf_text(&lines[0]), buf_text(&lines[2]));
    assert_string_not_equal(buf_text(&lines[2]), buf_text(&lines[3]));
    // A clock that was set back makes no token that is good for more than a day.
    assert_string_not_equal(buf_text(&lines[3]), buf_text(&lines[4]));
    // More services than there are places.
    for (int i = 0; i < 3 * VAPID_ORIGINS; i++) {
        char origin[64];
        snprintf(origin, sizeof origin, "https://%d.example", i);
        buf_clear(&lines[0]);
        assert_true(vapid_write(&vapid, origin, now_us, &lines[0]));
        part(buf_text(&lines[0]), 1, &claims);
        assert_non_null(strstr(buf_text(&claims), origin));
    }
    for (size_t i = 0; i < COUNT(lines); i++)
        buf_done(&lines[i]);
    vapid_done(&vapid);
    jwt_key_free(key);
}

static void
an_id_gives_the_same_name_each_time(void **state)
{
    (void)state;
    char uuid[PUSH_UUID_BYTES], again[PUSH_UUID_BYTES], topic[PUSH_TOPIC_BYTES];
    push_uuid("0123456789abcdef0123456789ABCDEF", uuid);
    assert_string_equal(uuid, "01234567-89ab-cdef-0123-456789abcdef");
    push_topic("0123456789abcdef0123456789ABCDEF", topic);
    assert_string_equal(topic, "0123456789abcdef0123456789ABCDEF");
    push_uuid("order 7", uuid);
    push_uuid("order 7", again);
    assert_string_equal(uuid, again);
    assert_int_equal(uuid[14], '8');
    push_uuid("order 8", again);
    assert_string_not_equal(uuid, again);
    push_topic("order 7", topic);
    assert_int_equal(strlen(topic), 32);
    assert_int_equal(
        strspn(topic, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), 32);
}

/* --- what goes into one push --- */

static void
write_line(const void *state, const owed_message *message, struct buf *json)
{
    buf_puts(json, state);
    push_member(json, "body", message->text);
    buf_putc(json, '}');
}

/* write_with has a text written by a policy into at most so many bytes; "": it was not. */
static const char *
write_with(
    enum fit_policy policy, size_t most, const char *text, struct buf *json, owed_answer *answer)
{
    const struct fit fit = {.unit = FIT_BYTES, .most = most, .policy = policy};
    const owed_message message = {.text = text};
    *answer = (owed_answer){0};
    buf_clear(json);
    return push_write(&fit, write_line, "{", &message, json, answer) ? buf_text(json) : "";
}

static void
a_text_too_long_for_one_push_is_refused_or_cut(void **state)
{
    (void)state;
    owed_answer answer;
    char lines[201] = "";
    CLEANUP(buf_done) struct buf json;
    buf_init(&json, PUSH_JSON_BYTES);
    assert_string_equal(write_with(FIT_REFUSE, 15, "abcd", &json, &answer), "{\"body\":\"abcd\"}");
    assert_string_equal(write_with(FIT_REFUSE, 14, "abcd", &json, &answer), "");
    assert_int_equal(answer.verdict, OWED_ANSWER_REFUSED);
    assert_string_equal(write_with(FIT_CUT, 15, "abcd", &json, &answer), "{\"body\":\"abcd\"}");
    assert_string_equal(write_with(FIT_CUT, 20, "abcdefghijkl", &json, &answer),
        "{\"body\":\"abcdef\xe2\x80\xa6\"}");
    // Escapes count, too.
    memset(lines, '"', sizeof lines - 1);
    assert_string_equal(write_with(FIT_CUT, 30, lines, &json, &answer),
        "{\"body\":\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\xe2\x80\xa6\"}");
    // Where nothing of the text has room.
    assert_string_equal(write_with(FIT_CUT, 11, "abcd", &json, &answer), "");
    assert_int_equal(answer.verdict, OWED_ANSWER_REFUSED);
}

/* --- settings --- */

static void
settings_that_cannot_be_are_refused_with_their_key(void **state)
{
    (void)state;
    char ec[256], rsa[256], text[256];
    key_file("ec.p8", ec_key, false, NULL, ec);
    key_file("rsa.pem", rsa_key, false, NULL, rsa);
    snprintf(text, sizeof text, "%s/text", folder);
    FILE *file = fopen(text, "we");
    fputs("{\"client_email\":\"a@b.example\",\"token_uri\":\"http://a.example/token\","
          "\"private_key_id\":\"1\",\"project_id\":\"p\",\"private_key\":\"-----BEGIN hush\"}",
        file);
    fclose(file);
#define APNS \
    {"type", "apns", NULL}, {"key-file", ec, NULL}, {"key-id", "K", NULL}, \
    { \
        "team-id", "T", NULL \
    }
    const struct {
        owed_setting settings[8];
        const char *says;
    } cases[] = {
        {{{"type", "apns", NULL}}, "channel push: key-file is missing"},
        {{{"type", "apns", NULL}, {"key-file", ec, NULL}}, "key-id is missing"},
        {{APNS}, "topic is missing"},
        {{APNS, {"topic", "a b", NULL}}, "topic is no bundle id"},
        {{APNS, {"topic", "a", NULL}, {"url", "http://a.example", NULL}}, "url sends a key's word"},
        {{APNS, {"topic", "a", NULL}, {"too-long", "split", NULL}}, "too-long is refuse or cut"},
        {{{"type", "apns", NULL}, {"key-file", rsa, NULL}, {"key-id", "K", NULL},
             {"team-id", "T", NULL}, {"topic", "a", NULL}},
            "rsa.pem holds no key that fits"},
        {{{"type", "fcm", NULL}}, "key-file is missing"},
        {{{"type", "fcm", NULL}, {"key-file", rsa, NULL}}, "rsa.pem is no JSON object"},
        {{{"type", "fcm", NULL}, {"key-file", text, NULL}}, "text holds no key that fits"},
        {{{"type", "webpush", NULL}}, "key-file is missing"},
        {{{"type", "webpush", NULL}, {"key-file", ec, NULL}}, "subject is missing"},
        {{{"type", "webpush", NULL}, {"key-file", ec, NULL}, {"subject", "me", NULL}},
            "subject is no way to reach you"},
        {{{"type", "webpush", NULL}, {"key-file", ec, NULL},
             {"subject", "mailto:a@b.example", NULL}, {"hosts", "a/b", NULL}},
            "hosts has what is no name"},
        {{{"type", "webpush", NULL}, {"key-file", rsa, NULL},
             {"subject", "mailto:a@b.example", NULL}},
            "rsa.pem holds no key that fits"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        owed_channel channel;
        owed_error err = {0};
        check_case(owed_channel_new("push", cases[i].settings, &channel, &err) == OWED_CONFIG,
            cases[i].says);
        if (strstr(err.text, cases[i].says) == NULL || strstr(err.text, "hush") != NULL)
            fail_msg("\"%s\", not \"%s\"", err.text, cases[i].says);
    }
    owed_channel channel;
    owed_error err;
    const owed_setting fine[] = {
        APNS, {"topic", "a.b", NULL}, {"url", "http://[::1]:80", NULL}, {NULL, NULL, NULL}};
    assert_int_equal(owed_channel_new("push", fine, &channel, &err), OWED_OK);
    owed_channel_done(&channel);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_signed_so_that_the_public_half_of_its_key_proves_it),
        cmocka_unit_test(a_key_that_does_not_fit_is_refused_by_the_name_of_its_file),
        cmocka_unit_test(a_token_is_kept_until_shortly_before_its_end),
        cmocka_unit_test(a_token_that_was_taken_for_none_is_made_anew_once),
        cmocka_unit_test(of_many_threads_one_makes_the_token),
        cmocka_unit_test(while_one_thread_makes_it_anew_the_others_use_the_old_one),
        cmocka_unit_test(the_vector_of_rfc_8291_comes_out_byte_for_byte),
        cmocka_unit_test(each_message_has_a_key_and_a_salt_of_its_own_and_a_bound),
        cmocka_unit_test(a_subscription_is_read_as_browsers_write_it),
        cmocka_unit_test(what_is_no_subscription_is_refused_and_not_shown),
        cmocka_unit_test(a_push_service_is_of_the_list_or_not),
        cmocka_unit_test(who_we_are_is_signed_for_each_push_service_and_kept_for_hours),
        cmocka_unit_test(an_id_gives_the_same_name_each_time),
        cmocka_unit_test(a_text_too_long_for_one_push_is_refused_or_cut),
        cmocka_unit_test(settings_that_cannot_be_are_refused_with_their_key),
    };
    return cmocka_run_group_tests(tests, make_keys, drop_keys);
}
