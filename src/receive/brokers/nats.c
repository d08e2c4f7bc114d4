/* SPDX-License-Identifier: MIT
 *
 * nats.c - messages for streams of NATS JetStream, a batch in flight, each acknowledged by the stream that has it.
 *
 * Each message asks for its answer under a number of its own, so answers may come in any order, late or
 * twice. A stream drops what comes again with the same Nats-Msg-Id within its duplicate window. A subject that no stream
 * takes is told at once, as one without responders.
 */
#include <inttypes.h>
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "receive/brokers/nats.h"

#define SLICE_MS INT64_C(100) // between looks for what it says about no one message
#define INBOX_BYTES 64
#define NUMBER_DIGITS 20
#define REQUEST_BYTES 1024
#define JSON_DEPTH 16
#define ASK_STREAMS "$JS.API.STREAM.NAMES"
#define STATUS_UNAVAILABLE 503

struct nats {
    natsConnection *connection;
    natsSubscription *answers;
    char inbox[INBOX_BYTES];
    int64_t timeout_ms; // of any one wait
    uint64_t last_number;
    struct broker_message *batch; // its first message has the number first_number
    uint64_t first_number;
    struct broker_message unclaimed; // what was found out about the last subject without a stream
};

/* --- opening --- */

static owed_status
listen_for_answers(struct nats *nats, owed_error *err)
{
    natsInbox *inbox = NULL;
    char all[INBOX_BYTES + 2];
    natsStatus status = natsInbox_Create(&inbox);
    if (status == NATS_OK) {
        snprintf(nats->inbox, sizeof nats->inbox, "%s", (const char *)inbox);
        snprintf(all, sizeof all, "%s.*", nats->inbox);
        status = natsConnection_SubscribeSync(&nats->answers, nats->connection, all);
    }
    natsInbox_Destroy(inbox);
    if (status != NATS_OK)
        return fail(err, OWED_UNAVAILABLE, "it cannot be asked for answers: %s",
            nats_reason(status, nats->connection));
    return OWED_OK;
}

natsConnection *
nats_connection_of(const void *opened, int64_t *ret_timeout_ms)
{
    const struct nats *nats = opened;
    *ret_timeout_ms = nats->timeout_ms;
    return nats->connection;
}

static void
nats_close(void *connection)
{
    struct nats *nats = connection;
    natsSubscription_Destroy(nats->answers);
    natsConnection_Destroy(nats->connection);
    free(nats);
}

static owed_status
nats_open(const struct broker_place *place, void **ret_connection, owed_error *err)
{
    struct nats *nats = calloc(1, sizeof *nats);
    if (nats == NULL)
        return fail_memory(err);
    nats->timeout_ms = place->timeout_us < 1000 ? 1 : place->timeout_us / 1000;
    owed_status status = nats_connect(place, &nats->connection, err);
    if (status == OWED_OK)
        status = listen_for_answers(nats, err);
    if (status == OWED_OK)
        *ret_connection = nats;
    else
        nats_close(nats);
    return status;
}

/* --- sending --- */

static natsStatus
add_headers(natsMsg *copy, const struct broker_message *message)
{
    natsStatus status = natsMsgHeader_Set(copy, "Nats-Msg-Id", message->id);
    for (size_t i = 0; i < message->field_count && status == NATS_OK; i++)
        status = natsMsgHeader_Set(copy, message->fields[i].name, message->fields[i].value);
    return status;
}

/* publish hands one over; false: the connection is at its end. */
static bool
publish(struct nats *nats, struct broker_message *message, owed_error *err)
{
    char reply[INBOX_BYTES + 1 + NUMBER_DIGITS + 1];
    natsMsg *copy = NULL;
    snprintf(reply, sizeof reply, "%s.%" PRIu64, nats->inbox, ++nats->last_number);
    natsStatus status =
        natsMsg_Create(&copy, message->topic, reply, message->payload.p, (int)message->payload.len);
    if (status == NATS_OK)
        status = add_headers(copy, message);
    if (status == NATS_OK)
        status = natsConnection_PublishMsg(nats->connection, copy);
    natsMsg_Destroy(copy);
    if (status == NATS_OK)
        return true;
    if (status == NATS_MAX_PAYLOAD) {
        message->answer = BROKER_REFUSED;
        snprintf(message->text, sizeof message->text,
            "%zu bytes and the facts are more than it takes: its max_payload is %" PRId64,
            message->payload.len, natsConnection_GetMaxPayload(nats->connection));
        return true;
    }
    fail(err, OWED_UNAVAILABLE, "it takes nothing: %s", nats_reason(status, nats->connection));
    return false;
}

