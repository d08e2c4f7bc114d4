/* SPDX-License-Identifier: MIT
 *
 * publish.c - deliveries as messages, and what a broker's answers mean for them.
 */
#include "receive/publish.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/moment.h"
#include "base/traceparent.h"
#include "receive/publisher.h"

#define AWAY_MAX_SECONDS 15

owed_status
publishers_open(
    struct publishers *publishers, struct landing *landing, const struct log *log, owed_error *err)
{
    static const struct log silent = {0};
    *publishers = (struct publishers){.landing = landing, .log = log == NULL ? &silent : log};
    publishers->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (publishers->ended_fd < 0)
        return fail_native(err, OWED_UNAVAILABLE, errno, "nothing can be published: eventfd: %s",
            strerrordesc_np(errno));
    pthread_mutex_init(&publishers->lock, NULL);
    publishers->is_open = true;
    return OWED_OK;
}

static void
free_publisher(struct publisher *publisher)
{
    pthread_cond_destroy(&publisher->stirred);
    pthread_cond_destroy(&publisher->answered);
    arena_done(&publisher->arena);
    free(publisher);
}

static struct publisher *
make(struct publishers *publishers, const struct receiver *receiver)
{
    owed_error err;
    struct publisher *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->receiver = receiver;
    made->all = publishers;
    made->queued_end = &made->queued;
    arena_init(&made->arena, 0);
    pthread_cond_init(&made->stirred, NULL);
    pthread_cond_init(&made->answered, NULL);
    if (broker_url_read(receiver->declared.publish, BROKER_HAS_FEEDS, &made->arena, &made->url,
            &err) != OWED_OK) {
        free_publisher(made);
        return NULL;
    }
    made->next = publishers->first;
    publishers->first = made;
    return made;
}

/* find returns a receiver's publisher, or makes one; NULL: out of memory. */
static struct publisher *
find(struct publishers *publishers, const struct receiver *receiver)
{
    for (struct publisher *p = publishers->first; p != NULL; p = p->next) {
        if (p->receiver == receiver)
            return p;
    }
    return make(publishers, receiver);
}

int32_t
publishers_room(struct publishers *publishers, const struct receiver *receiver)
{
    const struct publisher *publisher = find(publishers, receiver);
    int32_t declared = receiver->declared.in_flight;
    int32_t limit = declared > 0 ? declared : PUBLISH_IN_FLIGHT;
    return publisher == NULL || publisher->count >= limit ? 0 : limit - publisher->count;
}

static void
add_field(struct broker_message *message, const char *name, const char *value)
{
    if (value != NULL && value[0] != '\0')
        message->fields[message->field_count++] = (struct broker_field){name, value};
}

static void
write_message(struct posting *posting)
{
    const owed_delivery *delivery = &posting->flight->delivery;
    const struct claimed *row = delivery->row;
    const owed_receiver *declared = &delivery->receiver->declared;
    struct broker_message *message = &posting->message;
    *message = (struct broker_message){
        .id = delivery->idempotency_key,
        .topic = declared->topic != NULL ? declared->topic : or_empty(row->event_name),
        .exchange = or_empty(declared->exchange),
        .event = or_empty(row->event_name),
        .correlation_id = or_empty(row->correlation_id),
        .occurred_at_us = row->occurred_at_us,
        .payload = row->payload,
    };
    snprintf(posting->delivery, NUMBER_BYTES, "%" PRId64, row->fence.delivery_id);
    snprintf(posting->event_id, NUMBER_BYTES, "%" PRId64, row->event_id);
    snprintf(posting->version, NUMBER_BYTES, "%" PRId32, row->event_version);
    snprintf(posting->attempt, NUMBER_BYTES, "%" PRId32, delivery->attempt);
    add_field(message, "owed-event", row->event_name);
    add_field(message, "owed-event-id", posting->event_id);
    add_field(message, "owed-version", posting->version);
    add_field(message, "owed-receiver", row->receiver_key);
    add_field(message, "owed-delivery", posting->delivery);
    add_field(message, "owed-attempt", posting->attempt);
    add_field(message, "owed-target", row->target);
    add_field(message, "owed-correlation-id", row->correlation_id);
    if (traceparent_is_valid(or_empty(row->traceparent)))
        add_field(message, "traceparent", row->traceparent);
}

