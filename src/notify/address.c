/* SPDX-License-Identifier: MIT
 *
 * address.c - what an address looks like, channel by channel.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/utf8.h"
#include "notify/recipient.h"

#define LIMIT_EMAIL_BYTES 254 // RFC 5321, 4.5.3.1.3, without its brackets
#define LIMIT_LOCAL_PART_BYTES 64

bool
text_has_control(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return true;
    return false;
}

/* E.164: up to 15 digits, the country's first, which is no 0. */
static bool
is_phone(const char *address)
{
    size_t digits = address[0] == '+' ? strspn(address + 1, "0123456789") : 0;
    return digits >= 7 && digits <= 15 && address[1] != '0' && address[digits + 1] == '\0';
}

static bool
is_token(const char *address)
{
    for (const char *p = address; *p != '\0'; p++)
        if (*p <= ' ' || *p > '~')
            return false;
    return address[0] != '\0';
}

static bool
is_local_part(const char *text, size_t len)
{
    static const char never[] =
        " \"(),:;<>@[\\]"; // but in quotes, which nobody uses and few can read
    if (len == 0 || len > LIMIT_LOCAL_PART_BYTES || text[0] == '.' || text[len - 1] == '.')
        return false;
    for (size_t i = 0; i < len; i++)
        if (strchr(never, text[i]) != NULL || (text[i] == '.' && text[i + 1] == '.'))
            return false;
    return true;
}

static bool
is_label(const char *text, size_t len)
{
    if (len == 0 || len > 63 || text[0] == '-' || text[len - 1] == '-')
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool is_letter =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
        if (!is_letter && !is_digit(c) && c != '-')
            return false;
    }
    return true;
}

static bool
is_domain(const char *text)
{
    for (;;) {
        size_t len = strcspn(text, ".");
        if (!is_label(text, len))
            return false;
        if (text[len] == '\0')
            return true;
        text += len + 1;
    }
}

static bool
is_email(const char *address)
{
    const char *at = strrchr(address, '@');
    return at != NULL && strlen(address) <= LIMIT_EMAIL_BYTES && !text_has_control(address) &&
        is_local_part(address, (size_t)(at - address)) && is_domain(at + 1);
}

static bool
is_other(const char *address)
{
    return address[0] != '\0' && !text_has_control(address);
}

static const struct shape {
    const char *channel; // NULL: any other
    bool (*fits)(const char *address);
    const char *right;
} shapes[] = {
    {"sms", is_phone, "+ and 7 to 15 digits, the country's first (E.164), such as +49151000000"},
    {"push", is_token, "a device token of printable ASCII"},
    {"email", is_email, "local@domain, such as ada@example.com"},
    {NULL, is_other, "UTF-8 without control characters"},
};

const char *
address_show(const char *address, char shown[static ADDRESS_SHOWN_BYTES])
{
    static const char more[] = "/...";
    const char *start = strstr(address, "://");
    if (start == NULL) {
        text_clean(
            shown, ADDRESS_SHOWN_BYTES, str_of(address[0] == '{' ? "{...}" : address), false);
        return shown;
    }
    const char *host = start + strlen("://");
    size_t len = strcspn(host, "/?#\\\"' ");
    if (memchr(host, '@', len) != NULL) // a password, perhaps
        len = 0;
    while (start > address && start[-1] >= 'a' && start[-1] <= 'z')
        start--;
    const struct str origin = {start, (size_t)(host - start) + len};
    size_t used = text_clean(shown, ADDRESS_SHOWN_BYTES - strlen(more), origin, false);
    snprintf(shown + used, ADDRESS_SHOWN_BYTES - used, "%s", more);
    return shown;
}

owed_status
address_check(const char *channel, const char *address, owed_error *err)
{
    const struct shape *shape = shapes;
    while (shape->channel != NULL && strcmp(shape->channel, channel) != 0)
        shape++;
    if (strlen(address) <= LIMIT_ADDRESS_BYTES && utf8_is_valid(str_of(address)) &&
        shape->fits(address))
        return OWED_OK;
    char shown[ADDRESS_SHOWN_BYTES];
    return fail(err, OWED_INVALID, "address \"%s\" cannot be one of channel %s: %s would be right",
        address_show(address, shown), channel, shape->right);
}

owed_status
channel_check(const char *channel, owed_error *err)
{
    size_t len = strspn(channel, "abcdefghijklmnopqrstuvwxyz0123456789_.-");
    if (len == 0 || len > LIMIT_LANE_BYTES || channel[len] != '\0')
        return fail(err, OWED_INVALID,
            "\"%.80s\" is no channel: up to %d of a-z, 0-9, _, . and - would be right",
            utf8_is_valid(str_of(channel)) ? channel : "?", LIMIT_LANE_BYTES);
    return OWED_OK;
}
