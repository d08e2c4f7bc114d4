/* SPDX-License-Identifier: MIT
 *
 * till.c - a channel of one's own: notes for the tills of a shop, each of which listens on a Unix socket.
 *
 *   cc till.c $(pkg-config --cflags --libs owed) -o till
 *   ./till FOLDER TILL ORDER_ID      tells the till whose socket is FOLDER/TILL
 */
#include <errno.h>
#include <inttypes.h>
#include <owed/notify.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* What an error of the socket means for this message. All others: not now. */
static const struct meaning {
    int error;
    owed_answer_verdict verdict;
    const char *reason;
} meanings[] = {
    {ENOENT, OWED_ANSWER_GONE, "there is no such till"},
    {EMSGSIZE, OWED_ANSWER_REFUSED, "the note is longer than a till takes"},
    {ECONNREFUSED, OWED_ANSWER_FAILED, "the till is switched off"},
    {EAGAIN, OWED_ANSWER_WAIT, "the till has too many notes waiting"},
    {0, OWED_ANSWER_FAILED, "the till cannot be reached"},
};

static void
judge(int error, owed_answer *answer)
{
    const struct meaning *meaning = meanings;
    while (meaning->error != 0 && meaning->error != error)
        meaning++;
    answer->verdict = meaning->verdict;
    answer->wait_us = 1000000; // looked at where the verdict is WAIT
    snprintf(answer->reason, sizeof answer->reason, "%s", meaning->reason);
}

/* till_send is the whole channel: one message, once, to an address that comes from whoever made the recipient. */
static void
till_send(const owed_channel *channel, const owed_message *message, owed_answer *answer)
{
    const char *folder = channel->state;
    struct sockaddr_un till = {.sun_family = AF_UNIX};
    int length = snprintf(till.sun_path, sizeof till.sun_path, "%s/%s", folder, message->address);
    if (strchr(message->address, '/') != NULL || (size_t)length >= sizeof till.sun_path) {
        answer->verdict = OWED_ANSWER_REFUSED;
        snprintf(answer->reason, sizeof answer->reason, "a till's name is short and has no slash");
        return;
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 ||
        sendto(fd, message->text, strlen(message->text), MSG_DONTWAIT | MSG_NOSIGNAL,
            (struct sockaddr *)&till, sizeof till) < 0) {
        judge(errno, answer);
    } else {
        answer->verdict = OWED_ANSWER_SENT;
        snprintf(answer->reference, sizeof answer->reference, "%s", message->id);
    }
    if (fd >= 0)
        close(fd);
}

int
main(int argc, char **argv)
{
    if (argc != 4)
        return fprintf(stderr, "usage: till FOLDER TILL ORDER_ID\n"), EXIT_FAILURE;
    static const owed_variable variables[] = {{"order_id", OWED_KIND_INT64}, {NULL, 0}};
    const owed_template_source source = {
        .name = "order_ready", .variables = variables, .text = "Order {order_id} is packed."};
    const owed_value context[] = {
        OWED_VALUE_INT64("order_id", strtoimax(argv[3], NULL, 10)), OWED_VALUES_END};
    const owed_channel till = {.name = "till", .send = till_send, .state = argv[1]};
    const owed_address addresses[] = {{"till", argv[2]}, {NULL, NULL}};
    const owed_recipient recipient = {.others = addresses};

    owed_dispatcher *dispatcher = NULL;
    owed_template *note = NULL;
    owed_receipt *receipt = NULL;
    owed_error err;
    bool sent = owed_dispatcher_new(NULL, &dispatcher, &err) == OWED_OK &&
        owed_dispatcher_add(dispatcher, &till, &err) == OWED_OK &&
        owed_template_new(&source, &note, &err) == OWED_OK &&
        owed_send(dispatcher, &recipient, note, context, NULL, &receipt, &err) == OWED_OK;
    if (sent)
        printf("sent to %s: %s\n", receipt->address, receipt->text);
    else
        fprintf(stderr, "till: %s\n", err.text);
    owed_receipt_free(receipt);
    owed_template_free(note);
    owed_dispatcher_free(dispatcher);
    return sent ? EXIT_SUCCESS : EXIT_FAILURE;
}
