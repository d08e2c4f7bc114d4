/* SPDX-License-Identifier: MIT
 *
 * gateway.c - messages to a provider that is described.
 *
 * A text that is split goes out piece by piece. Where one fails, the next attempt of the same message goes on with it,
 * so that nobody reads the first piece twice; this is remembered for the last messages that were left half sent.
 */
#include "notify/channels/gateway.h"

#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/secret_file.h"
#include "base/text.h"
#include "notify/channels/gateway_parts.h"
#include "notify/channels/pattern.h"
#include "notify/recipient.h"

#define BODY_BYTES ((size_t)1024 * 1024)
#define SHORT_BYTES 22

/* One message on its way. */
struct sending {
    struct gateway *gateway;
    const owed_message *message;
    const char *values[PLACE_COUNT];
    struct arena arena;
};

/* --- a request --- */

static char *
fill_in(
    struct sending *sending, const struct pattern *pattern, struct str *ret_text, owed_error *err)
{
    struct buf out;
    buf_init(&out, BODY_BYTES);
    owed_status status = pattern_write(pattern, sending->values, &out, err);
    if (status == OWED_OK && out.failed)
        status = fail(err, OWED_LIMIT, "it would be longer than %zu bytes", BODY_BYTES);
    char *copy = status == OWED_OK ? arena_copy(&sending->arena, buf_view(&out)) : NULL;
    if (status == OWED_OK && copy == NULL)
        fail_memory(err);
    *ret_text = (struct str){copy, copy == NULL ? 0 : out.len};
    if (out.p != NULL)
        explicit_bzero(out.p, out.len);
    buf_done(&out);
    return copy;
}

static bool
fill_in_headers(
    struct sending *sending, const char *lines[static HTTP_HEADERS_MAX + 1], owed_error *err)
{
    const struct gateway *gateway = sending->gateway;
    size_t count = 0;
    struct str ignored;
    if (gateway->content_type != NULL)
        lines[count++] = gateway->content_type;
    if (gateway->authorization != NULL)
        lines[count++] = gateway->authorization;
    for (size_t i = 0; i < gateway->header_count; i++) {
        lines[count] = fill_in(sending, &gateway->headers[i], &ignored, err);
        if (lines[count++] == NULL)
            return false;
    }
    lines[count] = NULL;
    return true;
}

static void
not_possible(const struct gateway *gateway, const owed_error *why, owed_answer *answer)
{
    char clean[sizeof why->text];
    text_clean(clean, sizeof clean, str_of(why->text), false);
    bool is_passing = why->status == OWED_NOMEM || why->status == OWED_CONFIG;
    answer->verdict = is_passing ? OWED_ANSWER_FAILED : OWED_ANSWER_REFUSED;
    snprintf(answer->reason, sizeof answer->reason, "%s was not asked: %.400s", gateway->manner.who,
        clean);
    http_blot(gateway->http, answer->reason);
}

static void
request(struct sending *sending, owed_answer *answer)
{
    struct gateway *gateway = sending->gateway;
    const char *lines[HTTP_HEADERS_MAX + 1];
    struct http_request request = {.method = gateway->plan.says[GATEWAY_METHOD], .headers = lines};
    struct str url;
    owed_error why;
    request.url = fill_in(sending, &gateway->url, &url, &why);
    bool can = request.url != NULL && fill_in_headers(sending, lines, &why);
    if (can && gateway->content_type != NULL)
        can = fill_in(sending, &gateway->body, &request.body, &why) != NULL;
    if (!can) {
        not_possible(gateway, &why, answer);
        return;
    }
    CLEANUP(http_answer_done) struct http_answer said;
    http_send(gateway->http, &request, &said);
    gateway_judge(&gateway->plan, &gateway->manner, gateway->http, &said, answer);
}

/* --- a piece --- */

/* shorten gives an id of up to 21 bytes, by which no two messages are taken for one. */
static void
shorten(const char *id, char ret_short[static SHORT_BYTES])
{
    const struct str whole = str_of(id);
    uint8_t digest[SHA256_BYTES];
    CLEANUP(buf_done) struct buf hex;
    buf_init(&hex, 2 * sizeof digest);
    if (whole.len >= SHORT_BYTES && sha256(&whole, 1, digest))
        hex_write(&hex, digest, sizeof digest);
    snprintf(ret_short, SHORT_BYTES, "%s", hex.len == 0 ? id : buf_text(&hex));
}

/* name_piece gives each piece an id of its own, or a provider that knows an id would take the second for the first. */
static bool
name_piece(struct sending *sending, size_t number)
{
    const char *id = or_empty(sending->message->id);
    char nonce[SHORT_BYTES];
    shorten(id, nonce);
    const char *mark = number == 0 ? "" : arena_printf(&sending->arena, "-%zu", number + 1);
    sending->values[PLACE_ID] =
        mark == NULL ? NULL : arena_printf(&sending->arena, "%s%s", id, mark);
    sending->values[PLACE_NONCE] =
        mark == NULL ? NULL : arena_printf(&sending->arena, "%s%s", nonce, mark);
    return sending->values[PLACE_ID] != NULL && sending->values[PLACE_NONCE] != NULL;
}