/* --- what it says of messages --- */

static void
answer(struct broker_message *message, enum broker_answer answer, const char *text)
{
    message->answer = answer;
    snprintf(message->text, sizeof message->text, "subject %s: %s", message->topic, text);
}

static bool
json_of(const natsMsg *msg, struct json *ret_root)
{
    owed_error err;
    struct str text = {natsMsg_GetData(msg), (size_t)natsMsg_GetDataLength(msg)};
    if (text.len == 0 || json_check(text, JSON_DEPTH, &err) != OWED_OK)
        return false;
    *ret_root = json_root(text);
    return ret_root->type == JSON_OBJECT;
}

/* ask_streams asks which streams take a subject; the caller destroys the reply. */
static natsStatus
ask_streams(const struct nats *nats, const char *subject, natsMsg **ret_reply)
{
    CLEANUP(buf_done) struct buf request;
    buf_init(&request, REQUEST_BYTES);
    buf_puts(&request, "{\"subject\":");
    json_write_string(&request, str_of(subject));
    buf_putc(&request, '}');
    if (request.failed)
        return NATS_NO_MEMORY;
    struct str text = buf_view(&request);
    return natsConnection_Request(
        ret_reply, nats->connection, ASK_STREAMS, text.p, (int)text.len, nats->timeout_ms);
}

/* judge finds out what it means that nobody took a message: there is no such stream, or nobody leads it now. */
static void
judge(const struct nats *nats, struct broker_message *message)
{
    natsMsg *reply = NULL;
    natsStatus status = ask_streams(nats, message->topic, &reply);
    struct json root;
    struct json streams = {.type = JSON_NULL};
    struct json first;
    bool is_answer =
        status == NATS_OK && json_of(reply, &root) && !json_member(root, "error", &first);
    if (is_answer)
        json_member(root, "streams", &streams);
    struct json_walk walk = json_walk(streams);
    if (status == NATS_NO_RESPONDERS)
        answer(message, BROKER_AWAY, "JetStream is not enabled there, or not ready");
    else if (!is_answer)
        answer(message, BROKER_AWAY, "no stream has taken it, and which one would is not told");
    else if (streams.type == JSON_ARRAY && json_next(&walk, NULL, &first))
        answer(message, BROKER_AWAY, "its stream takes nothing at the moment");
    else
        answer(message, BROKER_FAILED, "no stream takes it; one with that subject is needed");
    natsMsg_Destroy(reply);
}

/* judge_once asks once for all that go to the same subject. */
static void
judge_once(struct nats *nats, struct broker_message *message)
{
    const struct broker_message *known = &nats->unclaimed;
    if (known->topic == NULL || strcmp(known->topic, message->topic) != 0) {
        judge(nats, message);
        nats->unclaimed = *message;
        return;
    }
    message->answer = known->answer;
    memcpy(message->text, known->text, sizeof message->text);
}

/* take_error: {"code":503,"err_code":10077,"description":"maximum messages exceeded"}. */
static void
take_error(struct broker_message *message, struct json error)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    owed_error err;
    struct json member;
    struct str text = {0};
    int64_t code = 0;
    if (json_member(error, "code", &member))
        json_int64(member, &code);
    if (json_member(error, "description", &member) && member.type == JSON_STRING)
        json_read_string(member, &arena, &text, &err);
    answer(message, code == STATUS_UNAVAILABLE ? BROKER_AWAY : BROKER_FAILED,
        text.len == 0 ? "its stream gives no reason" : text.p);
}

