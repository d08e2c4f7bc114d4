/* SPDX-License-Identifier: MIT
 *
 * task_queue.c - a task queue's words, and its two connections.
 */
#include "receive/task_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/secret_file.h"

#define TIMEOUT_US (5 * US_PER_SECOND)
#define TOPIC_BYTES 200
#define TEXT_BYTES ((size_t)8 * BROKER_TASK_BYTES)

static bool
is_plain(const char *topic)
{
    for (const unsigned char *p = (const unsigned char *)topic; *p != '\0'; p++)
        if (*p <= ' ' || *p > '~')
            return false;
    return true;
}

static owed_status
check_topic(const owed_task_queue *queue, owed_error *err)
{
    const char *topic = queue->topic;
    if (topic[0] == '\0' || strlen(topic) > TOPIC_BYTES || !is_plain(topic))
        return fail(err, OWED_CONFIG,
            "the topic of a task queue has 1 to %d letters, digits and signs, and no blank; %s is right",
            TOPIC_BYTES, TASK_TOPIC);
    const struct broker_scheme *scheme = queue->url.scheme;
    const char *problem = scheme->topic_problem == NULL ? NULL : scheme->topic_problem(topic);
    if (problem != NULL)
        return fail(err, OWED_CONFIG, "the task queue's topic \"%s\" %s", topic, problem);
    return OWED_OK;
}

static owed_status
check_files(const owed_task_queue *queue, const char **ret_word, owed_error *err)
{
    *ret_word = "task-ca-file";
    const struct broker_scheme *scheme = queue->url.scheme;
    if (queue->files.ca != NULL && !scheme->is_secure)
        return fail(err, OWED_CONFIG,
            "the task queue's %s:// goes without TLS, so a ca-file has no use; amqps:// or tls:// is what "
            "it goes with",
            scheme->scheme);
    *ret_word = "task-credentials-file";
    if (queue->files.credentials != NULL && !scheme->has_credentials)
        return fail(err, OWED_CONFIG,
            "the task queue's %s:// knows no credentials-file, which is of NATS; a password-file is right "
            "there",
            scheme->scheme);
    if (queue->files.credentials != NULL && queue->files.password != NULL)
        return fail(err, OWED_CONFIG,
            "of a task queue both a credentials-file and a password-file prove who it is; one of them is "
            "right");
    return OWED_OK;
}

/* keep copies a text of the caller's; NULL stays NULL. */
static bool
keep(owed_task_queue *queue, const char *text, const char **ret_copy)
{
    *ret_copy = text == NULL ? NULL : arena_strdup(&queue->arena, text);
    return text == NULL || *ret_copy != NULL;
}

static owed_status
read_words(owed_task_queue *queue, const char *url, const owed_task_queue_settings *settings,
    const char **ret_word, owed_error *err)
{
    owed_error why = {0};
    *ret_word = "task-queue";
    owed_status status =
        broker_url_read(or_empty(url), BROKER_HAS_TASKS, &queue->arena, &queue->url, &why);
    if (status != OWED_OK)
        return fail(err, status, "the URL of the task queue %s", why.text);
    if (queue->url.scheme->taker == NULL)
        return fail(err, OWED_CONFIG,
            "%s:// is no task queue: that broker keeps a log, and hands no message to one worker alone; "
            "redis://, amqp:// or nats:// is right",
            queue->url.scheme->scheme);
    queue->timeout_us = settings->timeout_us > 0 ? settings->timeout_us : TIMEOUT_US;
    const char *topic = settings->topic == NULL ? TASK_TOPIC : settings->topic;
    if (!keep(queue, url, &queue->shown) || !keep(queue, topic, &queue->topic) ||
        !keep(queue, settings->password_file, &queue->files.password) ||
        !keep(queue, settings->ca_file, &queue->files.ca) ||
        !keep(queue, settings->credentials_file, &queue->files.credentials))
        return fail_memory(err);
    *ret_word = "task-topic";
    status = check_topic(queue, err);
    return status == OWED_OK ? check_files(queue, ret_word, err) : status;
}

