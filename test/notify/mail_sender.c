/* SPDX-License-Identifier: MIT
 *
 * mail_sender.c - sends what standard input describes, by one channel (mail, where no type is given), and says what
 * came of each.
 *
 * usage: mail_sender KEY=VALUE...
 * A line is a JSON object: address, subject, text, html, unsubscribe, file (a name; its bytes are 0 to 255), id, locale,
 * urgent.
 */
#include <owed/channels.h>

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define SETTINGS_MAX 32

static const char *
text_of(const json_t *line, const char *key)
{
    return json_string_value(json_object_get(line, key));
}

static void
send_line(const owed_channel *channel, const json_t *line)
{
    unsigned char bytes[256];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    const char *file = text_of(line, "file");
    const char *id = text_of(line, "id");
    const owed_attachment files[] = {
        {file, "application/octet-stream", bytes, sizeof bytes}, {NULL, NULL, NULL, 0}};
    const owed_message message = {
        .id = id == NULL ? "0123456789abcdef0123456789abcdef" : id,
        .template_name = "test",
        .channel = channel->name,
        .address = text_of(line, "address"),
        .subject = text_of(line, "subject"),
        .text = text_of(line, "text"),
        .html = text_of(line, "html"),
        .locale = text_of(line, "locale"),
        .urgency = json_is_true(json_object_get(line, "urgent")) ? OWED_URGENCY_URGENT
                                                                 : OWED_URGENCY_NORMAL,
        .unsubscribe = text_of(line, "unsubscribe"),
        .attachments = file == NULL ? NULL : files,
    };
    owed_answer answer = {0};
    channel->send(channel, &message, &answer);
    json_t *said = json_pack("{s:i, s:I, s:s, s:s}", "verdict", (int)answer.verdict, "wait_us",
        (json_int_t)answer.wait_us, "reference", answer.reference, "reason", answer.reason);
    json_dumpf(said, stdout, JSON_COMPACT);
    putchar('\n');
    fflush(stdout);
    json_decref(said);
}

int
main(int argc, char **argv)
{
    owed_setting settings[SETTINGS_MAX + 1] = {{NULL, NULL, NULL}};
    for (int i = 1; i < argc && i <= SETTINGS_MAX; i++) {
        char *value = strchr(argv[i], '=');
        if (value == NULL)
            return 64;
        *value = '\0';
        settings[i - 1] = (owed_setting){argv[i], value + 1, NULL};
    }
    owed_channel channel;
    owed_error err;
    if (owed_channel_new("email", settings, &channel, &err) != OWED_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 78;
    }
    json_t *line;
    while ((line = json_loadf(stdin, JSON_DISABLE_EOF_CHECK, NULL)) != NULL) {
        send_line(&channel, line);
        json_decref(line);
    }
    owed_channel_done(&channel);
    return 0;
}