static void
take(struct broker_message *message, const natsMsg *msg)
{
    struct json root;
    struct json member;
    if (!json_of(msg, &root))
        answer(message, BROKER_FAILED, "somebody answers who is no stream");
    else if (json_member(root, "error", &member))
        take_error(message, member);
    else if (json_member(root, "stream", &member) && json_member(root, "seq", &member))
        message->answer = BROKER_ACKED;
    else
        answer(message, BROKER_FAILED, "somebody answers who is no stream");
}

/* message_of finds what an answer is for; NULL: nothing that still waits for one. */
static struct broker_message *
message_of(const struct nats *nats, natsMsg *msg)
{
    const char *text = natsMsg_GetSubject(msg) + strlen(nats->inbox) + 1;
    uint64_t number = strtoull(text, NULL, 10);
    struct broker_message *message = nats->batch;
    for (uint64_t own = nats->first_number; message != NULL && own != number; own++)
        message = message->next;
    return message != NULL && message->answer == BROKER_SILENT ? message : NULL;
}

/* next_answer waits; NOT_PERMITTED: it said so, of no message in particular. */
static natsStatus
next_answer(const struct nats *nats, natsMsg **ret_msg)
{
    natsStatus status = NATS_TIMEOUT;
    for (int64_t ms = 0; ms < nats->timeout_ms && status == NATS_TIMEOUT; ms += SLICE_MS) {
        int64_t left_ms = nats->timeout_ms - ms;
        const char *text;
        status = natsSubscription_NextMsg(
            ret_msg, nats->answers, left_ms < SLICE_MS ? left_ms : SLICE_MS);
        if (status == NATS_TIMEOUT &&
            natsConnection_GetLastError(nats->connection, &text) == NATS_NOT_PERMITTED)
            status = NATS_NOT_PERMITTED;
    }
    return status;
}

/* note_forbidden answers for the messages whose subject is named in what was said. */
static void
note_forbidden(const struct nats *nats, const char *said)
{
    char quoted[REQUEST_BYTES];
    for (struct broker_message *m = nats->batch; m != NULL; m = m->next) {
        snprintf(quoted, sizeof quoted, "\"%s\"", m->topic);
        if (m->answer == BROKER_SILENT && strstr(said, quoted) != NULL)
            answer(m, BROKER_FAILED, said);
    }
}

/* take_answer; false: the connection is at its end. */
static bool
take_answer(struct nats *nats, size_t *silent, owed_error *err)
{
    natsMsg *msg = NULL;
    natsStatus status = next_answer(nats, &msg);
    if (status == NATS_NO_RESPONDERS) {
        // The library does not say of which: it is of those that are silent once all others have been answered.
        (*silent)--;
        return true;
    }
    if (status != NATS_OK) {
        const char *said = nats_reason(status, nats->connection);
        if (status == NATS_NOT_PERMITTED)
            note_forbidden(nats, said);
        fail(err, OWED_UNAVAILABLE, "it has not answered: %s", said);
        return false;
    }
    struct broker_message *message = message_of(nats, msg);
    if (message != NULL) {
        take(message, msg);
        (*silent)--;
    }
    natsMsg_Destroy(msg);
    return true;
}

static bool
nats_send(void *connection, struct broker_message *messages, owed_error *err)
{
    struct nats *nats = connection;
    size_t silent = 0;
    nats->batch = messages;
    nats->first_number = nats->last_number + 1;
    nats->unclaimed.topic = NULL;
    for (struct broker_message *m = messages; m != NULL; m = m->next) {
        if (!publish(nats, m, err))
            return false;
        silent += m->answer == BROKER_SILENT;
    }
    while (silent > 0)
        if (!take_answer(nats, &silent, err))
            return false;
    for (struct broker_message *m = messages; m != NULL; m = m->next)
        if (m->answer == BROKER_SILENT)
            judge_once(nats, m);
    return true;
}

OWED_API extern const struct broker_kind broker_nats;
const struct broker_kind broker_nats = {nats_open, nats_send, nats_close};
