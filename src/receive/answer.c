/* SPDX-License-Identifier: MIT
 *
 * answer.c - what libcurl is told for every request, and what it tells.
 */
#include "receive/answer.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/moment.h"
#include "base/retry_after.h"
#include "base/text.h"
#include "receive/status.h"
#include "receive/target.h"

static size_t
on_body(char *bytes, size_t one, size_t len, void *state)
{
    (void)one;
    struct answer *answer = state;
    if (answer->received < sizeof answer->body) {
        size_t room = sizeof answer->body - answer->received;
        memcpy(answer->body + answer->received, bytes, len < room ? len : room);
    }
    answer->received += len;
    if (answer->received <= LIMIT_RESPONSE_BYTES)
        return len;
    answer->cut = true;
    return CURL_WRITEFUNC_ERROR;
}

/* on_header ends an answer whose header lines do not: libcurl keeps them all. */
static size_t
on_header(char *bytes, size_t one, size_t len, void *state)
{
    (void)bytes;
    (void)one;
    struct answer *answer = state;
    answer->headed += len;
    return answer->headed <= LIMIT_HEADERS_BYTES ? len : 0;
}

/* libcurl opens its sockets without SOCK_CLOEXEC, and they must not reach other programs. */
static curl_socket_t
on_socket(void *state, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)state;
    (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

bool
answer_listen(struct answer *answer, struct transfer *transfer)
{
    CURL *easy = transfer->easy;
    CURLcode failed = CURLE_OK;
#define SET(option_, value_) (failed |= curl_easy_setopt(easy, (option_), (value_)))
    SET(CURLOPT_PRIVATE, transfer);
    SET(CURLOPT_ERRORBUFFER, answer->problem);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, answer);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, answer);
    SET(CURLOPT_OPENSOCKETFUNCTION, on_socket);
    SET(CURLOPT_USERAGENT, "owed/" OWED_VERSION);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_POST, 1L);
    // A name that takes long to resolve must not hold up all the others when its request ends.
    SET(CURLOPT_QUICK_EXIT, 1L);
#undef SET
    return failed == CURLE_OK;
}

static long
milliseconds(int64_t us)
{
    return us <= US_PER_MS ? 1 : (long)((us + US_PER_MS - 1) / US_PER_MS);
}

CURLcode
answer_limit(CURL *easy, int64_t limit_us, int64_t connect_us)
{
    CURLcode failed = curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, milliseconds(limit_us));
    return failed | curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(connect_us));
}

void
answer_clear(struct answer *answer)
{
    answer->received = 0;
    answer->cut = false;
    answer->headed = 0;
    answer->problem[0] = '\0';
}

/* header returns the first of that name in the answer, or NULL. */
static const char *
header(CURL *easy, const char *name)
{
    struct curl_header *found;
    if (curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK)
        return NULL;
    return found->value;
}

/* has_long_line tells whether libcurl gave up on a line of the header: it has no other word for one that is too long than
 * that memory ran out, while the answer came. */
static bool
has_long_line(const struct transfer *transfer)
{
    curl_off_t first_byte_us = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_STARTTRANSFER_TIME_T, &first_byte_us);
    return transfer->code == CURLE_OUT_OF_MEMORY && first_byte_us > 0;
}

/* What the network did, where there is no whole answer. */
static owed_outcome
explain_transport(
    const struct answer *answer, const struct transfer *transfer, const struct called *called)
{
    owed_delivery *delivery = called->delivery;
    CURLcode code = transfer->code;
    char limit[MOMENT_BYTES];
    long native = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &native);
    const char *reason = native != 0 ? strerrordesc_np((int)native) : NULL;

    if (answer->headed > LIMIT_HEADERS_BYTES || has_long_line(transfer))
        return owed_failed(delivery, "POST %s: the header of its answer is longer than %zu KiB",
            called->shown, LIMIT_HEADERS_BYTES / 1024);

    char problem[CURL_ERROR_SIZE];
    const char *raw = answer->problem[0] != '\0' ? answer->problem : curl_easy_strerror(code);
    text_clean(problem, sizeof problem, str_of(raw), false);
    switch (code) {
    case CURLE_URL_MALFORMAT:
        return owed_permanent(delivery, "POST %s: not a URL: %s", called->shown, problem);
    case CURLE_COULDNT_CONNECT:
        return owed_failed(delivery, "POST %s: could not connect to %s: %s", called->shown,
            called->host, reason != NULL ? reason : problem);
    case CURLE_OPERATION_TIMEDOUT:
        return owed_failed(delivery, "POST %s: no complete answer within %s: %s", called->shown,
            duration_rough(called->timeout_us, limit), problem);
    default:
        return owed_failed(delivery, "POST %s: %s", called->shown, problem);
    }
}