owed_status
task_queue_open(const char *url, const owed_task_queue_settings *settings, const char **ret_word,
    owed_task_queue **ret_queue, owed_error *err)
{
    static const owed_task_queue_settings none = {0};
    owed_task_queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return fail_memory(err);
    arena_init(&queue->arena, 0);
    buf_init(&queue->text, TEXT_BYTES);
    owed_status status = read_words(queue, url, settings == NULL ? &none : settings, ret_word, err);
    if (status != OWED_OK)
        owed_task_queue_close(queue);
    else
        *ret_queue = queue;
    return status;
}

owed_status
owed_task_queue_open(const char *url, const owed_task_queue_settings *settings,
    owed_task_queue **ret_queue, owed_error *err)
{
    const char *word = NULL;
    return task_queue_open(url, settings, &word, ret_queue, err);
}

void
owed_task_queue_close(owed_task_queue *queue)
{
    if (queue == NULL)
        return;
    task_queue_disconnect(queue);
    task_queue_disconnect_taker(queue);
    buf_done(&queue->text);
    arena_done(&queue->arena);
    free(queue);
}

owed_task_backend
owed_task_queue_backend(owed_task_queue *queue)
{
    return (owed_task_backend){
        .enqueue = task_queue_enqueue, .state = queue, .enqueue_many = task_queue_enqueue_many};
}

bool
task_queue_is_fed(const owed_task_queue *queue, const struct receiver *receiver)
{
    const owed_receiver *declared = &receiver->declared;
    const char *event = receiver->any_event ? "" : receiver->type->name;
    const char *topic = declared->topic == NULL ? event : declared->topic;
    // An exchange knows by itself which queues it feeds.
    if (declared->publish == NULL || declared->exchange != NULL || strcmp(topic, queue->topic) != 0)
        return false;
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct broker_url url;
    owed_error err;
    return broker_url_read(declared->publish, BROKER_HAS_FEEDS, &arena, &url, &err) == OWED_OK &&
        broker_url_is_same(&url, &queue->url);
}

/* --- connections --- */

owed_status
task_queue_find(owed_task_queue *queue, owed_error *err)
{
    const struct broker_scheme *scheme = queue->url.scheme;
    const void *kind = queue->kind;
    const void *taker_kind = queue->taker_kind;
    owed_status status = kind == NULL ? broker_find(scheme, scheme->symbol, &kind, err) : OWED_OK;
    if (status == OWED_OK && taker_kind == NULL)
        status = broker_find(scheme, scheme->taker, &taker_kind, err);
    queue->kind = kind;
    queue->taker_kind = taker_kind;
    return status;
}

owed_status
task_queue_connect(owed_task_queue *queue, owed_error *err)
{
    if (queue->connection != NULL)
        return OWED_OK;
    struct broker_place place = {.timeout_us = queue->timeout_us};
    char *password = NULL;
    owed_status status = task_queue_find(queue, err);
    if (status == OWED_OK)
        status = broker_place(&queue->url, &queue->files, &place, &password, err);
    if (status == OWED_OK)
        status = queue->kind->open(&place, &queue->connection, err);
    secret_free(password);
    if (status != OWED_OK)
        return status;
    status = queue->taker_kind->make(queue->connection, queue->topic, err);
    if (status != OWED_OK)
        task_queue_disconnect(queue);
    return status;
}

owed_status
task_queue_connect_taker(owed_task_queue *queue, owed_error *err)
{
    if (queue->taker != NULL)
        return OWED_OK;
    struct broker_place place = {.timeout_us = queue->timeout_us};
    char *password = NULL;
    owed_status status = task_queue_find(queue, err);
    if (status == OWED_OK)
        status = broker_place(&queue->url, &queue->files, &place, &password, err);
    if (status == OWED_OK)
        status = queue->taker_kind->open(&place, queue->topic, &queue->taker, err);
    secret_free(password);
    return status;
}

owed_status
task_queue_fail(const owed_task_queue *queue, owed_status status, const char *why, owed_error *err)
{
    return fail(err, status, "%s, topic %s: %s", queue->shown, queue->topic, why);
}

void
task_queue_disconnect(owed_task_queue *queue)
{
    if (queue->connection != NULL)
        queue->kind->close(queue->connection);
    queue->connection = NULL;
}

void
task_queue_disconnect_taker(owed_task_queue *queue)
{
    if (queue->taker != NULL)
        queue->taker_kind->close(queue->taker);
    queue->taker = NULL;
}
