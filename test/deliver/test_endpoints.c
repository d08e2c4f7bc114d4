/* SPDX-License-Identifier: MIT
 *
 * test_endpoints.c - endpoints as programs meet them, and relays that deliver to them over real HTTP.
 */
#include "fixture.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <owed/endpoint.h>

#include "../receive/server.h"
#include "base/clock.h"
#include "loopback.h"

#define SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

static const owed_endpoint_settings on_loopback = {.allow = "127.0.0.0/8"};

static void
open_with(struct fixture *f, const owed_endpoint_settings *settings)
{
    fixture_receiver(f,
        (owed_receiver){.key = OWED_ENDPOINTS_RECEIVER,
            .event_name = "*",
            .max_attempts = 1,
            .endpoints = settings});
    f->busy_timeout_us = 10 * US_PER_SECOND; // others write, too
    fixture_open(f);
}

static const char *
add(struct fixture *f, const owed_endpoint *endpoint, char id[OWED_ENDPOINT_ID_BYTES])
{
    owed_status status = owed_endpoint_add(f->owed, endpoint, id, NULL, &f->err);
    if (status != OWED_OK)
        fail_msg("owed_endpoint_add: %s", f->err.text);
    return id;
}

static const char *
add_at(struct fixture *f, const char *url, char id[OWED_ENDPOINT_ID_BYTES])
{
    const owed_endpoint endpoint = {.url = url, .events = (const char *const[]){"*", NULL}};
    return add(f, &endpoint, id);
}

/* --- a program --- */

static void
endpoints_are_read_page_by_page_without_their_secrets(void **state)
{
    struct fixture *f = *state;
    owed_endpoint_list *list = NULL;
    char first[OWED_ENDPOINT_ID_BYTES], second[OWED_ENDPOINT_ID_BYTES];
    open_with(f, &on_loopback);
    const owed_endpoint endpoint = {.url = "https://127.0.0.1/in?token=hush",
        .events = (const char *const[]){"shop.*", "other.Paid", NULL},
        .name = "Acme",
        .format = OWED_FORMAT_RAW,
        .filter = "{\"/a\":1}",
        .secret = SECRET,
        .rate = 7};
    add(f, &endpoint, first);
    add_at(f, "http://127.0.0.1:8080/", second);
    assert_ok(owed_endpoint_find(f->owed, first, &list, &f->err));
    assert_int_equal(list->count, 1);
    const owed_endpoint_entry *e = &list->endpoints[0];
    assert_string_equal(e->id, first);
    assert_string_equal(e->name, "Acme");
    assert_string_equal(e->url, "https://127.0.0.1/in");
    assert_string_equal(e->events[0], "other.Paid");
    assert_string_equal(e->events[1], "shop.*");
    assert_null(e->events[2]);
    assert_string_equal(e->filter, "{\"/a\":1}");
    assert_int_equal(e->format, OWED_FORMAT_RAW);
    assert_int_equal(e->signing, OWED_SIGNING_V1);
    assert_int_equal(e->rate, 7);
    assert_int_equal(e->created_at_us, FIXTURE_NOW_US);
    assert_int_equal(e->disabled_at_us, 0);
    assert_int_equal(e->paused_at_us, 0);
    owed_endpoint_list_free(list);
    size_t seen = 0;
    char after[OWED_ENDPOINT_ID_BYTES] = "";
    for (;;) {
        assert_ok(owed_endpoints(f->owed, after, 1, NULL, &list, &f->err));
        if (list->count > 0) {
            assert_true(strcmp(list->endpoints[0].id, after) > 0);
            snprintf(after, sizeof after, "%s", list->endpoints[0].id);
        }
        bool is_over = list->count == 0;
        owed_endpoint_list_free(list);
        if (is_over)
            break;
        seen++;
    }
    assert_int_equal(seen, 2);
    assert_ok(owed_endpoints(f->owed, NULL, 10, "acme", &list, &f->err));
    assert_int_equal(list->count, 0);
    owed_endpoint_list_free(list);
    owed_endpoint_list_free(NULL);
}

