/* SPDX-License-Identifier: MIT
 *
 * kafka.c - records of an idempotent producer, a batch in flight, each acknowledged by all replicas in sync.
 *
 * Within one connection the broker drops what the client library sends again by itself; what we send again on a new one
 * is told by its key.
 */
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "receive/broker.h"

#define SERVERS_BYTES 512
#define NUMBER_BYTES 24
#define SETTINGS_MAX 12
#define SLICE_MS 100
#define LINGER_MS "2" // what is handed over at once goes in one request
#define METADATA_BYTES 512
#define TOPIC_BYTES 256
#define TOPICS 16
#define RECORD_BYTES_MAX "1000000000" // the broker's own limit is the one that counts
#define QUEUE_KB_MAX "2147483647"     // nothing is copied, so it holds no memory

struct kafka {
    rd_kafka_t *producer;
    int64_t timeout_ms;
    size_t silent;
    size_t together;                  // so many were handed over at once
    char topics[TOPICS][TOPIC_BYTES]; // the last ones that were found to be there
    size_t next_topic;
    bool is_down;    // it said that no broker can be reached
    bool is_refused; // or that who comes is not let in
    char down[METADATA_BYTES];
};

struct setting {
    const char *name;
    const char *value;
};

/* What each answer means that is no plain failure. */
static const struct {
    rd_kafka_resp_err_t code;
    enum broker_answer answer;
} meanings[] = {
    {RD_KAFKA_RESP_ERR_NO_ERROR, BROKER_ACKED},
    {RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, BROKER_AWAY},
    {RD_KAFKA_RESP_ERR__TIMED_OUT, BROKER_AWAY},
    {RD_KAFKA_RESP_ERR__TRANSPORT, BROKER_AWAY},
    {RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, BROKER_AWAY},
    {RD_KAFKA_RESP_ERR__PURGE_QUEUE, BROKER_AWAY},
    {RD_KAFKA_RESP_ERR__PURGE_INFLIGHT, BROKER_AWAY},
    {RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, BROKER_AWAY},
    {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, BROKER_AWAY},
    {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND, BROKER_AWAY},
    {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, BROKER_REFUSED},
};
#define MEANINGS (sizeof meanings / sizeof meanings[0])

/* is_fatal: the library gives up for good, which also throws out what waits; text says why. */
static bool
is_fatal(const struct kafka *kafka, rd_kafka_resp_err_t code, char *text, size_t size)
{
    bool is_left = code == RD_KAFKA_RESP_ERR__FATAL || code == RD_KAFKA_RESP_ERR__PURGE_QUEUE ||
        code == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT;
    return is_left &&
        rd_kafka_fatal_error(kafka->producer, text, size) != RD_KAFKA_RESP_ERR_NO_ERROR;
}

static void
take(const struct kafka *kafka, struct broker_message *message, rd_kafka_resp_err_t code)
{
    char fatal[BROKER_TEXT_BYTES / 2] = "";
    if (is_fatal(kafka, code, fatal, sizeof fatal))
        code = RD_KAFKA_RESP_ERR__FATAL;
    message->answer = BROKER_FAILED;
    for (size_t i = 0; i < MEANINGS; i++)
        if (meanings[i].code == code)
            message->answer = meanings[i].answer;
    snprintf(message->text, sizeof message->text, "topic %s: %s", message->topic,
        fatal[0] != '\0' ? fatal : rd_kafka_err2str(code));
}

/* --- what the library calls, from rd_kafka_poll alone --- */

static void
on_delivered(rd_kafka_t *producer, const rd_kafka_message_t *record, void *state)
{
    (void)producer;
    struct kafka *kafka = state;
    // A whole request is too large: each of its records goes alone.
    bool is_one_of_many =
        record->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE && kafka->together > 1;
    if (!is_one_of_many)
        take(kafka, record->_private, record->err);
    kafka->silent--;
}

static void
on_error(rd_kafka_t *producer, int code, const char *text, void *state)
{
    (void)producer;
    struct kafka *kafka = state;
    bool is_down = code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN;
    kafka->is_down = kafka->is_down || is_down;
    kafka->is_refused = kafka->is_refused || code == RD_KAFKA_RESP_ERR__AUTHENTICATION;
    // What was said before tells more than that all are down.
    if (!is_down || kafka->down[0] == '\0')
        snprintf(kafka->down, sizeof kafka->down, "%s", text);
}

/* Without one the library would write to the standard error. */
static void
ignore_log(const rd_kafka_t *producer, int level, const char *facility, const char *text)
{
    (void)producer;
    (void)level;
    (void)facility;
    (void)text;
}

