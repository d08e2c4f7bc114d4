/* SPDX-License-Identifier: MIT
 *
 * test_wake.c - an idle worker is woken by whoever commits, and by nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "deliver/wake.h"

/* A store whose signs and commits a test gives. */
struct fake_db {
    struct db base;
    const char *path;
    int sign;             // eventfd, -1: none
    int looks;            // how often it was asked
    int commit_seen_from; // the look that first sees the commit; 0: none
};

static int
fake_wake_fd(struct db *db)
{
    return ((struct fake_db *)db)->sign;
}

static bool
fake_changed(struct db *db)
{
    struct fake_db *fake = (struct fake_db *)db;
    eventfd_t count;
    (void)eventfd_read(fake->sign, &count);
    fake->looks++;
    if (fake->commit_seen_from == 0 || fake->looks < fake->commit_seen_from)
        return false;
    fake->commit_seen_from = 0;
    return true;
}

static const char *
fake_path(struct db *db)
{
    return ((struct fake_db *)db)->path;
}

static const struct driver fake_driver = {
    .scheme = "fake", .wake_fd = fake_wake_fd, .changed = fake_changed, .path = fake_path};

struct fixture {
    char dir[32];
    char path[48];
    struct fake_db db;
    owed owed;
    struct wake *wake;
};