static owed_outcome
explain_redirect(const struct called *called, long status, const char *location)
{
    owed_delivery *delivery = called->delivery;
    const char *shown = called->shown;
    if (location[strspn(location, " \t\r\n")] == '\0')
        return owed_permanent(delivery, "POST %s: %ld %s, to an empty Location", shown, status,
            status_reason(status));
    char *to = url_shown(location);
    char cleaned[256];
    text_clean(cleaned, sizeof cleaned, str_of(to), false);
    free(to);
    return owed_permanent(delivery, "POST %s: %ld %s, to %s; %s", shown, status,
        status_reason(status), cleaned,
        called->stopped == NULL ? "redirects are not followed" : called->stopped);
}

bool
answer_wait(const struct transfer *transfer, int64_t now_us, int64_t *ret_wait_us)
{
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    const char *value = status_may_wait(status) ? header(transfer->easy, "retry-after") : NULL;
    return value != NULL && retry_after_read(value, now_us, ret_wait_us);
}

/* What the answer says. */
static owed_outcome
judge(const struct transfer *transfer, const struct called *called, long status)
{
    owed_delivery *delivery = called->delivery;
    const char *shown = called->shown;
    const char *reason = status_reason(status);
    const char *blank = reason[0] == '\0' ? "" : " ";
    owed_verdict verdict = status_verdict(status);
    if (verdict == OWED_VERDICT_DONE)
        return owed_done();
    const char *location = status / 100 == 3 ? header(transfer->easy, "location") : NULL;
    if (location != NULL)
        return explain_redirect(called, status, location);
    if (verdict == OWED_VERDICT_PERMANENT)
        return owed_permanent(delivery, "POST %s: %ld%s%s", shown, status, blank, reason);

    int64_t wait_us;
    if (!answer_wait(transfer, called->now_us, &wait_us))
        return owed_failed(delivery, "POST %s: %ld%s%s", shown, status, blank, reason);
    double seconds = (double)wait_us / (double)US_PER_SECOND;
    // No wait at all is no quota that is spent: it counts, or the row would come back for ever.
    bool defers = delivery->receiver->declared.give_up_after_us > 0 && wait_us > 0;
    return (defers ? owed_defer : owed_retry_after)(delivery, seconds,
        "POST %s: %ld%s%s; it asked to wait for %.0f s", shown, status, blank, reason, seconds);
}

bool
answer_is_there(const struct answer *answer, const struct transfer *transfer)
{
    return transfer->code == CURLE_OK || (transfer->code == CURLE_WRITE_ERROR && answer->cut);
}

owed_outcome
answer_outcome(
    const struct answer *answer, const struct transfer *transfer, const struct called *called)
{
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    return answer_is_there(answer, transfer) ? judge(transfer, called, status)
                                             : explain_transport(answer, transfer, called);
}

int32_t
answer_keep(const struct answer *answer, const struct transfer *transfer,
    char ret_excerpt[static ANSWER_EXCERPT_BYTES])
{
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    size_t len = answer->received;
    struct str body = {answer->body, len < sizeof answer->body ? len : sizeof answer->body};
    text_clean(ret_excerpt, ANSWER_EXCERPT_BYTES, body, true);
    return answer_is_there(answer, transfer) ? (int32_t)status : 0;
}