static void
what_cannot_be_read_or_paused_is_refused(void **state)
{
    struct fixture *f = *state;
    owed_endpoint_list *list = NULL;
    char id[OWED_ENDPOINT_ID_BYTES];
    open_with(f, &on_loopback);
    add_at(f, "http://127.0.0.1:8080/", id);
    assert_status(OWED_INVALID, owed_endpoints(f->owed, NULL, 0, NULL, &list, &f->err));
    assert_status(OWED_INVALID, owed_endpoints(f->owed, NULL, 1001, NULL, &list, &f->err));
    assert_status(OWED_NOT_FOUND, owed_endpoint_find(f->owed, "ep_x", &list, &f->err));
    assert_status(OWED_NOT_FOUND, owed_endpoint_pause(f->owed, "ep_x", 0, NULL, &f->err));
    assert_status(OWED_NOT_FOUND, owed_endpoint_resume(f->owed, "ep_x", &f->err));
    assert_status(OWED_INVALID, owed_endpoint_pause(f->owed, id, FIXTURE_NOW_US, NULL, &f->err));
    assert_says(f->err, "is over");
    assert_status(OWED_INVALID, owed_endpoint_pause(f->owed, id, 0, "a\nb", &f->err));
    assert_ok(owed_endpoint_pause(f->owed, id, FIXTURE_NOW_US + 1, NULL, &f->err));
    assert_ok(owed_endpoint_find(f->owed, id, &list, &f->err));
    assert_int_equal(list->endpoints[0].paused_at_us, FIXTURE_NOW_US);
    assert_int_equal(list->endpoints[0].paused_until_us, FIXTURE_NOW_US + 1);
    owed_endpoint_list_free(list);
    assert_ok(owed_endpoint_resume(f->owed, id, &f->err));
    assert_ok(owed_endpoint_resume(f->owed, id, &f->err));
}

/* --- relays --- */

/* A relay with a handle of its own, on a thread of its own. */
struct hand {
    struct fixture *f;
    uint64_t seed;
    owed *owed;
    pthread_t thread;
    owed_status status;
    owed_error err;
};

static int64_t
stands_still(void *state)
{
    (void)state;
    return FIXTURE_NOW_US;
}

static void
hand_open(struct hand *hand, struct fixture *f, uint64_t seed)
{
    *hand = (struct hand){.f = f, .seed = seed};
    const owed_settings settings = {.url = f->url,
        .registry = f->registry,
        .no_publish = true,
        .busy_timeout_us = 10 * US_PER_SECOND,
        .clock = {.now_us = stands_still},
        .dice = dice_seeded(&hand->seed)};
    assert_ok(owed_open(&settings, &hand->owed, &hand->err));
}

static void *
deliver_one(void *state)
{
    struct hand *hand = state;
    const owed_relay_settings settings = {.limit = 1, .all_lanes = true};
    owed_relay_counts counts = {0};
    // A claim may come back empty while the other's holds more rows than it takes.
    for (int tries = 0; tries < 1000 && hand->status == OWED_OK && counts.dead == 0; tries++)
        hand->status = owed_relay_run(hand->owed, &settings, &counts, &hand->err);
    return NULL;
}

/* together answers once both relays ask, with the status of the path. */
static bool
together(struct server *server, int fd, const struct served *request)
{
    pthread_mutex_lock(&server->lock);
    while (server->most < server->wanted)
        pthread_cond_wait(&server->changed, &server->lock);
    pthread_mutex_unlock(&server->lock);
    return answer_by_path(server, fd, request);
}