static int
setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    snprintf(f->dir, sizeof f->dir, "/tmp/owed-wake-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    f->db = (struct fake_db){
        .base.driver = &fake_driver, .sign = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    snprintf(f->path, sizeof f->path, "%s/shop.db", f->dir);
    f->db.path = f->path;
    close(open(f->db.path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    f->owed = (owed){.db = &f->db.base, .stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    assert_int_equal(wake_open(&f->owed, "host-1.89abcdef/0", &f->wake, NULL), OWED_OK);
    *state = f;
    return 0;
}

static int
teardown(void **state)
{
    struct fixture *f = *state;
    wake_close(f->wake);
    close(f->db.sign);
    close(f->owed.stop_fd);
    unlink(f->path);
    assert_int_equal(rmdir(f->dir), 0);
    free(f);
    return 0;
}

static int
send_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ssize_t sent =
        sendto(fd, "w", 1, MSG_DONTWAIT, (const struct sockaddr *)&address, sizeof address);
    int problem = sent == 1 ? 0 : errno;
    close(fd);
    return problem;
}

static int64_t
mono_us(void)
{
    return clock_monotonic_us(&clock_system);
}

/* settle lets the watch pass that every new connection begins with. */
static void
settle(struct fixture *f)
{
    assert_false(wake_wait(f->wake, OWED_SECONDS(2)));
    f->db.looks = 0;
}

static void
a_datagram_ends_the_wait_once(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(send_to(wake_path(f->wake)), 0);
    assert_true(wake_wait(f->wake, OWED_SECONDS(60)));
    assert_false(wake_wait(f->wake, 1000));
}

static void
a_full_socket_refuses_and_still_wakes(void **state)
{
    struct fixture *f = *state;
    int problem = 0;
    for (int i = 0; i < 10000 && problem == 0; i++)
        problem = send_to(wake_path(f->wake));
    assert_int_equal(problem, EAGAIN);
    assert_true(wake_wait(f->wake, OWED_SECONDS(60)));
    assert_false(wake_wait(f->wake, 0));
    assert_int_equal(send_to(wake_path(f->wake)), 0);
}

static void
a_stop_ends_the_wait_and_later_ones_at_once(void **state)
{
    struct fixture *f = *state;
    atomic_store(&f->owed.stop, 1);
    eventfd_write(f->owed.stop_fd, 1);
    int64_t start = mono_us();
    assert_false(wake_wait(f->wake, OWED_SECONDS(60)));
    assert_false(wake_wait(f->wake, OWED_SECONDS(60)));
    assert_in_range(mono_us() - start, 0, OWED_SECONDS(30));

    // Whoever still waits for other things is not kept busy by the stop.
    assert_false(wake_take(f->wake));
    struct pollfd fd = {.fd = f->owed.stop_fd, .events = POLLIN};
    assert_int_equal(poll(&fd, 1, 0), 0);
}

static void
a_commit_that_shows_after_its_sign_is_seen(void **state)
{
    struct fixture *f = *state;
    eventfd_write(f->db.sign, 1);
    f->db.commit_seen_from = 7;
    int64_t start = mono_us();
    assert_true(wake_wait(f->wake, OWED_SECONDS(60)));
    assert_int_equal(f->db.looks, 7);
    assert_in_range(mono_us() - start, 6000, OWED_SECONDS(30));
}

static void
a_commit_that_shows_long_after_its_sign_is_seen(void **state)
{
    struct fixture *f = *state;
    eventfd_write(f->db.sign, 1);
    f->db.commit_seen_from = 25; // some 20 looks in the close watch, then ever fewer
    assert_true(wake_wait(f->wake, OWED_SECONDS(60)));
}

static void
a_sign_without_a_commit_costs_a_bounded_number_of_looks(void **state)
{
    struct fixture *f = *state;
    eventfd_write(f->db.sign, 1);
    assert_false(wake_wait(f->wake, OWED_SECONDS(2)));
    assert_in_range(f->db.looks, 10, 60);
    assert_int_equal(wake_timeout_us(f->wake, OWED_SECONDS(60)), OWED_SECONDS(60));
    int looks = f->db.looks;
    assert_false(wake_wait(f->wake, 50000));
    assert_int_equal(f->db.looks, looks + 1);
}

static void
a_seen_commit_does_not_end_the_watch_for_the_next(void **state)
{
    struct fixture *f = *state;
    eventfd_write(f->db.sign, 1);
    f->db.commit_seen_from = 1;
    assert_true(wake_wait(f->wake, OWED_SECONDS(60)));
    f->db.commit_seen_from = f->db.looks + 3;
    assert_true(wake_wait(f->wake, OWED_SECONDS(60)));
}

static void
without_a_sign_nobody_looks_before_the_end(void **state)
{
    struct fixture *f = *state;
    settle(f);
    assert_false(wake_wait(f->wake, 30000));
    assert_int_equal(f->db.looks, 1);
    assert_int_equal(wake_timeout_us(f->wake, 12345), 12345);
}

static void
what_was_committed_before_a_connection_was_watched_is_seen(void **state)
{
    struct fixture *f = *state;
    settle(f);
    // The store went away and came back: nobody watched the new connection when this was committed.
    struct fake_db fresh = f->db;
    fresh.commit_seen_from = 3;
    f->owed.db = &fresh.base;
    assert_int_equal(wake_timeout_us(f->wake, OWED_SECONDS(60)), 0);
    assert_true(wake_wait(f->wake, OWED_SECONDS(60)));
    assert_int_equal(fresh.looks, 3);
    f->owed.db = &f->db.base;
}

static void
polling_beside_other_things_tells_the_same(void **state)
{
    struct fixture *f = *state;
    int fds[WAKE_FDS];
    assert_int_equal(wake_fds(f->wake, fds), 3);
    assert_false(wake_take(f->wake));
    eventfd_write(f->db.sign, 1);
    assert_false(wake_take(f->wake));
    assert_in_range(wake_timeout_us(f->wake, OWED_SECONDS(5)), 0, 1000);
    send_to(wake_path(f->wake));
    assert_true(wake_take(f->wake));
}

static void
more_signs_do_not_end_a_wait_for_a_look_that_is_set(void **state)
{
    struct fixture *f = *state;
    int fds[WAKE_FDS];
    size_t count = 0;
    // Where the look came due meanwhile, the sign is listened to again.
    do {
        eventfd_write(f->db.sign, 1);
        assert_false(wake_take(f->wake));
        count = wake_fds(f->wake, fds);
    } while (wake_timeout_us(f->wake, OWED_SECONDS(5)) == 0);
    assert_int_equal(count, 2);

    int looks = f->db.looks;
    eventfd_write(f->db.sign, 1);
    f->db.commit_seen_from = looks + 1;
    assert_true(wake_wait(f->wake, OWED_SECONDS(60)));
    assert_int_equal(f->db.looks, looks + 1);
}

static void
without_a_connection_it_still_waits(void **state)
{
    struct fixture *f = *state;
    f->owed.db = NULL;
    int fds[WAKE_FDS];
    assert_int_equal(wake_fds(f->wake, fds), 2);
    assert_false(wake_wait(f->wake, 1000));
    assert_false(wake_is_proven(f->wake));
    f->owed.db = &f->db.base;
}

static void
signs_prove_themselves_until_one_is_missed(void **state)
{
    struct fixture *f = *state;
    assert_false(wake_is_proven(f->wake));
    eventfd_write(f->db.sign, 1);
    wake_take(f->wake);
    assert_true(wake_is_proven(f->wake));

    // A commit that only the look at the end of a wait finds came without its sign.
    assert_false(wake_wait(f->wake, OWED_SECONDS(2)));
    f->db.commit_seen_from = 1;
    assert_true(wake_wait(f->wake, 1000));
    assert_false(wake_is_proven(f->wake));
    for (int i = 0; i < 8; i++) {
        assert_false(wake_is_proven(f->wake));
        eventfd_write(f->db.sign, 1);
        wake_take(f->wake);
    }
    assert_true(wake_is_proven(f->wake));
}

static void
sockets_of_the_dead_are_removed_and_those_of_the_living_stay(void **state)
{
    struct fixture *f = *state;
    struct sockaddr_un dead = {.sun_family = AF_UNIX};
    snprintf(dead.sun_path, sizeof dead.sun_path, "%s-owed-1-00000000.sock", f->path);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&dead, sizeof dead), 0);
    close(fd);
    char other[100];
    snprintf(other, sizeof other, "%s-owed-notes.txt", f->path);
    close(open(other, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));

    struct wake *second = NULL;
    assert_int_equal(wake_open(&f->owed, "host-1.01234567/1", &second, NULL), OWED_OK);
    assert_int_equal(access(dead.sun_path, F_OK), -1);
    assert_int_equal(access(other, F_OK), 0);
    assert_int_equal(access(wake_path(f->wake), F_OK), 0);
    assert_int_equal(send_to(wake_path(f->wake)), 0);
    assert_int_equal(send_to(wake_path(second)), 0);
    wake_close(second);
    unlink(other);
}