/* --- opening --- */

static owed_status
make_producer(struct kafka *kafka, const struct setting *settings, size_t count, owed_error *err)
{
    char why[METADATA_BYTES] = "";
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    for (size_t i = 0; i < count; i++)
        if (rd_kafka_conf_set(conf, settings[i].name, settings[i].value, NULL, 0) !=
            RD_KAFKA_CONF_OK) {
            rd_kafka_conf_destroy(conf);
            return fail(
                err, OWED_CONFIG, "the client library does not take its %s", settings[i].name);
        }
    rd_kafka_conf_set_opaque(conf, kafka);
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivered);
    rd_kafka_conf_set_error_cb(conf, on_error);
    rd_kafka_conf_set_log_cb(conf, ignore_log);
    kafka->producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
    if (kafka->producer != NULL)
        return OWED_OK;
    rd_kafka_conf_destroy(conf);
    return fail(err, OWED_UNAVAILABLE, "no producer can be made: %s", why);
}

static owed_status
configure(struct kafka *kafka, const struct broker_place *place, owed_error *err)
{
    char servers[SERVERS_BYTES];
    char timeout[NUMBER_BYTES];
    bool is_ipv6 = strchr(place->host, ':') != NULL;
    snprintf(servers, sizeof servers, is_ipv6 ? "[%s]:%d" : "%s:%d", place->host, place->port);
    snprintf(timeout, sizeof timeout, "%d", (int)kafka->timeout_ms);
    bool has_user = place->user[0] != '\0';
    const char *plain = has_user ? "sasl_plaintext" : "plaintext";
    const char *secure = has_user ? "sasl_ssl" : "ssl";
    struct setting settings[SETTINGS_MAX] = {
        {"bootstrap.servers", servers},
        {"client.id", "owed"},
        {"enable.idempotence", "true"},
        {"linger.ms", LINGER_MS},
        {"message.max.bytes", RECORD_BYTES_MAX},
        {"queue.buffering.max.kbytes", QUEUE_KB_MAX},
        {"message.timeout.ms", timeout},
        {"security.protocol", place->is_secure ? secure : plain},
    };
    size_t count = 8;
    if (place->ca_file != NULL)
        settings[count++] = (struct setting){"ssl.ca.location", place->ca_file};
    if (has_user) {
        settings[count++] = (struct setting){"sasl.mechanisms", "PLAIN"};
        settings[count++] = (struct setting){"sasl.username", place->user};
        settings[count++] = (struct setting){"sasl.password", place->password};
    }
    return make_producer(kafka, settings, count, err);
}

/* look waits until a broker answers: the library itself would go on trying, and say nothing. */
static owed_status
look(struct kafka *kafka, const char *user, owed_error *err)
{
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__TIMED_OUT;
    for (int64_t ms = 0;
         ms < kafka->timeout_ms && code != RD_KAFKA_RESP_ERR_NO_ERROR && !kafka->is_down;
         ms += SLICE_MS) {
        const struct rd_kafka_metadata *metadata = NULL;
        code = rd_kafka_metadata(kafka->producer, 0, NULL, &metadata, SLICE_MS);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
            rd_kafka_metadata_destroy(metadata);
        rd_kafka_poll(kafka->producer, 0);
    }
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
        return OWED_OK;
    const char *why = kafka->down[0] != '\0' ? kafka->down : rd_kafka_err2str(code);
    if (kafka->is_refused)
        return fail(err, OWED_STORE, "user %s or its password is refused: %s", user, why);
    return fail(err, OWED_UNAVAILABLE, "it cannot be reached: %s", why);
}

static void
kafka_close(void *connection)
{
    struct kafka *kafka = connection;
    if (kafka->producer != NULL)
        rd_kafka_destroy(kafka->producer);
    free(kafka);
}

static owed_status
kafka_open(const struct broker_place *place, void **ret_connection, owed_error *err)
{
    struct kafka *kafka = calloc(1, sizeof *kafka);
    if (kafka == NULL)
        return fail_memory(err);
    kafka->timeout_ms = place->timeout_us < 1000 ? 1 : place->timeout_us / 1000;
    kafka->timeout_ms = kafka->timeout_ms > INT32_MAX ? INT32_MAX : kafka->timeout_ms;
    owed_status status = configure(kafka, place, err);
    if (status == OWED_OK)
        status = look(kafka, place->user, err);
    if (status == OWED_OK)
        *ret_connection = kafka;
    else
        kafka_close(kafka);
    return status;
}

/* --- sending --- */