void
publishers_start(struct publishers *publishers, struct flight *flight)
{
    owed_delivery *delivery = &flight->delivery;
    struct publisher *publisher = find(publishers, delivery->receiver);
    struct posting *posting = publisher == NULL ? NULL : calloc(1, sizeof *posting);
    if (posting == NULL || !publisher_start(publisher)) {
        free(posting);
        landing_add(
            publishers->landing, flight, owed_failed(delivery, "publish: no memory, or no thread"));
        return;
    }
    posting->publisher = publisher;
    posting->flight = flight;
    flight->builtin = posting;
    write_message(posting);
    publisher->count++;
    pthread_mutex_lock(&publishers->lock);
    bool is_first = publisher->queued == NULL;
    *publisher->queued_end = posting;
    publisher->queued_end = &posting->next;
    if (is_first)
        pthread_cond_signal(&publisher->stirred);
    pthread_mutex_unlock(&publishers->lock);
}

/* defer puts off what a broker that is away was to get: all of one batch for as long as its first. */
static owed_outcome
defer(struct publisher *publisher, owed_delivery *delivery, const char *what, const char *why)
{
    int32_t seconds = publisher->away_seconds > 0 ? publisher->away_seconds : 1;
    return owed_defer(delivery, seconds, "%s: %s", what, why);
}

static void
land(struct publishers *publishers, struct posting *posting)
{
    struct flight *flight = posting->flight;
    owed_delivery *delivery = &flight->delivery;
    const struct broker_message *message = &posting->message;
    char what[300];
    snprintf(what, sizeof what, "publish %s", delivery->receiver->declared.publish);
    owed_outcome outcome = owed_done();
    if (message->answer == BROKER_REFUSED)
        outcome = owed_permanent(delivery, "%s: %s", what, message->text);
    else if (message->answer == BROKER_FAILED)
        outcome = owed_failed(delivery, "%s: %s", what, message->text);
    else if (message->answer != BROKER_ACKED)
        outcome = defer(posting->publisher, delivery, what, message->text);
    flight->builtin = NULL;
    posting->publisher->count--;
    free(posting);
    landing_add(publishers->landing, flight, outcome);
}

/* stay_away doubles how long a broker is left alone, once for each time that it was asked after such a while:
 * what was under way with the first that found it away says nothing new. */
static void
stay_away(struct publisher *publisher, int64_t now_us)
{
    if (publisher->away_seconds > 0 && now_us < publisher->away_until_us)
        return;
    publisher->away_seconds = publisher->away_seconds == 0 ? 1 : publisher->away_seconds * 2;
    if (publisher->away_seconds > AWAY_MAX_SECONDS)
        publisher->away_seconds = AWAY_MAX_SECONDS;
    publisher->away_until_us = now_us + publisher->away_seconds * US_PER_SECOND;
}

static bool
is_away(const struct broker_message *message)
{
    return message->answer == BROKER_AWAY || message->answer == BROKER_BARRED;
}

/* say_trouble logs once that the broker is away, or refuses, and that it is back; away NULL: it is. */
static void
say_trouble(struct publisher *publisher, const struct broker_message *away)
{
    const owed_receiver *declared = &publisher->receiver->declared;
    const struct log *log = publisher->all->log;
    enum broker_answer trouble = away == NULL ? BROKER_SILENT : away->answer;
    if (trouble == publisher->trouble)
        return;
    if (publisher->trouble == BROKER_SILENT)
        publisher->trouble_since_us = clock_now_us(&publisher->all->landing->clock);
    publisher->trouble = trouble;
    snprintf(publisher->trouble_text, sizeof publisher->trouble_text, "%s",
        away == NULL ? "" : away->text);
    if (away == NULL)
        log_say(log, OWED_LOG_INFO, "the broker is back", LOG_TEXT("receiver", declared->key),
            LOG_TEXT("publish", declared->publish));
    else
        log_say(log, OWED_LOG_ERROR,
            trouble == BROKER_BARRED ? "the broker refuses this relay" : "the broker is away",
            LOG_TEXT("receiver", declared->key), LOG_TEXT("publish", declared->publish),
            LOG_TEXT("error", away->text));
}

void
publishers_away(const struct publishers *publishers, struct buf *text)
{
    char since[MOMENT_BYTES];
    for (const struct publisher *p = publishers->first; p != NULL; p = p->next) {
        if (p->trouble == BROKER_SILENT)
            continue;
        const owed_receiver *declared = &p->receiver->declared;
        buf_printf(text, "%s%s of receiver %s since %s: %s", text->len > 0 ? "; " : "",
            declared->publish, declared->key, moment_write(p->trouble_since_us, since),
            p->trouble_text);
    }
}

