/* SPDX-License-Identifier: MIT
 *
 * kafka_mock.c - librdkafka's mock cluster in a process of its own, told by lines what to do.
 *
 * It says its address, then an empty line at the end of each answer: topic NAME [PARTITIONS], fail NAME, refuse,
 * cut, forbid (to number records), down, up, and read NAME [PARTITIONS], which prints the records as key, value and
 * headers in hexadecimal.
 */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 512
#define WAIT_MS 10000
#define PRODUCE 0 // the keys of requests
#define INIT_PRODUCER_ID 22

static rd_kafka_t *
make(rd_kafka_type_t type, const char *servers)
{
    char why[LINE_BYTES];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", servers, why, sizeof why);
    if (type == RD_KAFKA_CONSUMER) {
        rd_kafka_conf_set(conf, "group.id", "reader", why, sizeof why);
        rd_kafka_conf_set(conf, "enable.partition.eof", "true", why, sizeof why);
        rd_kafka_conf_set(conf, "fetch.wait.max.ms", "10", why, sizeof why);
    }
    return rd_kafka_new(type, conf, why, sizeof why);
}

static void
print_hex(const void *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        printf("%02x", ((const unsigned char *)bytes)[i]);
    putchar(' ');
}

static void
print_record(const rd_kafka_message_t *record)
{
    rd_kafka_headers_t *headers = NULL;
    const char *name;
    const void *value;
    size_t len;
    print_hex(record->key, record->key_len);
    print_hex(record->payload, record->len);
    if (rd_kafka_message_headers(record, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR)
        for (size_t i = 0;
             rd_kafka_header_get_all(headers, i, &name, &value, &len) == RD_KAFKA_RESP_ERR_NO_ERROR;
             i++) {
            print_hex(name, strlen(name));
            print_hex(value, len);
        }
    putchar('\n');
}

static void
read_topic(const char *servers, const char *topic, int partitions)
{
    rd_kafka_t *consumer = make(RD_KAFKA_CONSUMER, servers);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
    for (int i = 0; i < partitions; i++)
        rd_kafka_topic_partition_list_add(list, topic, i)->offset = RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_assign(consumer, list);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_message_t *record;
    while (partitions > 0 && (record = rd_kafka_consumer_poll(consumer, WAIT_MS)) != NULL) {
        rd_kafka_resp_err_t err = record->err;
        if (err == RD_KAFKA_RESP_ERR_NO_ERROR)
            print_record(record);
        rd_kafka_message_destroy(record);
        if (err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
            partitions--;
    }
    rd_kafka_destroy(consumer);
}

static void
obey(rd_kafka_mock_cluster_t *cluster, const char *verb, const char *topic, int partitions)
{
    if (strcmp(verb, "topic") == 0)
        rd_kafka_mock_topic_create(cluster, topic, partitions, 1);
    else if (strcmp(verb, "fail") == 0)
        rd_kafka_mock_topic_set_error(cluster, topic, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
    else if (strcmp(verb, "refuse") == 0)
        rd_kafka_mock_push_request_errors(
            cluster, PRODUCE, 1, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
    else if (strcmp(verb, "cut") == 0)
        rd_kafka_mock_push_request_errors(cluster, PRODUCE, 1, RD_KAFKA_RESP_ERR__TRANSPORT);
    else if (strcmp(verb, "forbid") == 0)
        rd_kafka_mock_push_request_errors(
            cluster, INIT_PRODUCER_ID, 1, RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED);
    else if (strcmp(verb, "down") == 0)
        rd_kafka_mock_broker_set_down(cluster, 1);
    else if (strcmp(verb, "up") == 0)
        rd_kafka_mock_broker_set_up(cluster, 1);
    else if (strcmp(verb, "read") == 0)
        read_topic(rd_kafka_mock_cluster_bootstraps(cluster), topic, partitions);
}

/* next_word ends a word, and returns what follows. */
static char *
next_word(char *word)
{
    char *end = word + strcspn(word, " \n");
    if (*end != '\0')
        *end++ = '\0';
    return end;
}

int
main(void)
{
    char line[LINE_BYTES];
    rd_kafka_t *host = make(RD_KAFKA_PRODUCER, "");
    rd_kafka_mock_cluster_t *cluster = host == NULL ? NULL : rd_kafka_mock_cluster_new(host, 1);
    if (cluster == NULL)
        return 1;
    printf("%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *topic = next_word(line);
        const char *partitions = next_word(topic);
        obey(cluster, line, topic, *partitions == '\0' ? 1 : (int)strtol(partitions, NULL, 10));
        putchar('\n');
        fflush(stdout);
    }
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(host);
    return 0;
}
