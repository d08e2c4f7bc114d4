/* SPDX-License-Identifier: MIT
 *
 * outbox_speed.c - the outbox in memory beside a bare queue under one mutex, in turn.
 *
 * usage: outbox_speed THREADS TICKETS
 *
 * So many threads enqueue so many tickets in all, and then as many drain them through a channel that does
 * nothing. A line "owed ENQUEUED DRAINED" and one "bare ENQUEUED DRAINED", each in tickets a second; an item
 * of the bare queue is a copy of the context's bytes.
 */
#include <owed/outbox.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS_MAX 64

/* What a queue can do; both are driven the same. */
struct queue {
    void (*put)(struct queue *queue);
    void (*take_all)(struct queue *queue);
    void *state;
};

/* --- ours --- */

struct ours {
    owed_dispatcher *dispatcher;
    owed_outbox *outbox;
    owed_template *tmpl;
};

static const owed_recipient recipient = {.phone = "+49151000000"};
static const owed_value context[] = {
    OWED_VALUE_TEXT("order_id", "A-1042"), OWED_VALUE_INT64("items", 3), OWED_VALUES_END};

static void
need(owed_status status, const owed_error *err)
{
    if (status == OWED_OK)
        return;
    fprintf(stderr, "outbox_speed: %s\n", err->text);
    exit(70);
}

static void
send_nothing(const owed_channel *channel, const owed_message *message, owed_answer *answer)
{
    (void)channel;
    (void)message;
    answer->verdict = OWED_ANSWER_SENT;
}

static void
put_ticket(struct queue *queue)
{
    const struct ours *ours = queue->state;
    owed_error err;
    need(
        owed_outbox_enqueue(ours->outbox, &recipient, ours->tmpl, context, NULL, NULL, &err), &err);
}

static void
drain_tickets(struct queue *queue)
{
    const struct ours *ours = queue->state;
    owed_error err;
    need(owed_outbox_drain(ours->outbox, OWED_DRAIN_ALL, NULL, &err), &err);
}

static void
ours_open(struct ours *ours)
{
    static const owed_variable variables[] = {
        {"order_id", OWED_KIND_TEXT}, {"items", OWED_KIND_INT64}, {NULL, OWED_KIND_TEXT}};
    const owed_template_source source = {
        .name = "bench", .variables = variables, .text = "Order {order_id}: {items} items"};
    const owed_channel channel = {.name = "sms", .send = send_nothing};
    owed_error err;
    need(owed_template_new(&source, &ours->tmpl, &err), &err);
    need(owed_dispatcher_new(NULL, &ours->dispatcher, &err), &err);
    need(owed_dispatcher_add(ours->dispatcher, &channel, &err), &err);
    need(owed_outbox_new(ours->dispatcher, NULL, &ours->outbox, &err), &err);
}

static void
ours_close(struct ours *ours)
{
    owed_outbox_free(ours->outbox);
    owed_dispatcher_free(ours->dispatcher);
    owed_template_free(ours->tmpl);
}

/* --- bare --- */

struct item {
    struct item *next;
    char bytes[64];
};

struct bare {
    pthread_mutex_t lock;
    struct item *first;
    struct item **last;
    void (*volatile handle)(const struct item *item);
};

static void
handle_nothing(const struct item *item)
{
    (void)item;
}

static void
put_item(struct queue *queue)
{
    struct bare *bare = queue->state;
    struct item *item = malloc(sizeof *item);
    if (item == NULL)
        exit(70);
    item->next = NULL;
    memset(item->bytes, 'x', sizeof item->bytes);
    pthread_mutex_lock(&bare->lock);
    *bare->last = item;
    bare->last = &item->next;
    pthread_mutex_unlock(&bare->lock);
}

static struct item *
pop_item(struct bare *bare)
{
    pthread_mutex_lock(&bare->lock);
    struct item *item = bare->first;
    if (item != NULL) {
        bare->first = item->next;
        if (bare->first == NULL)
            bare->last = &bare->first;
    }
    pthread_mutex_unlock(&bare->lock);
    return item;
}

static void
take_items(struct queue *queue)
{
    struct bare *bare = queue->state;
    for (struct item *item; (item = pop_item(bare)) != NULL; free(item))
        bare->handle(item);
}

/* --- both --- */

struct hand {
    pthread_t thread;
    pthread_barrier_t *start;
    struct queue *queue;
    long puts; // 0: takes all
};

static void *
work(void *state)
{
    const struct hand *hand = state;
    pthread_barrier_wait(hand->start);
    for (long i = 0; i < hand->puts; i++)
        hand->queue->put(hand->queue);
    if (hand->puts == 0)
        hand->queue->take_all(hand->queue);
    return NULL;
}

static double
now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* run answers how many a second: tickets in all, by so many threads that each put, or take what is there. */
static double
run(struct queue *queue, int threads, long tickets, long puts)
{
    struct hand hands[THREADS_MAX];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++) {
        hands[i] = (struct hand){.start = &start, .queue = queue, .puts = puts};
        if (pthread_create(&hands[i].thread, NULL, work, &hands[i]) != 0)
            exit(70);
    }
    double from_s = now_s();
    pthread_barrier_wait(&start);
    for (int i = 0; i < threads; i++)
        pthread_join(hands[i].thread, NULL);
    double took_s = now_s() - from_s;
    pthread_barrier_destroy(&start);
    return (double)tickets / took_s;
}

static void
measure(const char *name, struct queue *queue, int threads, long each)
{
    long tickets = each * threads;
    double put = run(queue, threads, tickets, each);
    double taken = run(queue, threads, tickets, 0);
    printf("%s %.0f %.0f\n", name, put, taken);
}

int
main(int argc, char **argv)
{
    int threads = argc == 3 ? (int)strtol(argv[1], NULL, 10) : 0;
    long tickets = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    if (threads < 1 || threads > THREADS_MAX || tickets < threads) {
        fprintf(stderr, "usage: outbox_speed THREADS TICKETS\n");
        return 64;
    }
    struct ours ours;
    struct bare bare = {.lock = PTHREAD_MUTEX_INITIALIZER, .handle = handle_nothing};
    bare.last = &bare.first;
    ours_open(&ours);
    measure("owed", &(struct queue){put_ticket, drain_tickets, &ours}, threads, tickets / threads);
    measure("bare", &(struct queue){put_item, take_items, &bare}, threads, tickets / threads);
    size_t left = owed_outbox_length(ours.outbox);
    ours_close(&ours);
    return left == 0 && bare.first == NULL ? 0 : 1;
}