/* race has two relays hear the same of one endpoint, at once, and tells how often it was said to be disabled. */
static int64_t
race(struct fixture *f, int status, const owed_endpoint_settings *settings)
{
    struct server server;
    struct hand hands[2];
    char url[64], id[OWED_ENDPOINT_ID_BYTES];
    server_start(&server, together);
    server.wanted = 2;
    open_with(f, settings);
    add_at(f, server_url(&server, status, url), id);
    fixture_begin(f);
    fixture_fire(f, &order_placed, 1);
    fixture_fire(f, &order_placed, 2);
    fixture_commit(f);
    for (size_t i = 0; i < 2; i++)
        hand_open(&hands[i], f, i + 5);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&hands[i].thread, NULL, deliver_one, &hands[i]), 0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(hands[i].thread, NULL), 0);
        if (hands[i].status != OWED_OK)
            fail_msg("a relay: %s", hands[i].err.text);
        owed_close(hands[i].owed);
    }
    server_stop(&server);
    assert_int_equal(
        raw_number(f->raw, "select count(*) from owed_delivery where status = 'dead'"), 2);
    assert_int_equal(
        raw_number(f->raw, "select count(*) from owed_endpoint where disabled_at > moment(0)"), 1);
    return raw_number(
        f->raw, "select count(*) from owed_event where name = 'owed.EndpointDisabled'");
}

static void
two_relays_that_hear_410_at_once_disable_it_once(void **state)
{
    assert_int_equal(race(*state, 410, &on_loopback), 1);
}

static void
two_relays_that_count_the_last_dead_at_once_disable_it_once(void **state)
{
    const owed_endpoint_settings settings = {.allow = "127.0.0.0/8", .disable_after = 2};
    assert_int_equal(race(*state, 400, &settings), 1);
    assert_int_equal(
        raw_number(((struct fixture *)*state)->raw, "select dead_in_row from owed_endpoint"), 2);
}

/* --- redirects --- */

/* A name that leads to loopback, once, and then inside. */
static owed_status
leads_inside_next_time(const char *host, void *state, owed_address_list *list, owed_error *err)
{
    int *calls = state;
    assert_string_equal(host, "h.example");
    return owed_address_add(list, (*calls)++ <= 0 ? "127.0.0.1" : "10.0.0.1", err);
}

/* sends_on answers a path of the table with a redirect, and any other with 200. */
static bool
sends_on(struct server *server, int fd, const struct served *request)
{
    static const struct {
        int path, status;
        const char *to; // PORT is the server's
    } ways[] = {
        {1, 307, "/2"},
        {2, 308, "http://127.0.0.1:PORT/200?a=b"},
        {3, 302, "/200"},
        {4, 307, "http://localhost:PORT/200"},
        {5, 307, "/5"},
        {6, 307, "http://169.254.169.254/latest"},
        {7, 308, "http://127.0.0.1:22/"},
        {8, 307, "file:///etc/passwd"},
        {9, 307, "http://h.example:8080/200"},
    };
    char to[100], text[300];
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (ways[i].path != request->path)
            continue;
        const char *port = strstr(ways[i].to, "PORT");
        if (port == NULL)
            snprintf(to, sizeof to, "%s", ways[i].to);
        else
            snprintf(to, sizeof to, "%.*s%d%s", (int)(port - ways[i].to), ways[i].to, server->port,
                port + 4);
        snprintf(text, sizeof text,
            "HTTP/1.1 %d Moved\r\nlocation: %s\r\ncontent-length: 0\r\n\r\n", ways[i].status, to);
        return send_text(fd, text);
    }
    return send_text(fd, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
}