static void
who_may_write_the_store_may_send(void **state)
{
    struct fixture *f = *state;
    chmod(f->db.path, 0664);
    struct wake *second = NULL;
    assert_int_equal(wake_open(&f->owed, "host-1.01234567/1", &second, NULL), OWED_OK);
    struct stat socket_stat;
    assert_int_equal(stat(wake_path(second), &socket_stat), 0);
    assert_true(S_ISSOCK(socket_stat.st_mode));
    assert_int_equal(socket_stat.st_mode & 0777, 0664);
    wake_close(second);
}

static void
too_long_a_path_leaves_the_rest_working(void **state)
{
    struct fixture *f = *state;
    char path[150] = "/";
    memset(path + 1, 'x', sizeof path - 2);
    f->db.path = path;
    struct wake *second = NULL;
    assert_int_equal(wake_open(&f->owed, "host-1.01234567/1", &second, NULL), OWED_OK);
    assert_string_equal(wake_path(second), "");
    f->db.commit_seen_from = 1;
    eventfd_write(f->db.sign, 1);
    assert_true(wake_wait(second, OWED_SECONDS(60)));
    wake_close(second);
    f->db.path = f->path;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* fake_asleep has somebody before it who is not done yet. */
static bool
fake_asleep(struct db *db, bool on)
{
    (void)db;
    (void)on;
    return false;
}

static void
news_that_come_with_the_answer_to_who_would_sleep_are_looked_for(void **state)
{
    struct fixture *f = *state;
    static const struct driver talks = {.scheme = "fake",
        .wake_fd = fake_wake_fd,
        .changed = fake_changed,
        .path = fake_path,
        .asleep = fake_asleep};
    settle(f);
    f->db.base.driver = &talks;
    assert_false(wake_sleep(f->wake));
    f->db.looks = 0;
    f->db.commit_seen_from = 1; // and no sign of it
    assert_true(wake_sleep(f->wake));
    assert_false(wake_sleep(f->wake));
    f->db.looks = 0;
    f->db.commit_seen_from = 1;
    assert_true(wake_wait(f->wake, OWED_SECONDS(60)));
}

static bool
fake_lies_down(struct db *db, bool on)
{
    (void)db;
    return on;
}

static void
who_falls_asleep_on_a_new_connection_looks_once_and_then_waits(void **state)
{
    struct fixture *f = *state;
    static const struct driver talks = {.scheme = "fake",
        .wake_fd = fake_wake_fd,
        .changed = fake_changed,
        .path = fake_path,
        .asleep = fake_lies_down};
    f->db.base.driver = &talks;
    f->db.commit_seen_from = 100; // none in this test
    assert_true(wake_wait(f->wake, OWED_SECONDS(60)));
    assert_false(wake_wait(f->wake, 1000));
}

static void
who_can_say_that_he_sleeps_needs_no_other_proof(void **state)
{
    struct fixture *f = *state;
    static const struct driver talks = {.scheme = "fake",
        .wake_fd = fake_wake_fd,
        .changed = fake_changed,
        .path = fake_path,
        .asleep = fake_lies_down};
    static const struct driver does_not = {.scheme = "fake",
        .wake_fd = fake_wake_fd,
        .changed = fake_changed,
        .path = fake_path,
        .asleep = fake_asleep};
    f->db.base.driver = &talks;
    assert_false(wake_is_proven(f->wake));
    wake_sleep(f->wake);
    assert_true(wake_is_proven(f->wake));
    f->db.base.driver = &does_not;
    wake_sleep(f->wake);
    assert_false(wake_is_proven(f->wake));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_datagram_ends_the_wait_once),
        CASE(a_full_socket_refuses_and_still_wakes),
        CASE(a_stop_ends_the_wait_and_later_ones_at_once),
        CASE(a_commit_that_shows_after_its_sign_is_seen),
        CASE(a_commit_that_shows_long_after_its_sign_is_seen),
        CASE(a_sign_without_a_commit_costs_a_bounded_number_of_looks),
        CASE(a_seen_commit_does_not_end_the_watch_for_the_next),
        CASE(without_a_sign_nobody_looks_before_the_end),
        CASE(news_that_come_with_the_answer_to_who_would_sleep_are_looked_for),
        CASE(who_falls_asleep_on_a_new_connection_looks_once_and_then_waits),
        CASE(who_can_say_that_he_sleeps_needs_no_other_proof),
        CASE(what_was_committed_before_a_connection_was_watched_is_seen),
        CASE(polling_beside_other_things_tells_the_same),
        CASE(more_signs_do_not_end_a_wait_for_a_look_that_is_set),
        CASE(without_a_connection_it_still_waits),
        CASE(signs_prove_themselves_until_one_is_missed),
        CASE(sockets_of_the_dead_are_removed_and_those_of_the_living_stay),
        CASE(who_may_write_the_store_may_send),
        CASE(too_long_a_path_leaves_the_rest_working),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