/* note_away finds out of what came together how long whom is left alone. */
static void
note_away(struct publishers *publishers, const struct posting *ended)
{
    int64_t now_us = clock_monotonic_us(&clock_system);
    for (struct publisher *p = publishers->first; p != NULL; p = p->next) {
        const struct broker_message *away = NULL;
        bool some_here = false;
        for (const struct posting *e = ended; e != NULL; e = e->next) {
            if (e->publisher != p)
                continue;
            away = is_away(&e->message) ? &e->message : away;
            some_here = some_here || !is_away(&e->message);
        }
        if (some_here)
            p->away_seconds = 0;
        if (away != NULL)
            stay_away(p, now_us);
        if (away != NULL || some_here)
            say_trouble(p, away);
    }
}

void
publishers_step(struct publishers *publishers)
{
    if (publishers->first == NULL)
        return;
    pthread_mutex_lock(&publishers->lock);
    struct posting *reversed = publishers->ended;
    publishers->ended = NULL;
    eventfd_t count;
    if (reversed != NULL)
        eventfd_read(publishers->ended_fd, &count);
    pthread_mutex_unlock(&publishers->lock);
    struct posting *ended = NULL;
    while (reversed != NULL) {
        struct posting *next = reversed->next;
        reversed->next = ended;
        ended = reversed;
        reversed = next;
    }
    if (ended != NULL)
        note_away(publishers, ended);
    while (ended != NULL) {
        struct posting *next = ended->next;
        land(publishers, ended);
        ended = next;
    }
}

/* unqueue takes one out of the queue; false: it is not there. The lock is held. */
static bool
unqueue(struct publisher *publisher, const struct posting *posting)
{
    struct posting **link = &publisher->queued;
    while (*link != NULL && *link != posting)
        link = &(*link)->next;
    if (*link == NULL)
        return false;
    *link = posting->next;
    if (*link == NULL)
        publisher->queued_end = link;
    return true;
}

static bool
drop_ended(struct publishers *publishers, const struct posting *posting)
{
    struct posting **link = &publishers->ended;
    while (*link != NULL && *link != posting)
        link = &(*link)->next;
    if (*link == NULL)
        return false;
    *link = posting->next;
    return true;
}

void
publishers_abandon(struct publishers *publishers, struct flight *flight)
{
    struct posting *posting = flight->builtin;
    struct publisher *publisher = posting->publisher;
    pthread_mutex_lock(&publishers->lock);
    if (!unqueue(publisher, posting)) {
        while (!drop_ended(publishers, posting))
            pthread_cond_wait(&publisher->answered, &publishers->lock);
    }
    pthread_mutex_unlock(&publishers->lock);
    flight->builtin = NULL;
    publisher->count--;
    free(posting);
}

struct flight *
publishers_recall(struct publishers *publishers)
{
    struct flight *first = NULL;
    struct flight **end = &first;
    for (struct publisher *p = publishers->first; p != NULL; p = p->next) {
        pthread_mutex_lock(&publishers->lock);
        struct posting *queued = p->queued;
        p->queued = NULL;
        p->queued_end = &p->queued;
        pthread_mutex_unlock(&publishers->lock);
        while (queued != NULL) {
            struct posting *next = queued->next;
            *end = queued->flight;
            queued->flight->builtin = NULL;
            queued->flight->next = NULL;
            end = &queued->flight->next;
            p->count--;
            free(queued);
            queued = next;
        }
    }
    return first;
}

static void
free_postings(struct posting *posting)
{
    while (posting != NULL) {
        struct posting *next = posting->next;
        free(posting);
        posting = next;
    }
}

void
publishers_close(struct publishers *publishers)
{
    if (!publishers->is_open)
        return;
    pthread_mutex_lock(&publishers->lock);
    for (struct publisher *p = publishers->first; p != NULL; p = p->next) {
        p->is_over = true;
        pthread_cond_signal(&p->stirred);
    }
    pthread_mutex_unlock(&publishers->lock);
    while (publishers->first != NULL) {
        struct publisher *publisher = publishers->first;
        publishers->first = publisher->next;
        if (publisher->is_started)
            pthread_join(publisher->thread, NULL);
        free_postings(publisher->queued);
        free_publisher(publisher);
    }
    free_postings(publishers->ended);
    close(publishers->ended_fd);
    pthread_mutex_destroy(&publishers->lock);
    publishers->is_open = false;
}