/* called delivers one event to an endpoint at a path of the server, and writes what came of it. */
static size_t
called(struct fixture *f, const char *host, int path, char ret_said[static 256])
{
    struct server server;
    char url[100], id[OWED_ENDPOINT_ID_BYTES];
    const owed_relay_settings settings = {.once = true, .all_lanes = true};
    server_start(&server, sends_on);
    snprintf(url, sizeof url, "http://%s:%d/%d", host, server.port, path);
    add_at(f, url, id);
    fixture_begin(f);
    fixture_fire(f, &order_placed, 1);
    fixture_commit(f);
    assert_ok(owed_relay_run(f->owed, &settings, NULL, &f->err));
    raw_list(f->raw, "select status || ' ' || last_error from owed_delivery", ret_said);
    raw_run(f->raw, "delete from owed_delivery");
    assert_ok(owed_endpoint_remove(f->owed, id, &f->err));
    size_t count = server.count;
    char value[512];
    for (const struct served *s = server.served; s != NULL; s = s->next) {
        assert_memory_equal(s->head, "POST ", 5);
        assert_true(strncmp(header_of(s, "webhook-signature", value), "v1,", 3) == 0);
        assert_non_null(strstr(s->body, "\"type\":\"shop.OrderPlaced\""));
    }
    server_stop(&server);
    return count;
}

static void
a_redirect_is_followed_at_its_host_alone_and_each_hop_is_checked(void **state)
{
    struct fixture *f = *state;
    static const struct {
        int path;
        size_t requests;
        const char *said;
    } cases[] = {
        {1, 3, "succeeded "},
        {2, 2, "succeeded "},
        {3, 1, "only 307 and 308 are followed"},
        {4, 1, "it is another host"},
        {5, 3, "it is one redirect too many"},
        {6, 1, "it is another host"},
        {7, 1, "has a port that is another service's"},
        {8, 1, "is neither http:// nor https://"},
    };
    char said[256];
    if (!test_store_is("sqlite"))
        skip(); // the store has no part in it
    open_with(f, &(owed_endpoint_settings){.allow = "127.0.0.0/8", .redirects = 2});
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t requests = called(f, "127.0.0.1", cases[i].path, said);
        if (requests != cases[i].requests || strstr(said, cases[i].said) == NULL)
            fail_msg("/%d: %zu requests, %s", cases[i].path, requests, said);
    }
}

static void
no_redirect_is_followed_unless_somebody_says_so(void **state)
{
    struct fixture *f = *state;
    char said[256];
    if (!test_store_is("sqlite"))
        skip();
    open_with(f, &on_loopback);
    assert_int_equal(called(f, "127.0.0.1", 1, said), 1);
    assert_non_null(strstr(said, "dead "));
    assert_non_null(strstr(said, "redirects are not followed"));
}

static void
a_name_is_one_host_however_it_is_written(void **state)
{
    struct fixture *f = *state;
    int calls = -1;
    char said[256];
    if (!test_store_is("sqlite"))
        skip();
    open_with(f,
        &(owed_endpoint_settings){
            .allow = "127.0.0.0/8", .resolve = leads_inside_next_time, .resolve_state = &calls});
    assert_int_equal(called(f, "H.Example.", 200, said), 1);
    assert_string_equal(said, "succeeded ");
}

static void
a_name_that_leads_inside_by_the_next_hop_is_not_called(void **state)
{
    struct fixture *f = *state;
    int calls = -1; // it is asked when the endpoint is added, too
    char said[256];
    if (!test_store_is("sqlite"))
        skip();
    const owed_endpoint_settings settings = {.allow = "127.0.0.0/8",
        .redirects = 2,
        .resolve = leads_inside_next_time,
        .resolve_state = &calls};
    open_with(f, &settings);
    assert_int_equal(called(f, "h.example", 9, said), 1);
    assert_non_null(strstr(said, "10.0.0.1, a private address"));
}

/* --- look-ups --- */

static owed_status
is_found_once(const char *host, void *state, owed_address_list *list, owed_error *err)
{
    int *calls = state;
    (void)host;
    if ((*calls)++ == 0)
        return owed_address_add(list, "127.0.0.1", err);
    return OWED_UNAVAILABLE;
}