static rd_kafka_headers_t *
headers_of(const struct broker_message *message)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(message->field_count + 1);
    rd_kafka_header_add(headers, "id", -1, message->id, -1);
    for (size_t i = 0; i < message->field_count; i++)
        rd_kafka_header_add(headers, message->fields[i].name, -1, message->fields[i].value, -1);
    return headers;
}

/* ask_topic asks what the broker has against a topic. */
static rd_kafka_resp_err_t
ask_topic(struct kafka *kafka, const char *topic)
{
    rd_kafka_topic_t *handle = rd_kafka_topic_new(kafka->producer, topic, NULL);
    const struct rd_kafka_metadata *metadata = NULL;
    if (handle == NULL)
        return rd_kafka_last_error();
    rd_kafka_resp_err_t code =
        rd_kafka_metadata(kafka->producer, 0, handle, &metadata, (int)kafka->timeout_ms);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        code =
            metadata->topic_cnt == 1 ? metadata->topics[0].err : RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
        rd_kafka_metadata_destroy(metadata);
    }
    rd_kafka_topic_destroy(handle);
    return code;
}

/* has_topic asks once: the library would hold records of a topic that is not there until their time is over. */
static bool
has_topic(struct kafka *kafka, struct broker_message *message)
{
    for (size_t i = 0; i < TOPICS; i++)
        if (strcmp(kafka->topics[i], message->topic) == 0)
            return true;
    rd_kafka_resp_err_t code = ask_topic(kafka, message->topic);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        take(kafka, message, code);
        return false;
    }
    snprintf(kafka->topics[kafka->next_topic], TOPIC_BYTES, "%s", message->topic);
    kafka->next_topic = (kafka->next_topic + 1) % TOPICS;
    return true;
}

static void
produce(struct kafka *kafka, struct broker_message *message)
{
    rd_kafka_headers_t *headers = headers_of(message);
    rd_kafka_resp_err_t code = rd_kafka_producev(kafka->producer, RD_KAFKA_V_TOPIC(message->topic),
        RD_KAFKA_V_KEY((void *)(uintptr_t)message->id, strlen(message->id)),
        RD_KAFKA_V_VALUE((void *)(uintptr_t)message->payload.p, message->payload.len),
        RD_KAFKA_V_TIMESTAMP(message->occurred_at_us / 1000), RD_KAFKA_V_HEADERS(headers),
        RD_KAFKA_V_MSGFLAGS(0), RD_KAFKA_V_OPAQUE(message), RD_KAFKA_V_END);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        kafka->silent++;
        return;
    }
    rd_kafka_headers_destroy(headers);
    take(kafka, message, code);
}

static void
wait_for_all(struct kafka *kafka)
{
    while (kafka->silent > 0)
        rd_kafka_poll(kafka->producer, SLICE_MS);
}

/* send_together; false: the broker is away, and what was not handed over stays silent. */
static bool
send_together(struct kafka *kafka, struct broker_message *messages)
{
    bool is_there = true;
    kafka->together = 0;
    for (struct broker_message *m = messages; m != NULL && is_there; m = m->next) {
        if (has_topic(kafka, m)) {
            produce(kafka, m);
            kafka->together++;
        }
        is_there = m->answer != BROKER_AWAY;
    }
    wait_for_all(kafka);
    return is_there;
}

static void
send_alone(struct kafka *kafka, struct broker_message *messages)
{
    kafka->together = 1;
    for (struct broker_message *m = messages; m != NULL; m = m->next) {
        if (m->answer == BROKER_SILENT)
            produce(kafka, m);
        wait_for_all(kafka);
        if (m->answer == BROKER_AWAY)
            return;
    }
}

/* kafka_send: each record is answered within the time limit, by the library where by no broker; its connection
 * is at its end then, so that none of them is sent by it later. */
static bool
kafka_send(void *connection, struct broker_message *messages, owed_error *err)
{
    struct kafka *kafka = connection;
    bool is_there = send_together(kafka, messages);
    if (is_there)
        send_alone(kafka, messages);
    bool is_broken =
        !is_there || rd_kafka_fatal_error(kafka->producer, NULL, 0) != RD_KAFKA_RESP_ERR_NO_ERROR;
    for (const struct broker_message *m = messages; m != NULL; m = m->next)
        is_broken = is_broken || m->answer == BROKER_AWAY;
    if (is_broken)
        fail(err, OWED_UNAVAILABLE, "it has not answered");
    return !is_broken;
}

OWED_API extern const struct broker_kind broker_kafka;
const struct broker_kind broker_kafka = {kafka_open, kafka_send, kafka_close};