static void
send_piece(struct sending *sending, const char *text, size_t number, owed_answer *answer)
{
    const struct gateway_manner *manner = &sending->gateway->manner;
    CLEANUP(buf_done) struct buf escaped;
    buf_init(&escaped, BODY_BYTES);
    if (manner->escape != NULL)
        manner->escape(&escaped, str_of(text));
    else
        buf_puts(&escaped, text);
    sending->values[PLACE_TEXT] = buf_text(&escaped);
    sending->values[PLACE_ALPHABET] = sms_count_of(str_of(text)).is_utf16 ? "unicode" : "text";
    if (escaped.failed || !name_piece(sending, number)) {
        snprintf(answer->reason, sizeof answer->reason, "out of memory");
        return;
    }
    request(sending, answer);
}

/* send_pieces goes on where the last attempt of the message stopped. */
static void
send_pieces(struct sending *sending, const struct fit_pieces *pieces, owed_answer *answer)
{
    struct gateway *gateway = sending->gateway;
    const char *id = or_empty(sending->message->id);
    char reference[OWED_REFERENCE_BYTES] = "";
    size_t done = progress_take(&gateway->progress, id);
    for (size_t i = done < pieces->count ? done : 0; i < pieces->count; i++) {
        *answer = (owed_answer){0};
        send_piece(sending, pieces->texts[i], i, answer);
        if (answer->verdict == OWED_ANSWER_SENT) {
            if (reference[0] == '\0')
                snprintf(reference, sizeof reference, "%s", answer->reference);
            continue;
        }
        if (i > 0)
            progress_keep(&gateway->progress, id, i);
        return;
    }
    snprintf(answer->reference, sizeof answer->reference, "%s", reference);
}

/* --- a message --- */

static owed_status
check_address(const struct gateway_manner *manner, const char *address, owed_error *err)
{
    owed_status status = address_check("", address, err);
    if (status != OWED_OK)
        return fail(err, OWED_INVALID, "the address holds control characters, or nothing");
    if (manner->takes != NULL && !manner->takes(address))
        return fail(err, OWED_INVALID,
            "the address cannot be one of this channel: %s would be right", manner->right);
    return OWED_OK;
}

static bool
fits_escaped(const struct gateway_manner *manner, const struct fit_pieces *pieces)
{
    struct fit fit = manner->fit;
    fit.policy = FIT_REFUSE;
    for (size_t i = 0; i < pieces->count; i++) {
        CLEANUP(buf_done) struct buf escaped;
        CLEANUP(fit_pieces_done) struct fit_pieces one = {0};
        buf_init(&escaped, BODY_BYTES);
        manner->escape(&escaped, str_of(pieces->texts[i]));
        if (escaped.failed || fit_text(&fit, buf_text(&escaped), &one, NULL) != OWED_OK)
            return false;
    }
    return true;
}

/* fit_escaped has the pieces be short enough once they are escaped, too. */
static owed_status
fit_escaped(const struct gateway_manner *manner, const char *text, struct fit_pieces *ret_pieces,
    owed_error *err)
{
    struct fit fit = manner->fit;
    for (; fit.most > 0; fit.most -= fit.most / 8 + 1) {
        owed_status status = fit_text(&fit, text, ret_pieces, err);
        if (status != OWED_OK || manner->escape == NULL || fits_escaped(manner, ret_pieces))
            return status;
        fit_pieces_done(ret_pieces);
        if (fit.policy == FIT_REFUSE)
            break;
    }
    return fail(err, OWED_LIMIT, "the text is too long once its markup is escaped");
}

static void
gateway_send(const owed_channel *channel, const owed_message *message, owed_answer *answer)
{
    struct gateway *gateway = channel->state;
    CLEANUP(fit_pieces_done) struct fit_pieces pieces = {0};
    struct sending sending = {.gateway = gateway, .message = message};
    owed_error why;
    memcpy(sending.values, gateway->values, sizeof sending.values);
    sending.values[PLACE_TO] = message->address;
    sending.values[PLACE_DIGITS] = message->address + (message->address[0] == '+');
    sending.values[PLACE_SUBJECT] = message->subject;
    sending.values[PLACE_HTML] = message->html;
    sending.values[PLACE_LOCALE] = message->locale;
    sending.values[PLACE_TEMPLATE] = message->template_name;
    owed_status status = check_address(&gateway->manner, message->address, &why);
    if (status == OWED_OK)
        status = fit_escaped(&gateway->manner, message->text, &pieces, &why);
    if (status != OWED_OK) {
        not_possible(gateway, &why, answer);
        return;
    }
    arena_init(&sending.arena, 4 * BODY_BYTES);
    send_pieces(&sending, &pieces, answer);
    arena_done(&sending.arena);
}

/* --- making one --- */

void
gateway_plan_read(struct gateway_plan *plan, const struct options *values)
{
    static const char *const keys[] = {
#define X(name_, key_, argument_, help_) [GATEWAY_##name_] = (key_),
        GATEWAY_MAP(X)
#undef X
    };
    for (size_t i = 0; i < GATEWAY_KEYS; i++)
        if (options_text(values, keys[i]) != NULL)
            plan->says[i] = options_text(values, keys[i]);
}

static void
gateway_close(owed_channel *channel)
{
    gateway_free(channel->state);
    channel->state = NULL;
}

owed_status
gateway_make(const struct gateway_plan *plan, const struct gateway_manner *manner,
    const struct options *values, owed_channel *channel, owed_error *err)
{
    struct gateway *gateway = NULL;
    owed_status status = gateway_new(plan, manner, values, &gateway, err);
    if (status != OWED_OK)
        return status;
    channel->state = gateway;
    channel->send = gateway_send;
    channel->close = gateway_close;
    return OWED_OK;
}