static void
a_host_is_looked_up_once_for_all_that_wait_and_they_are_put_off_when_it_fails(void **state)
{
    struct fixture *f = *state;
    int calls = 0;
    char id[OWED_ENDPOINT_ID_BYTES];
    const owed_relay_settings once = {.once = true, .all_lanes = true};
    if (!test_store_is("sqlite"))
        skip();
    open_with(f,
        &(owed_endpoint_settings){
            .allow = "127.0.0.0/8", .resolve = is_found_once, .resolve_state = &calls});
    add_at(f, "http://h.example:8080/", id);
    fixture_begin(f);
    for (int i = 0; i < 40; i++)
        fixture_fire(f, &order_placed, i);
    fixture_commit(f);
    assert_ok(owed_relay_run(f->owed, &once, NULL, &f->err));
    assert_int_equal(calls, 2); // when it was added, and now
    assert_int_equal(
        raw_number(f->raw, "select count(*) from owed_delivery where status = 'dead'"), 1);
    assert_int_equal(
        raw_number(
            f->raw, "select count(*) from owed_delivery where status = 'pending' and attempts = 0"),
        39);
}

/* --- pauses that end meanwhile --- */

/* A store in which somebody else acts between the relay's look at an endpoint and what it writes then. */
static struct {
    struct driver driver;
    const struct driver *inner;
    owed_status (*act)(owed *owed, const char *id, owed_error *err);
    struct hand other;
    char id[OWED_ENDPOINT_ID_BYTES];
    bool is_looked_up, is_over;
} meanwhile;

static void
act_meanwhile(struct db *db)
{
    if (!meanwhile.is_looked_up || meanwhile.is_over || meanwhile.inner->in_transaction(db))
        return;
    meanwhile.is_over = true;
    assert_ok(meanwhile.act(meanwhile.other.owed, meanwhile.id, &meanwhile.other.err));
}

static owed_status
begin_meanwhile(struct db *db, bool write, owed_error *err)
{
    act_meanwhile(db);
    return meanwhile.inner->begin(db, write, err);
}

static owed_status
run_meanwhile(struct db *db, enum stmt stmt, const struct value *args, size_t count,
    struct rows **ret_rows, owed_error *err)
{
    act_meanwhile(db);
    if (stmt == STMT_ENDPOINTS_OF)
        meanwhile.is_looked_up = true;
    return meanwhile.inner->run(db, stmt, args, count, ret_rows, err);
}

/* keep_meanwhile has a relay keep a delivery for a pause that somebody with a connection of his own ends before it is
 * written, and writes what became of it within the same moment, and how many requests there were. */
static size_t
keep_meanwhile(struct fixture *f, owed_status (*act)(owed *owed, const char *id, owed_error *err),
    char ret_said[static 256])
{
    struct server server;
    char url[64];
    const owed_relay_settings once = {.once = true, .all_lanes = true};
    memset(&meanwhile, 0, sizeof meanwhile);
    server_start(&server, answer_by_path);
    open_with(f, &on_loopback);
    add_at(f, server_url(&server, 200, url), meanwhile.id);
    assert_ok(owed_endpoint_pause(f->owed, meanwhile.id, 0, NULL, &f->err));
    fixture_begin(f);
    fixture_fire(f, &order_placed, 1);
    fixture_commit(f);
    hand_open(&meanwhile.other, f, 5);
    meanwhile.act = act;
    meanwhile.inner = f->owed->db->driver;
    meanwhile.driver = *meanwhile.inner;
    meanwhile.driver.begin = begin_meanwhile;
    meanwhile.driver.run = run_meanwhile;
    f->owed->db->driver = &meanwhile.driver;
    assert_ok(owed_relay_run(f->owed, &once, NULL, &f->err));
    f->owed->db->driver = meanwhile.inner;
    assert_true(meanwhile.is_over);
    owed_close(meanwhile.other.owed);
    size_t requests = server.count;
    server_stop(&server);
    raw_list(f->raw, "select status || ' ' || last_error from owed_delivery", ret_said);
    return requests;
}

static void
what_is_kept_while_its_endpoint_is_removed_ends_at_once(void **state)
{
    char said[256];
    assert_int_equal(keep_meanwhile(*state, owed_endpoint_remove, said), 0);
    assert_string_equal(said, "succeeded ");
}

static void
what_is_kept_while_its_endpoint_is_resumed_is_sent_at_once(void **state)
{
    char said[256];
    assert_int_equal(keep_meanwhile(*state, owed_endpoint_resume, said), 1);
    assert_string_equal(said, "succeeded ");
}

static owed_status
look_on(owed *handle, const char *id, owed_error *err)
{
    return owed_endpoint_pause(handle, id, 0, "still", err);
}

static void
what_is_kept_for_a_pause_that_goes_on_stays(void **state)
{
    char said[256];
    assert_int_equal(keep_meanwhile(*state, look_on, said), 0);
    assert_true(strncmp(said, "pending ", 8) == 0);
}

/* --- TLS --- */

/* A listener that keeps the first bytes it is sent, and hangs up. */
struct hello {
    int listener;
    char bytes[2048];
    ssize_t len;
};

static void *
hear(void *state)
{
    struct hello *hello = state;
    int fd = accept(hello->listener, NULL, NULL);
    hello->len = recv(fd, hello->bytes, sizeof hello->bytes, 0);
    close(fd);
    return NULL;
}

static void
the_name_is_kept_for_tls_though_the_address_was_checked_before(void **state)
{
    struct fixture *f = *state;
    struct hello hello;
    pthread_t thread;
    int port = 0, calls = -1;
    char url[64], id[OWED_ENDPOINT_ID_BYTES];
    const owed_relay_settings once = {.once = true, .all_lanes = true};
    if (!test_store_is("sqlite"))
        skip();
    const owed_endpoint_settings settings = {
        .allow = "127.0.0.0/8", .resolve = leads_inside_next_time, .resolve_state = &calls};
    open_with(f, &settings);
    hello.listener = loopback_listen(8, &port);
    snprintf(url, sizeof url, "https://h.example:%d/", port);
    add_at(f, url, id);
    fixture_begin(f);
    fixture_fire(f, &order_placed, 1);
    fixture_commit(f);
    assert_int_equal(pthread_create(&thread, NULL, hear, &hello), 0);
    assert_ok(owed_relay_run(f->owed, &once, NULL, &f->err));
    assert_int_equal(pthread_join(thread, NULL), 0);
    close(hello.listener);
    assert_true(hello.len > 0);
    assert_non_null(memmem(hello.bytes, (size_t)hello.len, "h.example", strlen("h.example")));
    assert_int_equal(
        raw_number(f->raw, "select count(*) from owed_delivery where status = 'dead'"), 1);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown((name), fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(endpoints_are_read_page_by_page_without_their_secrets),
        TEST(what_cannot_be_read_or_paused_is_refused),
        TEST(two_relays_that_hear_410_at_once_disable_it_once),
        TEST(two_relays_that_count_the_last_dead_at_once_disable_it_once),
        TEST(a_redirect_is_followed_at_its_host_alone_and_each_hop_is_checked),
        TEST(a_host_is_looked_up_once_for_all_that_wait_and_they_are_put_off_when_it_fails),
        TEST(what_is_kept_while_its_endpoint_is_removed_ends_at_once),
        TEST(what_is_kept_while_its_endpoint_is_resumed_is_sent_at_once),
        TEST(what_is_kept_for_a_pause_that_goes_on_stays),
        TEST(the_name_is_kept_for_tls_though_the_address_was_checked_before),
        TEST(no_redirect_is_followed_unless_somebody_says_so),
        TEST(a_name_is_one_host_however_it_is_written),
        TEST(a_name_that_leads_inside_by_the_next_hop_is_not_called),
    };
    return RUN_ON_ALL_STORES("endpoints", tests);
}
